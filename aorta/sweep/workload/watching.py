"""The process that a workload's trial runs in: what is started, how it is watched, and how it ended."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

from aorta.model.frozen import frozen
from aorta.sweep.command.processes import Tree
from aorta.sweep.command.running import Ran
from aorta.sweep.command.waiting import HUNG
from aorta.workloads.trace import BEGUN, LATE, MARK, PHASE, STACKS

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
    """How a worker ended: its ``status`` (negative for a signal; null where it is not known or goes on).

    ``lingered``: it answered and had to be ended. ``aborted``: somebody else wanted it ended. ``begun`` is
    when its code began, in seconds after its start; ``phase`` the last one it came to; ``stacks`` what
    faulthandler wrote. ``elapsed_s`` is from the start to the end, or to when it was to be ended. ``late``
    are variables that were set after what reads them had done so. ``told_at`` is when it was told to end, by
    the monotonic clock; null where it was not.
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
    late: tuple[str, ...] = ()
    told_at: float | None = None


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


class Watch:
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
        self.phase: str | None = None
        self.stacks = ""
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
            # Others wait for this rank.
            is_over = self._over is not None and self._over()
            return is_over or now >= self._answered_at + LINGER_S
        if self._over is not None and self._over():
            self.aborted_at = now
            self._note()
            return True
        if self._until is not None and now >= self._until:
            self.timed_out_at = now
            self._note()
            return True
        self._plan(now)
        return False

    def _note(self) -> None:
        """Take note of where it is: what interrupts a call may let it go on from there."""
        self.phase = _parsed(self._worker.trace).phase
        _dump(self._tree.root, self._worker.trace)
        # The signal that ends it has them written once more.
        self.stacks = _parsed(self._worker.trace).stacks


def end_of(worker: Worker, watch: Watch, began: float, done: Ran) -> Ended:
    """Return how a trial ended that began at a time of the monotonic clock."""
    ended_at = watch.aborted_at if watch.timed_out_at is None else watch.timed_out_at
    trace = _parsed(worker.trace)
    return Ended(
        status=done.status.code if done.status.number is None else -done.status.number,
        timed_out=watch.timed_out_at is not None,
        lingered=done.how == HUNG and ended_at is None,
        aborted=watch.aborted_at is not None,
        begun=None if trace.begun is None else max(trace.begun - began, 0.0),
        phase=trace.phase if ended_at is None else watch.phase,
        stacks=trace.stacks if ended_at is None else watch.stacks or trace.stacks,
        elapsed_s=done.elapsed_s if ended_at is None else ended_at - began,
        notes=done.notes,
        late=trace.late,
        told_at=ended_at,
    )


def stacks_in(trace: str) -> str:
    """Return the stacks that faulthandler wrote into a trace."""
    return _parsed(trace).stacks


def phase_in(trace: str) -> str | None:
    """Return the last phase that a process came to, by its trace; null where that is not known."""
    return _parsed(trace).phase


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


@frozen
class _Trace:
    """What a trace tells: when the code began, the last phase, the stacks, and variables that came late."""

    begun: float | None
    phase: str | None
    stacks: str
    late: tuple[str, ...]


def _parsed(path: str) -> _Trace:
    told: dict[str, str] = {}
    stacks = []
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            trace = file.read(_TRACE_BYTES)
    except OSError:
        trace = ""
    for line in trace.splitlines():
        if line.startswith(MARK):
            word, _, value = line.removeprefix(MARK).partition(" ")
            told[word] = value
        else:
            stacks.append(line)
    return _Trace(
        begun=_read(told.get(BEGUN), float),
        phase=told.get(PHASE),
        stacks="\n".join(stacks).strip(),
        late=tuple(_read(told.get(LATE), json.loads) or ()),
    )


def _read(text: str | None, kind: Callable[[str], Any]) -> Any:
    try:
        return None if text is None else kind(text)
    except ValueError:
        return None
