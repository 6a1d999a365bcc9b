"""Hearing what a collector does by itself: input and output, variables, what it prints."""

import contextlib
import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from aorta.model.frozen import frozen

#: Audit events that are input or output; a name with a dot at its end is a family.
FORBIDDEN = (
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "ctypes.",
    "shutil.",
    "glob.",
    "tempfile.",
    "pathlib.",
    "mmap.",
    "fcntl.",
    "import",
)

_watched: dict[int, list[str]] = {}


@frozen
class Heard:
    """What was heard of one function: ``touched`` in the order of events, and the text it printed."""

    touched: tuple[str, ...]
    printed: str


def heard(function: Callable[[Any], Any], run: Callable[[Callable[[Any], Any]], object]) -> Heard:
    """Return what a function does by itself while ``run`` has it called, on whatever thread.

    ``run`` is given the function to call in its place.
    """
    _listen()
    touched: list[str] = []
    printed = io.StringIO()

    @functools.wraps(function)
    def watched(ctx: Any) -> Any:
        own = threading.get_ident()
        _watched[own] = touched
        try:
            return function(ctx)
        finally:
            del _watched[own]

    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), _variables():
        run(watched)
    return Heard(touched=tuple(dict.fromkeys(touched)), printed=printed.getvalue())


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    own = _watched.get(threading.get_ident()) if _watched else None
    if own is not None and any(
        event == name or (name.endswith(".") and event.startswith(name)) for name in FORBIDDEN
    ):
        own.append(" ".join([event, *(f"{argument!r:.80}" for argument in arguments[:1])]))


@functools.cache
def _listen() -> None:
    # An audit hook stays for good, so there is one for all.
    sys.addaudithook(_hear)


@contextlib.contextmanager
def _variables() -> Iterator[None]:
    """Hear of the variables that are read of ``os.environ`` itself, which no audit event tells of."""
    kind: Any = type(os.environ)
    get, names = kind.__getitem__, kind.__iter__

    def told_get(environ: Any, name: Any) -> Any:
        _hear("os.environ", (name,))
        return get(environ, name)

    def told_names(environ: Any) -> Any:
        _hear("os.environ", ())
        return names(environ)

    kind.__getitem__, kind.__iter__ = told_get, told_names
    try:
        yield
    finally:
        kind.__getitem__, kind.__iter__ = get, names
