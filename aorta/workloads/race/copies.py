"""Copies of known values to the device: for this iteration, or already for the next one."""

from typing import Any

from aorta.workloads.race.config import RaceConfig, Sizes
from aorta.workloads.race.lanes import COPY, Lanes

#: Values are below this; float32 holds them exactly.
_VALUES = 1000


class Copies:
    """Copies on a lane of its own; with ``h2d_prefetch`` an iteration starts those of the next one."""

    def __init__(self, config: RaceConfig, sizes: Sizes, device: Any) -> None:
        import torch

        self._ahead = config.h2d_prefetch
        self._device = device
        self._reuse = config.reuse_buffers
        pinned = config.pin_memory and device.type == "cuda"
        # A second pair, since the one is in use while the other is written to.
        self._host = [
            torch.empty(sizes.h2d, dtype=torch.float32, pin_memory=pinned) for _ in range(1 + self._ahead)
        ]
        self._there: dict[int, Any] = {}
        self._sent = -1

    def arrived(self, iteration: int, lanes: Lanes) -> tuple[Any, float, Any]:
        """Return what is on the device for an iteration, its value, and an event after its copy."""
        with lanes.on(COPY):
            if self._sent < iteration:
                self._send(iteration)
            copied = lanes.mark(COPY)
            there = self._there[self._turn(iteration)]
            if self._ahead:
                self._send(iteration + 1)
        return there, float(iteration % _VALUES), copied

    def _turn(self, iteration: int) -> int:
        return iteration % len(self._host)

    def _send(self, iteration: int) -> None:
        import torch

        turn = self._turn(iteration)
        host = self._host[turn].fill_(float(iteration % _VALUES))
        if not self._reuse or turn not in self._there:
            self._there[turn] = torch.empty_like(host, device=self._device)
        self._there[turn].copy_(host, non_blocking=True)
        self._sent = iteration
