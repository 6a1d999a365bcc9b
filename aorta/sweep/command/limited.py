"""A time limit for regular expressions of a user's, some of which would search for ever.

Python's ``re`` lets signals come while it searches, so a timer's signal ends it. Only the first thread of a
process gets signals; in another one there is no limit.
"""

import contextlib
import signal
import time
from collections.abc import Callable
from typing import Any

#: Seconds that one user's expression may take for one block of a log, and for all of one trial's.
BLOCK_S = 2.0
TRIAL_S = 60.0


class Budget:
    """What one expression may still take of a trial's time; ``spent`` once it is given up."""

    def __init__(self) -> None:
        self.spent = False
        self._rest_s = TRIAL_S

    def do(self, work: Callable[[], None]) -> None:
        """Do some work on a block, as far as it comes."""
        began = time.monotonic()
        done = within(min(BLOCK_S, self._rest_s), work)
        self._rest_s -= time.monotonic() - began
        self.spent = self.spent or not done or self._rest_s <= 0


class _TooLong(Exception):  # noqa: N818 - never leaves this module
    """The time is over."""


def within(limit_s: float, work: Callable[[], None]) -> bool:
    """Do some work; tell whether it was done within a limit. What it did before stays done."""
    began = time.monotonic()
    try:
        handler = signal.signal(signal.SIGALRM, _stop)
    except ValueError:
        work()
        return True
    timer = (0.0, 0.0)
    try:
        timer = signal.setitimer(signal.ITIMER_REAL, limit_s)
        work()
        signal.setitimer(signal.ITIMER_REAL, 0)
        return True
    except _TooLong:
        return False
    finally:
        with contextlib.suppress(_TooLong):
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if timer[0] > 0:
            # A timer of somebody else goes on as if nothing had been.
            rest = max(timer[0] - (time.monotonic() - began), 0.001)
            signal.setitimer(signal.ITIMER_REAL, rest, timer[1])


def _stop(_number: int, _frame: Any) -> None:
    raise _TooLong
