"""How a capturing process starts and ends: its standard streams, its signals, its last breath.

Shared by the command line and by ``_probe_main``; it imports nothing that is not quick to.
"""

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Any, NoReturn

from aorta.host.search_path import guard
from aorta.model.text import printable

#: Seconds that cleaning up may take after a signal before the process leaves anyway.
LAST_S = 3.0

#: The most seconds that starting may take and count for the deadline.
STARTING_S = 5.0

#: Seconds that threads with a command get to end it before the process leaves.
COMMANDS_S = 1.0

#: At the end of a job's time Slurm sends SIGTERM for the step and for the job: what comes again within these
#: seconds asks for nothing new.
REPEATED_S = 1.0

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: Files that must not outlive the process: who makes one puts it here before, and takes it out after.
temporaries: set[str] = set()

#: Called before the process ends at once: who starts processes puts here what ends them, waiting for no lock.
enders: set[Callable[[], None]] = set()


#: What signals have raised so far.
_stops: list["Stopped"] = []


class Stopped(KeyboardInterrupt):
    """A signal asked the process to end; ``code`` is its exit status, ``at`` when, by the monotonic clock."""

    def __init__(self, number: int) -> None:
        name = signal.Signals(number).name
        super().__init__(f"stopped by {name}")
        self.code = 128 + number
        self.at = time.monotonic()


def secure_streams() -> None:
    """Open ``/dev/null`` for closed standard descriptors, and let no text fail to be printed.

    Without it the first file that is opened would become the standard output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        # Else print() would take the standard output in its place.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def age() -> float:
    """Return the seconds since this process started; 0 where the kernel does not tell."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as stream:
            ticks = int(stream.read(4096).rpartition(")")[2].split()[19])
        seconds = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0
    # A process that imports aorta long after its start has not used up the deadline.
    return seconds if 0 < seconds < STARTING_S else 0.0


def stop_on_signals() -> None:
    """Make SIGINT, SIGTERM and SIGHUP raise ``Stopped``; one that is ignored stays so."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    sys.unraisablehook = _unraisable


def _stop(number: int, _frame: Any) -> None:
    # A clean-up that hangs ends the process too.
    exit_on_signals(repeated=number)
    threading.Thread(target=_leave_late, args=(128 + number,), daemon=True).start()
    _stops.append(Stopped(number))
    raise_if_stopped()


def raise_if_stopped() -> None:
    """Raise ``Stopped``, if it was raised before: an import may have made another error of it."""
    if _stops:
        raise _stops[0] from None


def be_program(run: Callable[[list[str]], int], arguments: Sequence[str] | None) -> NoReturn:
    """Run a command as this process and end it with the command's status (by SystemExit, given arguments)."""
    # The process is short: collecting garbage while it imports would cost a twentieth of a probe.
    gc.disable()
    secure_streams()
    guard()
    code = stoppable(run, sys.argv[1:] if arguments is None else list(arguments))
    leave(code, at_once=arguments is None)


def stoppable(run: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Return the exit status of a command that signals may stop; one line tells that they did."""
    try:
        stop_on_signals()
        try:
            return run(arguments)
        finally:
            exit_on_signals()
            raise_if_stopped()
    except Stopped as stopped:
        say(f"aorta: {stopped}")
        return stopped.code


def exit_on_signals(*, repeated: int | None = None) -> None:
    """Let signals end the process at once where they raise ``Stopped`` so far.

    A SIGTERM that is only ``repeated`` by a scheduler does not.
    """
    since = time.monotonic()

    def end(number: int, _: Any) -> None:
        if not number == repeated == signal.SIGTERM or time.monotonic() > since + REPEATED_S:
            exit_at_once(128 + number)

    for number in SIGNALS:
        if signal.getsignal(number) is _stop:
            signal.signal(number, end)


def _leave_late(code: int) -> None:
    time.sleep(LAST_S)
    exit_at_once(code)


def _unraisable(lost: "sys.UnraisableHookArgs") -> None:
    """End the process where Python would drop a ``Stopped``: in callbacks of its own, as while importing."""
    if isinstance(lost.exc_value, Stopped):
        say(f"aorta: {lost.exc_value}")
        exit_at_once(lost.exc_value.code)
    sys.__unraisablehook__(lost)


def exit_at_once(code: int) -> NoReturn:
    """End the process and all that it started, without the clean-up of who started it."""
    for end in list(enders):
        with contextlib.suppress(Exception):
            end()
    _exit(code)


def _exit(code: int) -> NoReturn:
    """End the process; a signal between two instructions may have left a file behind."""
    for path in list(temporaries):
        with contextlib.suppress(OSError):
            os.unlink(path)
    os._exit(code)


def say(text: str) -> None:
    """Write one line to standard error, without what steers a terminal; nobody reading it is no error."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{printable(' '.join(text.split()))}\n")
            sys.stderr.flush()


def leave(code: int, *, at_once: bool = True) -> NoReturn:
    """Flush and end the process.

    ``at_once`` spares taking the interpreter apart, a tenth of a short run, and so does a thread that
    was given up and hangs: the interpreter would stumble over it.
    """
    exit_on_signals()
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        if not _flushed(stream):
            # Else the interpreter would try again at its end, and complain. What nobody reads is no error.
            code = code or int(stream is sys.stdout)
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    _await_commands()
    hanging = threading.active_count() > 1
    if at_once and not hanging:
        # What a plugin registered still runs.
        atexit._run_exitfuncs()  # noqa: SLF001
    if at_once or hanging:
        _exit(code)
    sys.exit(code)


def _await_commands() -> None:
    """Let threads that were just starting a command when the host was closed end it again."""
    until = time.monotonic() + COMMANDS_S
    # Not join: a thread may be listed before it is started.
    while time.monotonic() < until and any(
        thread.name.startswith("command ") for thread in threading.enumerate()
    ):
        time.sleep(0.005)


def _flushed(stream: IO[str] | None) -> bool:
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        return False
    return True


class Stdout:
    """The real standard output, kept aside while a capture runs.

    Between ``__enter__`` and the end of the process, whatever else prints to descriptor 1 (a plugin, a
    native library) lands on standard error, so that it cannot mix with what ``stream`` gets.
    """

    def __init__(self) -> None:
        self.closed = sys.stdout is None
        self.stream: IO[str] = sys.stdout

    def __enter__(self) -> "Stdout":  # noqa: PYI034 - Self is not in 3.10
        _flushed(sys.stdout)
        self.stream = open(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        os.dup2(2, 1)
        return self

    def __exit__(self, *_: object) -> None:
        _flushed(sys.stdout)
        with contextlib.suppress(OSError):
            self.stream.close()

    def isatty(self) -> bool:
        """Tell whether the real standard output is a terminal."""
        return not self.closed and self.stream.isatty()

    def write(self, text: str) -> None:
        """Print a text and flush it. Raises OSError when nobody can get it."""
        if self.closed:
            raise OSError(9, os.strerror(9), "standard output")
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError as error:
            raise type(error)(error.errno, error.strerror, "standard output") from error
