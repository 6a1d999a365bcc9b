"""Writing a document so that there is never half of one."""

import contextlib
import errno
import json
import os
import tempfile
from typing import Any


class ForeignFileError(OSError):
    """The file holds a snapshot of another host; it is not replaced unasked."""


def write_atomically(path: str, text: str, *, force: bool = False) -> None:
    """Write ``text`` to ``path``: a temporary file beside it, fsync, rename; parents are made.

    The file gets the mode that the umask gives a new file. Without ``force`` a snapshot of another
    host is not replaced. A device or pipe is written to directly. Raises OSError, and leaves nothing
    behind then.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        with open(target, "w", encoding="utf-8") as stream:
            stream.write(text)
        return
    if not force:
        _refuse_foreign(path, target, text)
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", suffix=".tmp", dir=folder)
    try:
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    """Return the umask without changing it, where the kernel tells; a thread could see the change."""
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        return int(next(line for line in status if line.startswith("Umask:")).split()[1], 8)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _refuse_foreign(path: str, target: str, text: str) -> None:
    try:
        with open(target, encoding="utf-8") as stream:
            before = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return
    theirs, ours = _identity(before), _identity(json.loads(text))
    if theirs is not None and ours is not None and theirs != ours:
        raise ForeignFileError(
            errno.EEXIST, "it holds the snapshot of another host; --force replaces it", path
        )


def _identity(document: Any) -> Any:
    """Return what tells two machines apart in a document, None where it says nothing."""
    host = document.get("host") if isinstance(document, dict) else None
    if not isinstance(host, dict):
        return None
    return host.get("machine_digest")
