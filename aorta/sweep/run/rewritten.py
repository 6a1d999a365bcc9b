"""Writing a file again and again, each time whole: the matrix, after every trial.

A rename over a file makes some file systems (ext4) put the new content on the disk at once, which costs a
short trial more than all else. Exchanging the two names does not. Readers see the one content or the other.
"""

import ctypes
import functools
import os
from collections.abc import Callable

_HERE, _EXCHANGE = -100, 2


def rewrite(path: str, temporary: str) -> None:
    """Give a file the place of another, which is there already, or may be. Raises OSError."""
    exchange = _exchange()
    if (
        exchange is not None
        and exchange(_HERE, os.fsencode(temporary), _HERE, os.fsencode(path), _EXCHANGE) == 0
    ):
        os.unlink(temporary)
    else:
        os.replace(temporary, path)


@functools.cache
def _exchange() -> Callable[..., int] | None:
    """Return the C library's ``renameat2``; None where it has none."""
    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), "renameat2", None)
    return found
