"""What an outside plugin changes of the process is put back, and said."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from aorta.model.vocabulary import ReasonKind

if TYPE_CHECKING:
    from aorta.collect.context import Context


def guarded(function: "Callable[[Context], Any]", ctx: "Context") -> Any:
    """Call a collector of an outside plugin; undo what it does to the directory, environment and streams.

    The application goes on after the capture, and built-in sections are read beside. What cannot be
    put back (a signal handler, a loaded library) is not looked at.
    """

    def note(text: str) -> None:
        ctx.note(ReasonKind.FAILED, "", text)

    # When it was abandoned the capture is long over; what changed since is the application's.
    with kept(note, lambda: ctx.abandoned):
        return function(ctx)


@contextlib.contextmanager
def kept(note: Callable[[str], None], is_over: Callable[[], bool]) -> Iterator[None]:
    """Undo what is done to the directory, environment and streams, and note each; not once it ``is_over``."""
    folder, variables, streams = _folder(), dict(os.environ), _copies()
    try:
        yield
    finally:
        _reopen(note, streams)
        if not is_over():
            _restore(note, folder, variables)


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _copies() -> dict[int, int]:
    """Return a copy of each standard descriptor that is open."""
    copies = {}
    for number in range(3):
        with contextlib.suppress(OSError):
            copies[number] = os.dup(number)
    return copies


def _reopen(note: Callable[[str], None], streams: dict[int, int]) -> None:
    """Open standard descriptors again that were closed: the next file opened would take their place."""
    for number, copy in streams.items():
        try:
            os.fstat(number)
        except OSError:
            os.dup2(copy, number)
            note(f"while it ran, descriptor {number} was closed; it was put back")
        os.close(copy)


def _restore(note: Callable[[str], None], folder: str | None, variables: dict[str, str]) -> None:
    if folder is not None and _folder() != folder:
        try:
            os.chdir(folder)
        except OSError as error:
            text = f"while it ran, the working directory changed for good: {error.strerror}"
        else:
            text = "while it ran, the working directory changed; it was put back"
        note(text)
    now = dict(os.environ)
    changed = sorted(name for name in {*now, *variables} if now.get(name) != variables.get(name))
    for name in changed:
        if name in variables:
            os.environ[name] = variables[name]
        else:
            os.environ.pop(name, None)
    if changed:
        names = ", ".join(changed)
        note(f"while it ran, the environment changed; it was put back: {names}")
