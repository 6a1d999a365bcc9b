"""The process of one workload trial: started, waited for, asked for its stacks, ended for certain."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping

from aorta.model.frozen import frozen
from aorta.sweep.command.processes import Tree
from aorta.sweep.command.running import run
from aorta.sweep.command.start import opened
from aorta.sweep.command.waiting import HUNG
from aorta.workloads.worker import BEGUN, BOOT, MARK, PHASE, STACKS

#: Seconds that the process may take to end after its answer, and to write its stacks.
LINGER_S, STACKS_S = 10.0, 2.0
#: Seconds between two looks for the answer.
_LOOK_S = 0.25
#: The same where somebody else may want the process ended.
_LISTEN_S = 0.1
#: The most bytes of a trace that are read.
_TRACE_BYTES = 256 << 10


@frozen
class Ended:
    """How a worker ended: its ``status`` (negative for a signal; null where it is not known).

    ``lingered``: it answered and had to be ended. ``aborted``: somebody else wanted it ended. ``begun`` is
    when its code began, in seconds after its start; ``phase`` the last one it came to; ``stacks`` what
    faulthandler wrote. ``elapsed_s`` is from the start to the end, or to when it was to be ended.
    """

    status: int | None
    timed_out: bool
    lingered: bool
    aborted: bool
    begun: float | None
    phase: str | None
    stacks: str
    elapsed_s: float
    notes: tuple[str, ...]


@frozen
class Worker:
    """What is started: the interpreter, the files of the trial, all its variables.

    ``answered`` tells whether the answer is there.
    """

    python: str
    request: str
    trace: str
    stdout: str
    stderr: str
    environ: Mapping[str, str]
    answered: Callable[[], bool]


class _Watch:
    """Looks now and then: a process whose time is over is to be ended, and one that stays after its answer.

    Of the first the stacks are taken before, and of one that ``over`` wants ended.
    """

    def __init__(
        self, worker: Worker, tree: Tree, until: float | None, over: Callable[[], bool] | None
    ) -> None:
        self._worker, self._tree, self._until, self._over = worker, tree, until, over
        self._look_s = _LOOK_S if over is None else _LISTEN_S
        self._answered_at: float | None = None
        self.timed_out_at: float | None = None
        self.aborted_at: float | None = None
        self._plan(time.monotonic())

    def _plan(self, now: float) -> None:
        over = self._until if self._until is not None and self._answered_at is None else now + self._look_s
        self.next_at = min(now + self._look_s, over)

    def look(self, now: float) -> bool:
        """Tell whether the process is to be ended."""
        if self._answered_at is None and self._worker.answered():
            self._answered_at = now
        if self._answered_at is not None:
            self._plan(now)
            return now >= self._answered_at + LINGER_S
        if self._over is not None and self._over():
            self.aborted_at = now
            _dump(self._tree.root, self._worker.trace)
            return True
        if self._until is not None and now >= self._until:
            self.timed_out_at = now
            _dump(self._tree.root, self._worker.trace)
            return True
        self._plan(now)
        return False


def ended(
    worker: Worker, timeout_s: float | None, grace_s: float, over: Callable[[], bool] | None = None
) -> Ended:
    """Run a worker to its end, and end what is left of it. Raises CannotStartError, and OSError for its logs.

    After ``timeout_s``, or when ``over`` says so, its stacks are taken, and it is ended; the signal that
    stops aorta ends it too, and is raised again.
    """
    watches: list[_Watch] = []
    began = time.monotonic()

    def watch(tree: Tree) -> _Watch:
        watches.append(_Watch(worker, tree, None if timeout_s is None else began + timeout_s, over))
        return watches[0]

    argv = [worker.python, "-c", BOOT, worker.request]
    with opened(worker.stdout, worker.stderr) as logs:
        done = run(argv, worker.environ, (logs[0], logs[1]), timeout_s=None, watch=watch, grace_s=grace_s)
    timed_out_at, aborted_at = watches[0].timed_out_at, watches[0].aborted_at
    ended_at = aborted_at if timed_out_at is None else timed_out_at
    status = done.status
    at, phase, stacks = _parsed(worker.trace)
    return Ended(
        status=status.code if status.number is None else -status.number,
        timed_out=timed_out_at is not None,
        lingered=done.how == HUNG and ended_at is None,
        aborted=aborted_at is not None,
        begun=None if at is None else max(at - began, 0.0),
        phase=phase,
        stacks=stacks,
        elapsed_s=done.elapsed_s if ended_at is None else ended_at - began,
        notes=done.notes,
    )


def _dump(pid: int | None, trace: str) -> None:
    """Have the stacks of all threads written, if the process is ready to: the signal would else end it."""
    size = _size(trace)
    if size == 0 or pid is None:
        return
    with contextlib.suppress(OSError):
        os.kill(pid, STACKS)
        # One that is stopped would not write.
        os.kill(pid, signal.SIGCONT)
    until, last = time.monotonic() + STACKS_S, size
    while time.monotonic() < until:
        time.sleep(0.05)
        now = _size(trace)
        if now == last > size:
            return
        last = now


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _parsed(path: str) -> tuple[float | None, str | None, str]:
    """Return what a trace tells: when the code began, the last phase, and the stacks."""
    begun, phase, stacks = None, None, []
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            trace = file.read(_TRACE_BYTES)
    except OSError:
        trace = ""
    for line in trace.splitlines():
        word, _, value = line.removeprefix(MARK).partition(" ")
        if not line.startswith(MARK):
            stacks.append(line)
        elif word == BEGUN:
            with contextlib.suppress(ValueError):
                begun = float(value)
        elif word == PHASE:
            phase = value
    return begun, phase, "\n".join(stacks).strip()
