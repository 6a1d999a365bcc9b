"""Lanes: streams on a GPU, that overlap and wait for each other by events; plain execution on a CPU."""

import contextlib
from typing import Any

COPY, COMMUNICATE, COMPUTE = NAMES = ("copy", "communicate", "compute")


class Lanes:
    """Three lanes of work. ``single`` makes one of them."""

    def __init__(self, device: Any, *, single: bool) -> None:
        import torch

        self._torch = torch
        self._device = device
        self._streams: dict[str, Any] = {}
        if device.type == "cuda":
            streams = [torch.cuda.Stream(device) for _ in (NAMES[:1] if single else NAMES)]
            self._streams = {name: streams[place % len(streams)] for place, name in enumerate(NAMES)}

    def on(self, name: str) -> Any:
        """Return the context in which work is put on a lane."""
        if not self._streams:
            return contextlib.nullcontext()
        return self._torch.cuda.stream(self._streams[name])

    def mark(self, name: str) -> Any:
        """Return an event after all that is on a lane so far."""
        return self._streams[name].record_event() if self._streams else None

    def wait(self, name: str, event: Any) -> None:
        """Let a lane go on only after an event."""
        if event is not None:
            self._streams[name].wait_event(event)

    def fork(self) -> None:
        """Let all lanes begin after what the current stream holds."""
        current = self._torch.cuda.current_stream(self._device) if self._streams else None
        for stream in self._streams.values():
            stream.wait_stream(current)

    def settle(self) -> None:
        """Wait until all is done."""
        if self._streams:
            self._torch.cuda.synchronize(self._device)
