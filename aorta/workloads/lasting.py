"""An interpreter that lasts: it does one trial after another, each with its own variables, logs and trace.

What is imported stays. Requests come over a channel, the paths of their files, each with the two descriptors
that the trial writes to; when the next one may come, a line goes back with the numbers of processes that
stay. The end of the channel is that of the process.
"""

import contextlib
import faulthandler
import json
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from aorta.workloads.answer import answer
from aorta.workloads.helpers import end_pools, kept
from aorta.workloads.import_time import Seen
from aorta.workloads.surroundings import surroundings
from aorta.workloads.trace import LATE, mark, trace_of

#: The most bytes of a path.
_PATH_BYTES = 8192
#: What is sent back after each trial begins with it.
READY = b"ready"


def serve(request: Mapping[str, Any], trace: int) -> None:
    """Do the trial of the first request, which the process was started for, and those that follow."""
    channel = socket.socket(fileno=request["channel"])
    channel.set_inheritable(False)
    seen = Seen()
    while True:
        _trial(request, trace, seen)
        try:
            channel.sendall(b" ".join([READY, *(b"%d" % pid for pid in kept())]))
            path, descriptors = _next(channel)
        except OSError:
            # The workload has closed it, or aorta is gone.
            return
        if not path or len(descriptors) != 2:
            return
        _write_to(*descriptors)
        with open(path, encoding="utf-8") as file:
            request = json.load(file)
        before, trace = trace, trace_of(request)
        _close(before)


def _trial(request: Mapping[str, Any], trace: int, seen: Seen) -> None:
    """Do a trial, and put back what it changed of the process."""
    streams = sys.stdout, sys.stderr
    seen.note(os.environ)
    mark(trace, LATE, json.dumps(seen.late(request["environ"])))
    with surroundings(request["environ"]):
        answer(request, trace)
        end_pools()
        _flush()
    seen.note(request["environ"])
    faulthandler.cancel_dump_traceback_later()
    sys.stdout, sys.stderr = (_usable(stream, number) for number, stream in enumerate(streams, 1))
    _write_to_nobody()


def _next(channel: socket.socket) -> tuple[str, list[int]]:
    """Wait for the next request; no path at the end of the channel."""
    path, descriptors, _, _ = socket.recv_fds(channel, _PATH_BYTES, 2)
    return os.fsdecode(path), descriptors


def _write_to(out: int, err: int) -> None:
    """Have all output go to two descriptors, that of libraries too."""
    for number, descriptor in ((1, out), (2, err)):
        if descriptor == number:
            os.set_inheritable(number, True)
        else:
            os.dup2(descriptor, number)
    for descriptor in {out, err} - {1, 2}:
        os.close(descriptor)


def _write_to_nobody() -> None:
    """Keep what threads of a past trial print out of its logs, which are read now."""
    with contextlib.suppress(OSError):
        nobody = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        _write_to(nobody, nobody)


def _flush() -> None:
    """Write what streams still hold, also those of C, before the descriptors become another trial's."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            stream.flush()  # type: ignore[union-attr]
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).fflush(None)


def _usable(stream: Any, number: int) -> Any:
    """Return a stream, or another for the same descriptor where the workload closed it."""
    with contextlib.suppress(Exception):
        if not stream.closed:
            return stream
    return open(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)
