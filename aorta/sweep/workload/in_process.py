"""A workload's trial in this process: the trial's variables are put on, and everything is put back."""

import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from aorta.instrumentation.process import Stopped, raise_if_stopped
from aorta.workloads.body import perform
from aorta.workloads.protocol import TrialInfo, Workload
from aorta.workloads.report import Report
from aorta.workloads.surroundings import is_main, surroundings


class TrialTimeout(BaseException):
    """The time of a trial is over. No Exception, since a workload may survive all of those."""


def run_here(
    cls: type[Workload],
    config: Any,
    trial: TrialInfo,
    environ: Mapping[str, str],
    *,
    timeout_s: float | None = None,
    logs: tuple[str, str] | None = None,
) -> Report:
    """Do a trial in this process and return its report.

    What Python code prints goes to the two files of ``logs``. A signal to aorta is raised on. After
    ``timeout_s`` TrialTimeout is raised where the workload is, in Python code or in a call that a signal
    interrupts; a loop in a library that never returns goes on.
    """
    # Of the handlers those stay that aorta set while it ends.
    with surroundings(environ, stays=is_stopping), _printed(logs), _limit(timeout_s):
        report = perform(cls, config, trial, passes=_passes)
    # A workload that catches everything has caught this too.
    raise_if_stopped()
    return report


def _passes(error: BaseException) -> bool:
    if isinstance(error, Stopped):
        return True
    # Without aorta's own handlers this is how the user interrupts.
    interrupted = type(error) is KeyboardInterrupt
    return interrupted and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def is_stopping() -> bool:
    """Tell whether a signal has stopped aorta."""
    try:
        raise_if_stopped()
    except Stopped:
        return True
    return False


@contextlib.contextmanager
def _printed(logs: tuple[str, str] | None) -> Iterator[None]:
    if logs is None:
        yield
        return
    kinds: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "buffering": 1}
    with (
        open(logs[0], "w", **kinds) as out,
        open(logs[1], "w", **kinds) as err,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        yield


@contextlib.contextmanager
def _limit(seconds: float | None) -> Iterator[None]:
    if seconds is None or not is_main():
        yield
        return
    signal.signal(signal.SIGALRM, _expired(seconds))
    # Again and again: what ``cleanup`` does may hang too.
    signal.setitimer(signal.ITIMER_REAL, seconds, max(seconds / 4, 1.0))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _expired(seconds: float) -> Callable[..., NoReturn]:
    def expired(_number: int, _frame: Any) -> NoReturn:
        raise TrialTimeout(f"timed out after {seconds:g} s")

    return expired
