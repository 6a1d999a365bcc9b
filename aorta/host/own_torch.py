"""torch in this very process: read where it is loaded, else imported on a thread that is watched.

The process belongs to its application. What is loaded is read by attributes alone; an import runs on a
thread of its own, since it can hang for ever, and what native code prints meanwhile is kept off the
application's standard error.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from aorta.host import torch_report
from aorta.host.interpreter import noise

NAME = "torch"

#: Seconds that an import which hung in an earlier capture is waited for.
AGAIN_S = 0.1

#: The report on a torch that nobody asked.
UNASKED: dict[str, Any] = {
    "how": "static",
    "imported": None,
    "error": None,
    "done": False,
    "parts": {},
    "errors": {},
    "ended": "",
    "hung": False,
    "noise": "",
}


class Import:
    """One import of torch on a thread of its own. It may never end; then it is the last one here."""

    def __init__(self) -> None:
        self.error: str | None = None
        self._pid = os.getpid()
        self.thread = threading.Thread(target=self._run, name="aorta imports torch", daemon=True)

    def _run(self) -> None:
        try:
            __import__(NAME)
        except BaseException as error:
            self.error = torch_report.error_text(error)
        if os.getpid() != self._pid:
            # A copy of the process that the import made: the rest of the application is not in it.
            os._exit(0)


class _Last:
    """The import that was started last, if it has not been seen to end."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: Import | None = None


_LAST = _Last()


def own_torch(*, may_import: bool, timeout: float) -> dict[str, Any]:
    """Return the report on this process's torch, as ``aorta.host.interpreter.report`` does.

    ``how`` is in_process, or static where torch is not loaded and may not be imported.
    """
    told = {**UNASKED, "how": "in_process", "imported": True, "done": True}
    if not _is_loaded():
        if not may_import:
            return UNASKED
        told |= _imported(timeout)
    parts: dict[str, Any] = {}
    errors: dict[str, str] = {}
    if told["imported"]:
        for name, value, error in torch_report.parts(sys.modules[NAME]):
            if error:
                errors[name] = error
            else:
                parts[name] = value
    return {**told, "parts": parts, "errors": errors}


def _is_loaded() -> bool:
    """Tell whether torch is there in whole, not just being imported by another thread."""
    module = sys.modules.get(NAME)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)


def _imported(timeout: float) -> dict[str, Any]:
    said: list[str] = []
    with _LAST.lock:
        last = _LAST.running
        known = last is not None and last.thread.is_alive()
        with contextlib.nullcontext() if known else quiet(said):
            if last is None or not known:
                last = _LAST.running = Import()
                last.thread.start()
            # An import that hung in an earlier capture is not waited for a second time.
            last.thread.join(min(timeout, AGAIN_S) if known else timeout)
    told: dict[str, Any] = {"noise": noise("".join(said))}
    if last.thread.is_alive():
        ended = "it hangs since an earlier capture" if known else "it did not end in time"
        return {**told, "imported": None, "done": False, "hung": True, "ended": ended}
    return {**told, "imported": last.error is None, "error": last.error}


@contextlib.contextmanager
def quiet(said: list[str]) -> Iterator[None]:
    """Keep what is written to descriptor 2 meanwhile, native code's words too, and add it to ``said``.

    A file takes it, not a pipe: a child that keeps it must not wait for a reader, or die for want of one.
    """
    try:
        kept = os.dup(2)
    except OSError:
        # There is no standard error, so nothing to keep off it.
        yield
        return
    taken = os.memfd_create("aorta")
    try:
        _flush()
        os.dup2(taken, 2)
        yield
    finally:
        _flush()
        os.dup2(kept, 2)
        os.close(kept)
        said.append(os.pread(taken, 1 << 20, 0).decode("utf-8", "replace"))
        os.close(taken)


def _flush() -> None:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.flush()
