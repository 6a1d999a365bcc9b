"""Waiting for a command: until it ends, its time is over, or it hangs."""

import os
import select
import time
from typing import Protocol

from aorta.model.frozen import frozen

EXITED, TIMED_OUT, HUNG = "exited", "timed out", "hung"

#: The longest single wait, which the system call has a limit for.
_LONG_S = 3600.0
_FIRST_STEP_S, _LAST_STEP_S = 0.0005, 0.05


@frozen
class Status:
    """How a process ended: by an exit code or a signal's number; neither where it is not known."""

    code: int | None = None
    number: int | None = None
    dumped: bool = False


class Watch(Protocol):
    """Something to do now and then while waiting; ``next_at`` by the monotonic clock."""

    next_at: float

    def look(self, now: float) -> bool:
        """Look, and tell whether the command is to be ended."""


class Watches:
    """Several of them as one."""

    def __init__(self, *watches: Watch) -> None:
        self._watches = watches
        self.next_at = min(watch.next_at for watch in watches)

    def look(self, now: float) -> bool:
        """Let those look whose time has come; tell whether one of them wants the command ended."""
        ends = [watch.look(now) for watch in self._watches if now >= watch.next_at]
        self.next_at = min(watch.next_at for watch in self._watches)
        return any(ends)


class Waiter:
    """Waits for the end of one process, by a descriptor of it where the kernel has such."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        try:
            self._handle: int | None = os.pidfd_open(pid)
        except (OSError, AttributeError):
            self._handle = None
        self._poll = select.poll()
        if self._handle is not None:
            self._poll.register(self._handle, select.POLLIN)

    def close(self) -> None:
        """Give the descriptor back."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def wait(self, until: float | None, watch: Watch | None) -> str:
        """Wait for the end, or ``until`` by the monotonic clock, or what the watch says."""
        while True:
            now = time.monotonic()
            wait_s = _LONG_S
            if until is not None:
                wait_s = min(wait_s, until - now)
            if watch is not None:
                wait_s = min(wait_s, watch.next_at - now)
            if self._ended(max(wait_s, 0.0)):
                return EXITED
            now = time.monotonic()
            if until is not None and now >= until:
                return TIMED_OUT
            if watch is not None and now >= watch.next_at and watch.look(now):
                return HUNG

    def _ended(self, wait_s: float) -> bool:
        if self._handle is not None:
            return bool(self._poll.poll(wait_s * 1000 + 0.5))
        until, step = time.monotonic() + wait_s, _FIRST_STEP_S
        while not _has_ended(self._pid):
            rest = until - time.monotonic()
            if rest <= 0:
                return False
            time.sleep(min(step, rest))
            step = min(step * 1.5, _LAST_STEP_S)
        return True


def _has_ended(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def status_of(pid: int) -> Status:
    """Return how a process ended that has; it stays unreaped, so that its number stays its own."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return Status()
    if found is None:
        return Status()
    if found.si_code == os.CLD_EXITED:
        return Status(code=found.si_status)
    return Status(number=found.si_status, dumped=found.si_code == os.CLD_DUMPED)
