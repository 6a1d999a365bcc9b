"""torch in this very process: read where it is loaded, else imported on a thread that is watched.

The process belongs to its application, and an import can end it: native code may abort, or hang while it
holds the interpreter's lock, so that no thread here could ever give up. So the import is rehearsed in a
process of its own first, and what harms that one is not done here. What is loaded is read by attributes
alone.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from aorta.host import torch_report
from aorta.host.interpreter import NoInterpreterError

NAME = "torch"

#: Seconds that an import which hung in an earlier capture is waited for.
AGAIN_S = 0.1

#: The stack of the thread that imports, whatever the application has set for its own.
STACK_BYTES = 16 << 20

#: Whose frames tell that a thread waits for a capture.
CAPTURING = "aorta.instrumentation.environment"

#: How the names of a capture's own threads begin.
OWN_THREADS = ("aorta ", "command ", "hash")

#: How much of what was printed is read, from the start and from the end.
SAID_BYTES = 1 << 16

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

#: Imports torch in a process of its own in at most so many seconds, and returns the report on it.
Rehearse = Callable[[float], dict[str, Any]]


class Import:
    """One import of torch on a thread of its own. It may never end; then it is the last one here."""

    def __init__(self) -> None:
        self.module: Any = None
        self.error: str | None = None
        self.is_over = False
        self._pid = os.getpid()
        self.thread = threading.Thread(target=self._run, name="aorta imports torch", daemon=True)

    def start(self) -> None:
        """Start the thread. Raises RuntimeError where there can be no more."""
        size = threading.stack_size(STACK_BYTES)
        try:
            self.thread.start()
        finally:
            threading.stack_size(size)

    def _run(self) -> None:
        try:
            self.module = __import__(NAME)
        except BaseException as error:
            self.error = torch_report.error_text(error)
        self.is_over = True
        if os.getpid() != self._pid:
            # A copy of the process that the import made: the rest of the application is not in it.
            os._exit(0)


class _Earlier:
    """What earlier captures of this process found out: what still hangs, what did harm after how long."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: Import | None = None
        self.harm: dict[str, Any] | None = None
        self.waited_s = 0.0
        #: Whether this process was forked from one that was just importing torch.
        self.is_cut = False


_EARLIER = _Earlier()


def _in_forked() -> None:
    """Let go of what threads of the parent held: none of them is in this process.

    An import that one of them had begun holds the lock of the module for ever.
    """
    running = _EARLIER.running
    _EARLIER.lock, _EARLIER.running = threading.Lock(), None
    _EARLIER.is_cut = _EARLIER.is_cut or (running is not None and not running.is_over)


os.register_at_fork(after_in_child=_in_forked)


def own_torch(*, may_import: bool, timeout: float, rehearse: Rehearse) -> dict[str, Any]:
    """Return the report on this process's torch, as ``aorta.host.interpreter.report`` does.

    ``how`` is in_process; static where torch is not loaded and may not be imported; child where its import
    does harm, or would take more than what is left of ``timeout`` seconds.
    """
    if _is_loaded():
        return _read(sys.modules.get(NAME), {"imported": True, "done": True})
    if not may_import:
        return UNASKED
    if _EARLIER.is_cut and _is_begun():
        return _hung("this process was forked while torch was being imported, which nobody can finish in it")
    if _is_begun() and _waits_for_a_capture():
        return _hung("the thread that imports it waits for this snapshot, which its import takes")
    until = time.monotonic() + timeout
    if not _EARLIER.lock.acquire(timeout=max(0.0, timeout)):
        return _hung("another capture of this process was still importing it")
    try:
        report = _rehearsed(rehearse, timeout)
        left = until - time.monotonic()
        # A failure may be for want of what only this process has.
        if report is not None and (report["ended"] or (report["imported"] and left < timeout / 2)):
            return report
        told = _imported(max(0.0, left))
    finally:
        _EARLIER.lock.release()
    if report is not None and report["imported"] and told["imported"] is False:
        # It is no torch that cannot be imported, only not on this thread or in this process.
        return {**report, "ended": f"its import into this process failed: {told['error']}"}
    if report is not None and told["imported"] and "config" in report["parts"]:
        # What a bystander does not ask for was told in the rehearsal.
        told["parts"].setdefault("config", report["parts"]["config"])
    return told


def _hung(ended: str) -> dict[str, Any]:
    return {**UNASKED, "how": "in_process", "hung": True, "ended": ended}


