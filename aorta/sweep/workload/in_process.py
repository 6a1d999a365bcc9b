"""A workload's trial in this process: the trial's variables are put on, and everything is put back."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from aorta.instrumentation.process import Stopped, raise_if_stopped
from aorta.workloads.body import perform
from aorta.workloads.protocol import TrialInfo, Workload
from aorta.workloads.report import Report

#: Signals whose handlers a workload may not keep.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD, signal.SIGPIPE)


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
    with _environment(environ), _folder(), _handlers(), _printed(logs), _limit(timeout_s):
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


@contextlib.contextmanager
def _environment(environ: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    _turn_into(environ)
    try:
        yield
    finally:
        _turn_into(before)


def _turn_into(wanted: Mapping[str, str]) -> None:
    for name in [name for name in os.environ if name not in wanted]:
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    try:
        folder: int | None = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        folder = None
    try:
        yield
    finally:
        if folder is not None:
            with contextlib.suppress(OSError):
                os.fchdir(folder)
            os.close(folder)


@contextlib.contextmanager
def _handlers() -> Iterator[None]:
    if not _is_main():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None is a handler that is not Python's. One that aorta set while it ends stays.
            if handler is not None and signal.getsignal(number) is not handler and not _stopping():
                signal.signal(number, handler)


def _stopping() -> bool:
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
    if seconds is None or not _is_main():
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


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
