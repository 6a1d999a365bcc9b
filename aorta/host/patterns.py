"""Where regular expressions are tried: one of a plugin may never end, and would hold the whole process.

A thread that works for another process has them tried there, by ``tried_by``.
"""

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: Tries one: is given the name of a function below, and what that takes.
Try = Callable[[str, Any, str], list[Any]]

#: The most bytes of names that are tried elsewhere at once.
_BATCH = 8 << 20

_of_thread = threading.local()


@contextlib.contextmanager
def tried_by(elsewhere: Try) -> Iterator[None]:
    """Have ``elsewhere`` try the expressions of this thread."""
    _of_thread.elsewhere = elsewhere
    try:
        yield
    finally:
        del _of_thread.elsewhere


def found_in(data: bytes, pattern: str) -> list[str]:
    """Return what group 1 of a pattern matches in the text of a file; what is no UTF-8 is replaced."""
    elsewhere: Try | None = getattr(_of_thread, "elsewhere", None)
    return TRIES["found_in"](data, pattern) if elsewhere is None else elsewhere("found_in", data, pattern)


def chosen(names: Iterable[bytes], pattern: str) -> Iterator[bytes]:
    """Yield the names that a pattern is found in."""
    elsewhere: Try | None = getattr(_of_thread, "elsewhere", None)
    if elsewhere is None:
        search = re.compile(pattern.encode()).search
        yield from (name for name in names if search(name))
        return
    for batch in _batches(names):
        yield from elsewhere("chosen", batch, pattern)


def _batches(names: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for name in names:
        batch.append(name)
        size += len(name)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _found_in(data: bytes, pattern: str) -> list[str]:
    found = re.finditer(pattern, data.decode("utf-8", "replace"), re.MULTILINE)
    return [match[1] for match in found if match[1] is not None]


def _chosen(names: Iterable[bytes], pattern: str) -> list[bytes]:
    search = re.compile(pattern.encode()).search
    return [name for name in names if search(name)]


#: What is tried, by its name.
TRIES: dict[str, Callable[[Any, str], list[Any]]] = {"found_in": _found_in, "chosen": _chosen}
