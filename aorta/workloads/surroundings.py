"""What a trial may change of the process that it shares with others, and how it is put back."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping

#: Signals whose handlers a workload may not keep.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGCHLD, signal.SIGPIPE)
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


@contextlib.contextmanager
def surroundings(environ: Mapping[str, str], *, stays: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Put all the variables of a trial on; put them, the working directory, signals and timers back.

    Handlers of signals are left as they are then where ``stays`` says so.
    """
    with _environment(environ), _folder(), _handlers(stays):
        yield


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
            with contextlib.suppress(OSError):
                os.close(folder)


@contextlib.contextmanager
def _handlers(stays: Callable[[], bool]) -> Iterator[None]:
    if not is_main():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    idle = [timer for timer in _TIMERS if signal.getitimer(timer) == (0.0, 0.0)]
    try:
        yield
    finally:
        for timer in idle:
            # It would go off in what comes next.
            signal.setitimer(timer, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            # None is a handler that is not Python's.
            if handler is not None and signal.getsignal(number) is not handler and not stays():
                signal.signal(number, handler)


def is_main() -> bool:
    """Tell whether this is the thread that signals come to."""
    return threading.current_thread() is threading.main_thread()
