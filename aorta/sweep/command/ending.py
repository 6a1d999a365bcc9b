"""The end of a trial's processes: asked first, then made sure of; what cannot be ended is told."""

import os
import signal
import time
from collections.abc import Callable

from aorta.sweep.command.processes import Leavable, Process, Processes, Tree, tell

#: Seconds between SIGTERM and SIGKILL, as after a timeout.
GRACE_S = 10.0
#: The same when aorta itself is stopped, which must not take longer than two seconds in all.
STOPPED_GRACE_S = 1.0
#: The same for what a command left running when it ended.
LEFT_GRACE_S = 2.0
#: How long what a command left may need to end by itself, as the last of a pipe.
NATURAL_S = 0.25
#: How long the end after SIGKILL is waited for.
KILL_S = 5.0
STOPPED_KILL_S = 0.7

_FIRST_STEP_S, _LAST_STEP_S = 0.002, 0.2


def end(tree: Processes, grace_s: float = GRACE_S, kill_s: float = KILL_S) -> int:
    """End processes, by SIGTERM and then SIGKILL; return how many could not be ended."""
    asked: set[tuple[int, int]] = set()

    def ask(found: dict[int, Process]) -> None:
        new = [one for one in found.values() if (one.pid, one.started) not in asked]
        asked.update((one.pid, one.started) for one in new)
        # One that was stopped has to go on to hear it.
        tell(new, signal.SIGTERM, signal.SIGCONT)

    ask(tree.thorough())
    if _gone(tree, ask, grace_s):
        return 0

    def kill(found: dict[int, Process]) -> None:
        tell(found.values(), signal.SIGKILL)

    kill(tree.thorough())
    return 0 if _gone(tree, kill, kill_s) else len(tree.thorough())


def end_left(tree: Leavable, *, search: bool) -> tuple[int, int]:
    """End what a command left running; return how many were left, and how many of them still are.

    ``search``: among all processes of the machine, as those that another started for the trial (a
    scheduler's daemon), and not only among those that became ours.
    """
    if not (tree.thorough() if search else tree.left()) or _gone(tree, lambda _found: None, NATURAL_S):
        return 0, 0
    count = len(tree.thorough())
    return count, end(tree, LEFT_GRACE_S) if count else 0


def kill_at_once(tree: Tree) -> None:
    """Kill what can be found of a trial, waiting for nothing; for a process about to end itself."""
    for _ in range(3):
        found = tree.quick()
        tell(found.values(), signal.SIGKILL)
        if not found:
            return


def _gone(tree: Processes, each: Callable[[dict[int, Process]], None], limit_s: float) -> bool:
    """Wait until none of them is alive, and do something with what there is at each look."""
    until, step = time.monotonic() + limit_s, _FIRST_STEP_S
    while True:
        tree.reap()
        found = tree.quick() or tree.thorough()
        if not found:
            return True
        each(found)
        rest = until - time.monotonic()
        if rest <= 0:
            return False
        time.sleep(min(step, rest))
        step = min(step * 1.6, _LAST_STEP_S)


def left_text(left: int, stuck: int) -> tuple[str, ...]:
    """Return the notes on processes that were left, and on those that did not end."""
    notes = []
    if left:
        notes.append(f"{_processes(left)} of the trial {'was' if left == 1 else 'were'} left and ended")
    if stuck:
        notes.append(f"{_processes(stuck)} of the trial could not be ended, not even by SIGKILL")
    return tuple(notes)


def _processes(count: int) -> str:
    return f"{count} process{'' if count == 1 else 'es'}"


def reap(pid: int) -> None:
    """Take note of the end of the first process, which has ended; its number is free from here on."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)
    except OSError:
        return
