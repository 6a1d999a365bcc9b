"""What an aorta that was killed left running of its trial: ended before the run goes on."""

import os
import signal
import time

from aorta.sweep.command.processes import Process, look_at, tell

#: The variable that names the run to its trials; the number is random, so no other process has it.
RUN = "AORTA_SWEEP_RUN"

#: Seconds that they get to end after SIGTERM, and after SIGKILL.
GRACE_S, KILL_S, _STEP_S = 2.0, 5.0, 0.02


def end_leftovers(run_id: str) -> list[str]:
    """End the processes on this machine that belong to a run; return a line that says so, or none."""
    found = processes_of(run_id)
    if not found:
        return []
    for number, limit_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, KILL_S)):
        tell(processes_of(run_id), number, signal.SIGCONT)
        until = time.monotonic() + limit_s
        while (left := processes_of(run_id)) and time.monotonic() < until:
            time.sleep(_STEP_S)
        if not left:
            break
    stuck = f", {len(left)} of which cannot be ended" if left else ""
    return [f"{len(found)} process(es) of the trial that was in flight were left and ended{stuck}"]


def processes_of(run_id: str) -> list[Process]:
    """Return the living processes that have a run's number among their variables."""
    mark = f"{RUN}={run_id}".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        if int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                is_marked = mark in file.read().split(b"\0")
        except OSError:
            continue
        process = look_at(int(name)) if is_marked else None
        if process is not None and process.alive:
            found.append(process)
    return found
