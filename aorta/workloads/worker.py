"""An interpreter for trials: what the sweep starts, told by a request in a file.

It does one trial, or goes on with further requests (``aorta.workloads.lasting``). It needs Python 3.10, and
attrs, which is the sweep's own where there is none (``BOOT``). The answer is one file that appears whole or
not at all; stacks and phases go to a file of their own, whatever the workload does with its standard streams.
"""

import contextlib
import faulthandler
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from aorta.workloads.report import CONFIG, IMPORT, Report, as_json

#: Starts the worker in any Python from 3.10. The names in ``first`` are taken from the sweep's own place, so
#: that both sides are of one version; those in ``last`` and ``path`` serve what is found nowhere else.
BOOT = """
import sys
if sys.version_info < (3, 10):
    sys.exit("a trial needs Python 3.10 or later, not %d.%d" % sys.version_info[:2])
sys.path[:] = [entry for entry in sys.path if entry]
import json
from importlib.machinery import PathFinder
with open(sys.argv[1], encoding="utf-8") as file:
    request = json.load(file)
class Given:
    def __init__(self, places):
        self.places = places
    def find_spec(self, name, path=None, target=None):
        return PathFinder.find_spec(name, [self.places[name]]) if name in self.places else None
    def invalidate_caches(self):
        pass
sys.meta_path.insert(0, Given(request["first"]))
sys.meta_path.append(Given(request["last"]))
sys.path += [entry for entry in request["path"] if entry not in sys.path]
sys.argv[:] = ["aorta-trial"]
from aorta.workloads.worker import main
main(request)
"""

#: How a line of the trace begins that is not of a stack.
MARK = "@"
BEGUN, PHASE, LATE = "begun", "phase", "late"

#: Dumps the stacks of all threads into the trace.
STACKS = signal.SIGUSR1

_PR_SET_PDEATHSIG = 1


def main(request: Mapping[str, Any]) -> None:
    """Do the trial of a request and write the answer; do others too where more requests will come."""
    trace = trace_of(request)
    mark(trace, BEGUN, repr(time.monotonic()))
    if request["parent"] is not None:
        _end_with(request["parent"])
    for stream in (sys.stdout, sys.stderr):
        # What was printed before a crash is not lost.
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
    if request["channel"] is None:
        answer(request, trace)
        return
    from aorta.workloads.lasting import serve

    serve(request, trace)


def trace_of(request: Mapping[str, Any]) -> int:
    """Open the trace of a request, and have crashes written there.

    The descriptor stays open for as long as the process may crash in that trial.
    """
    trace = os.open(request["trace"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    faulthandler.enable(trace, all_threads=True)
    faulthandler.register(STACKS, trace, all_threads=True)
    return trace


def answer(request: Mapping[str, Any], trace: int) -> None:
    """Do the trial of a request and write the answer."""
    own = os.getpid()
    report = done(request, lambda phase: mark(trace, PHASE, phase))
    if os.getpid() != own:
        # A child of the workload's that came back here; the trial is its parent's.
        os._exit(0)
    _write(request["response"], {"nonce": request["nonce"], "report": as_json(report)})


def done(request: Mapping[str, Any], began: Callable[[str], None]) -> Report:
    """Do the trial and return its report."""
    from aorta.workloads.body import exception, perform
    from aorta.workloads.config import rebuilt
    from aorta.workloads.discovery import resolve
    from aorta.workloads.protocol import AgentStore, TrialInfo

    phase = IMPORT
    try:
        began(IMPORT)
        cls = resolve(request["target"])
        began(phase := CONFIG)
        config = rebuilt(cls, request["config"], request["trial"]["steps"])
    except BaseException as error:
        return Report(raised=exception(error, phase))
    told = dict(request["trial"])
    if told["agent_store"] is not None:
        told["agent_store"] = AgentStore(**told["agent_store"])
    return perform(cls, config, TrialInfo(**told), began=began)


def mark(trace: int, *words: str) -> None:
    """Write a line of the trace that is not of a stack."""
    with contextlib.suppress(OSError):
        os.write(trace, f"{MARK}{' '.join(words)}\n".encode())


def _end_with(parent: int) -> None:
    """Ask the kernel to end this process when its parent is gone: nobody would end it then."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def _write(path: str, answer: Mapping[str, Any]) -> None:
    text = json.dumps(answer, allow_nan=False)
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.part", path)
