"""The process of one workload trial: started, waited for, asked for its stacks, ended for certain."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping

from aorta.instrumentation.process import enders
from aorta.model.frozen import frozen
from aorta.sweep.command.ending import (
    STOPPED_GRACE_S,
    STOPPED_KILL_S,
    end,
    end_left,
    kill_at_once,
    left_text,
    reap,
)
from aorta.sweep.command.processes import Tree, adopting
from aorta.sweep.command.start import ends_are_told, opened, signals_later, start
from aorta.sweep.command.waiting import HUNG, TIMED_OUT, Waiter, status_of
from aorta.workloads.worker import BEGUN, BOOT, MARK, PHASE, STACKS

#: Seconds that the process may take to end after its answer, and to write its stacks.
LINGER_S, STACKS_S = 10.0, 2.0
#: Seconds between two looks for the answer.
_LOOK_S = 0.25
#: The most bytes of a trace that are read.
_TRACE_BYTES = 256 << 10


@frozen
class Ended:
    """How a worker ended: its ``status`` (negative for a signal; null where it is not known).

    ``lingered``: it answered and had to be ended. ``begun`` is when its code began, in seconds after its
    start; ``phase`` the last one it came to; ``stacks`` what faulthandler wrote. ``elapsed_s`` is from the
    start to the end, or to the moment when its time was over.
    """

    status: int | None
    timed_out: bool
    lingered: bool
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


class _Linger:
    """Looks now and then whether the answer is there; a process that stays on after it is to be ended."""

    def __init__(self, answered: Callable[[], bool]) -> None:
        self.next_at = time.monotonic() + _LOOK_S
        self._answered = answered
        self._since: float | None = None

    def look(self, now: float) -> bool:
        """Tell whether the answer has been there for too long."""
        self.next_at = now + _LOOK_S
        if self._since is None and self._answered():
            self._since = now
        return self._since is not None and now >= self._since + LINGER_S


def ended(worker: Worker, timeout_s: float | None, grace_s: float) -> Ended:
    """Run a worker to its end, and end what is left of it. Raises OSError where it cannot be started.

    After ``timeout_s`` its stacks are taken, and it is ended; the signal that stops aorta ends it too, and
    is raised again.
    """
    tree = Tree(worker.environ)
    with adopting(), ends_are_told(), _ending_with(tree):
        begun = time.monotonic()
        try:
            with opened(worker.stdout, worker.stderr) as logs, signals_later():
                argv = [worker.python, "-c", BOOT, worker.request]
                tree.root = start(argv, worker.environ, (logs[0], logs[1]))
            how = _awaited(tree.root, worker, None if timeout_s is None else begun + timeout_s)
            elapsed = time.monotonic() - begun
            if how == TIMED_OUT:
                _dump(tree.root, worker.trace)
            notes = left_text(*_finished(tree, how, grace_s))
        except BaseException:
            end(tree, STOPPED_GRACE_S, STOPPED_KILL_S)
            _reap(tree)
            raise
        status = status_of(tree.root)
        _reap(tree)
    code = status.code if status.number is None else -status.number
    at, phase, stacks = _parsed(worker.trace)
    return Ended(
        status=code,
        timed_out=how == TIMED_OUT,
        lingered=how == HUNG,
        begun=None if at is None else max(at - begun, 0.0),
        phase=phase,
        stacks=stacks,
        elapsed_s=elapsed,
        notes=notes,
    )


@contextlib.contextmanager
def _ending_with(tree: Tree):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Have the trial's processes killed when this process must end at once."""

    def kill() -> None:
        kill_at_once(tree)

    enders.add(kill)
    try:
        yield
    finally:
        enders.discard(kill)


def _awaited(pid: int, worker: Worker, until: float | None) -> str:
    waiter, linger = Waiter(pid), _Linger(worker.answered)
    try:
        how = waiter.wait(until, linger)
        if how == TIMED_OUT and worker.answered():
            how = waiter.wait(None, linger)
        return how
    finally:
        waiter.close()


def _finished(tree: Tree, how: str, grace_s: float) -> tuple[int, int]:
    """End what there is; return how many processes an ended worker left, and how many still are there."""
    if how in (TIMED_OUT, HUNG):
        return 0, end(tree, grace_s)
    return end_left(tree)


def _reap(tree: Tree) -> None:
    if tree.root is not None:
        reap(tree.root)
    tree.reap()


def _dump(pid: int, trace: str) -> None:
    """Have the stacks of all threads written, if the process is ready to: the signal would else end it."""
    size = _size(trace)
    if size == 0:
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