def _read(module: Any, told: dict[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, value, error in torch_report.parts(module, bystander=True):
        if error:
            errors[name] = error
        else:
            parts[name] = value
    return {**UNASKED, "how": "in_process", "parts": parts, "errors": errors, **told}


def _is_loaded() -> bool:
    """Tell whether torch is there in whole, not just being imported by another thread."""
    module = sys.modules.get(NAME)
    try:
        return module is not None and not getattr(module.__spec__, "_initializing", False)
    except Exception:
        # A module can be any object; this one has no spec that could say that it is not whole.
        return True


def _is_begun() -> bool:
    """Tell whether this process imports torch already."""
    return NAME in sys.modules


def _waits_for_a_capture() -> bool:
    """Tell whether a thread takes a snapshot below torch's own code, as what torch loads with it may."""
    for frame in sys._current_frames().values():  # noqa: SLF001 - there is no public way
        at: FrameType | None = frame
        is_capturing = False
        while at is not None:
            name = at.f_globals.get("__name__")
            is_capturing = is_capturing or name == CAPTURING
            if is_capturing and name == NAME and at.f_code.co_name == "<module>":
                return True
            at = at.f_back
    return False


def _rehearsed(rehearse: Rehearse, timeout: float) -> dict[str, Any] | None:
    """Return the report of a process that imported torch; None where that cannot be or need not be."""
    if _is_begun() or _EARLIER.running is not None:
        return None
    known = _EARLIER.harm
    if known is not None and not _was_impatient(known, timeout):
        return known
    begun = time.monotonic()
    try:
        report = rehearse(timeout)
    except NoInterpreterError:
        return None
    if report["ended"]:
        _EARLIER.harm, _EARLIER.waited_s = {**report, "noise": ""}, time.monotonic() - begun
    return report


def _was_impatient(known: dict[str, Any], timeout: float) -> bool:
    """Tell whether an earlier import may have been given up too soon: silence says only how long it was."""
    return bool(known["hung"] and not known["done"] and timeout > 2 * _EARLIER.waited_s)


def _imported(timeout: float) -> dict[str, Any]:
    said: list[str] = []
    last = _EARLIER.running
    known = last is not None and last.thread.is_alive()
    with contextlib.nullcontext() if known or _is_begun() or _has_other_threads() else quiet(said):
        if last is None or not known:
            last = _EARLIER.running = Import()
            try:
                last.start()
            except RuntimeError as error:
                _EARLIER.running = None
                return {**UNASKED, "how": "in_process", "ended": torch_report.error_text(error)}
        # An import that hung in an earlier capture is not waited for a second time.
        last.thread.join(min(timeout, AGAIN_S) if known else timeout)
    if last.thread.is_alive():
        ended = "it hangs since an earlier capture" if known else "it did not end in time"
        ended += _place_of(last.thread)
        return {**_hung(ended), "noise": "".join(said)}
    _EARLIER.running = None
    told = {"error": last.error, "done": True, "noise": "".join(said)}
    if last.error is not None:
        return {**UNASKED, "how": "in_process", "imported": False, **told}
    return _read(last.module, {"imported": True, **told})


def _place_of(thread: threading.Thread) -> str:
    """Return where a thread is now."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - there is no public way
    return f", it was at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def _has_other_threads() -> bool:
    """Tell whether there are threads of the application beside the one that takes the snapshot.

    What they print meanwhile must not be lost.
    """
    return sum(not thread.name.startswith(OWN_THREADS) for thread in threading.enumerate()) > 1


@contextlib.contextmanager
def quiet(said: list[str]) -> Iterator[None]:
    """Keep what is written to descriptors 1 and 2 meanwhile, native code's words too, and add it to ``said``.

    A file takes it, not a pipe: a child that keeps it must not wait for a reader, or die for want of one.
    """
    with contextlib.ExitStack() as ending:
        kept = {}
        # A stream that is closed has nothing to be kept off it.
        with contextlib.suppress(OSError):
            taken = os.memfd_create("aorta")
            ending.callback(os.close, taken)
            for number in (2, 1):
                kept[number] = os.dup(number)
                ending.callback(os.close, kept[number])
        if not kept:
            yield
            return
        _flush()
        try:
            for number in kept:
                os.dup2(taken, number)
            yield
        finally:
            _flush()
            for number, own in kept.items():
                os.dup2(own, number)
            said.append(_text_in(taken))


def _text_in(file: int) -> str:
    size = os.fstat(file).st_size
    head = os.pread(file, SAID_BYTES, 0)
    tail = os.pread(file, SAID_BYTES, max(SAID_BYTES, size - SAID_BYTES))
    return (head + tail).decode("utf-8", "replace")


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
