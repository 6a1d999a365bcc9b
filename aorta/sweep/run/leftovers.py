"""What an aorta that was killed left running of its trial: ended before the run goes on."""

import os

from aorta.sweep.command.ending import KILL_S, LEFT_GRACE_S, end, left_text
from aorta.sweep.command.processes import Process, has_variables, look_at
from aorta.sweep.variables import RUN


def end_leftovers(run_id: str) -> list[str]:
    """End the processes on this machine that belong to a run; return a line that says so, or none."""
    left = _Left(run_id)
    found = left.thorough()
    if not found:
        return []
    stuck = end(left, LEFT_GRACE_S, KILL_S)
    return [f"{text}, since aorta was ended before it" for text in left_text(len(found), stuck)]


class _Left:
    """The living processes that have a run's number among their variables."""

    def __init__(self, run_id: str) -> None:
        self._mark = os.fsencode(f"{RUN}={run_id}")

    def thorough(self) -> dict[int, Process]:
        """Return them."""
        own = os.getpid()
        marked = [
            pid
            for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
            if pid != own and has_variables(pid, [self._mark])
        ]
        found = {pid: process for pid in marked if (process := look_at(pid)) is not None}
        return {pid: process for pid, process in found.items() if process.alive}

    quick = thorough

    def reap(self) -> None:
        """Do nothing: none of them is a child of this process."""
