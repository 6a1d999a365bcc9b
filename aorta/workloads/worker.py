"""An interpreter for trials: what the sweep starts, told by a request in a file.

It does one trial, or goes on with further requests (``aorta.workloads.lasting``). It needs Python 3.10, and
attrs, which is the sweep's own where there is none (``BOOT``).
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from aorta.workloads.answer import answer
from aorta.workloads.trace import BEGUN, mark, only_here, trace_of

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

_PR_SET_PDEATHSIG = 1


def main(request: Mapping[str, Any]) -> None:
    """Do the trial of a request and write the answer; do others too where more requests will come."""
    trace = trace_of(request)
    only_here()
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


def _end_with(parent: int) -> None:
    """Ask the kernel to end this process when its parent is gone: nobody would end it then."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
