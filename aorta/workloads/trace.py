"""The trace of a trial: stacks by faulthandler, and marks of where it is, in a file of its own."""

import contextlib
import faulthandler
import os
import signal
from collections.abc import Mapping
from typing import Any

#: How a line of the trace begins that is not of a stack.
MARK = "@"
BEGUN, PHASE, LATE = "begun", "phase", "late"

#: Dumps the stacks of all threads into the trace.
STACKS = signal.SIGUSR1


def trace_of(request: Mapping[str, Any]) -> int:
    """Open the trace of a request, and have crashes written there.

    The descriptor stays open for as long as the process may crash in that trial.
    """
    trace = os.open(request["trace"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    _files[trace] = _file_of(trace)
    faulthandler.enable(trace, all_threads=True)
    faulthandler.register(STACKS, trace, all_threads=True)
    # Whoever ends the job, a scheduler or a user, ends a rank that hangs as well: where it was is told then.
    # What a trial before made of the signal is not taken over.
    faulthandler.unregister(signal.SIGTERM)
    faulthandler.register(signal.SIGTERM, trace, all_threads=True, chain=True)
    return trace


def only_here() -> None:
    """Keep processes that this one forks, and ends by SIGTERM, from writing their stacks here."""
    os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    faulthandler.unregister(signal.SIGTERM)


def mark(trace: int, *words: str) -> None:
    """Write a line of the trace that is not of a stack.

    A workload may have closed the descriptor, and opened a file of its own that got the number.
    """
    with contextlib.suppress(OSError):
        if _files.get(trace) == _file_of(trace):
            os.write(trace, f"{MARK}{' '.join(words)}\n".encode())


#: Of a trace's descriptor, which file it is.
_files: dict[int, tuple[int, int]] = {}


def _file_of(descriptor: int) -> tuple[int, int]:
    told = os.fstat(descriptor)
    return told.st_dev, told.st_ino
