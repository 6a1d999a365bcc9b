"""The start of a command: its words as they are, in a session of its own, with two files to write to."""

import errno
import os
import signal
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
#: What Python ignores, and what a caller may; a program expects the usual.
_USUAL = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)
#: The number under which a program gets a descriptor more.
CHANNEL = 3
_ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start(
    argv: Sequence[str], environ: Mapping[str, str], logs: tuple[int, int], channel: int | None = None
) -> int:
    """Start a program and return its process number; ``logs`` are its descriptors 1 and 2.

    ``channel`` becomes its descriptor ``CHANNEL``, and must not have that number here.

    Raises OSError when the program cannot be executed and ValueError for words or variables that no
    program can get.
    """
    actions: list[tuple[Any, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, logs[0], 1),
        (os.POSIX_SPAWN_DUP2, logs[1], 2),
    ]
    if channel is not None:
        actions.append((os.POSIX_SPAWN_DUP2, channel, CHANNEL))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return os.posix_spawn(
        _program(argv[0], environ),
        list(argv),
        environ,
        file_actions=actions,
        setsid=True,
        setsigdef=_USUAL,
        setsigmask=[number for number in mask if number not in _ALL],
    )


def _program(word: str, environ: Mapping[str, str]) -> str:
    """Return the file that a word names, by the PATH that the command gets."""
    if "\0" in word:
        raise ValueError("a word of the command holds a NUL character")
    if "/" in word:
        return word
    denied = False
    for folder in os.get_exec_path(environ):
        path = os.path.join(folder, word)
        try:
            regular = stat.S_ISREG(os.stat(path).st_mode)
        except OSError as error:
            denied = denied or error.errno == errno.EACCES
            continue
        if regular and os.access(path, os.X_OK):
            return path if "/" in path else f"./{path}"
        denied = denied or regular
    number = errno.EACCES if denied else errno.ENOENT
    raise OSError(number, os.strerror(number), word)


@contextmanager
def opened(*paths: str) -> Iterator[tuple[int, ...]]:
    """Open files to be written from their beginning. Raises OSError."""
    handles: list[int] = []
    try:
        for path in paths:
            handles.append(os.open(path, _WRITE, 0o666))  # noqa: PERF401 - closed one by one
        yield tuple(handles)
    finally:
        for handle in handles:
            os.close(handle)


@contextmanager
def signals_later() -> Iterator[None]:
    """Let no signal come between the start of a process and the note of its number."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ALL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def ends_are_told() -> Iterator[None]:
    """Let the kernel keep exit statuses, where the caller of aorta had it throw them away."""
    ignored = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    try:
        if ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    except ValueError:
        # Only the first thread may; the status is then unknown, and said to be.
        ignored = False
    try:
        yield
    finally:
        if ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
