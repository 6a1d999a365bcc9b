"""Importing an outside plugin into this process: what the import changes of it is put back, and said."""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

#: The most of what was changed that is told by name.
NAMES = 5


def imported(load: Callable[[], Any]) -> tuple[Any, str]:
    """Return what ``load`` returns, and what it changed of this process (empty: nothing)."""
    before = _Before()
    try:
        loaded = load()
    finally:
        changes = ", ".join(before.put_back())
    return loaded, f"its import changed {changes}; it was put back" if changes else ""


class _Before:
    """What of this process an application depends on, as it was."""

    def __init__(self) -> None:
        self._folder = _folder()
        self._variables = dict(os.environ)
        self._path = list(sys.path)
        self._filters = list(warnings.filters)
        self._streams = sys.stdout, sys.stderr
        self._hook = sys.excepthook
        self._umask = _umask()
        self._handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}

    def put_back(self) -> Iterator[str]:
        """Undo what was changed; yield what that was."""
        if self._folder is not None and _folder() != self._folder:
            os.chdir(self._folder)
            yield "the working directory"
        yield from self._put_back_variables()
        if sys.path != self._path:
            sys.path[:] = self._path
            yield "sys.path"
        if list(warnings.filters) != self._filters:
            # A list that is replaced would not be looked at.
            warnings.filters[:] = self._filters  # type: ignore[index]
            yield "the filters of warnings"
        if (sys.stdout, sys.stderr) != self._streams:
            sys.stdout, sys.stderr = self._streams
            yield "the standard streams"
        if sys.excepthook is not self._hook:
            sys.excepthook = self._hook
            yield "sys.excepthook"
        if self._umask is not None and _umask() != self._umask:
            os.umask(self._umask)
            yield "the umask"
        yield from self._put_back_handlers()

    def _put_back_variables(self) -> Iterator[str]:
        now = dict(os.environ)
        changed = sorted(
            name for name in {*now, *self._variables} if now.get(name) != self._variables.get(name)
        )
        for name in changed:
            if name in self._variables:
                os.environ[name] = self._variables[name]
            else:
                del os.environ[name]
        if changed:
            more = f" and {len(changed) - NAMES} more" if len(changed) > NAMES else ""
            yield f"the environment ({', '.join(changed[:NAMES])}{more})"

    def _put_back_handlers(self) -> Iterator[str]:
        for number, handler in self._handlers.items():
            # None stands for a handler that is not Python's, and cannot be set again.
            if handler is not None and signal.getsignal(number) != handler:
                signal.signal(number, handler)
                yield f"the handler of signal {int(number)}"


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _umask() -> int | None:
    """Return the umask; asking the system for it would set it for a moment."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            line = next((line for line in file if line.startswith("Umask:")), "")
        return int(line.partition(":")[2], 8)
    except (OSError, ValueError):
        return None
