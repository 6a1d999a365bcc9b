"""Writing a document so that there is never half of one."""

import contextlib
import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from aorta.instrumentation.filekind import NOTHING, OTHER, RECORDING, SNAPSHOT, held_by
from aorta.instrumentation.process import temporaries

_NAMES = {SNAPSHOT: "a snapshot", RECORDING: "a recording"}


class ForeignFileError(OSError):
    """The file holds something that is not replaced unasked, such as a snapshot of another host."""


def write_atomically(path: str, text: str, *, force: bool = False) -> None:
    """Write a snapshot's ``text`` to ``path``: a temporary file beside it, fsync, rename; parents are made.

    The file gets the mode that the umask gives a new file. Without ``force`` no recording is replaced,
    and no snapshot of another host. A device or pipe is written to directly. Raises OSError, and leaves
    nothing behind then.
    """
    with replacing(path, None if force else lambda: _refuse_foreign(path, text)) as stream:
        stream.write(text)


@contextlib.contextmanager
def replacing(path: str, check: Callable[[], None] | None = None) -> Iterator[TextIO]:
    """Open a stream whose content replaces ``path`` when the block ends without an error.

    What is no text goes through its ``buffer``. ``check`` raises for what may not be replaced; it is
    asked at the very end, when all is written.
    """
    if _is_direct(path):
        with _open_direct(path) as stream:
            yield stream
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        os.makedirs(folder, exist_ok=True)
    temporary = _temporary(folder)
    temporaries.add(temporary)
    try:
        # The kernel applies the umask, and default access rules of the directory.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with open(descriptor, "w", encoding="utf-8") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _place(temporary, target, check)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        temporaries.discard(temporary)


def _place(temporary: str, target: str, check: Callable[[], None] | None) -> None:
    """Give a file its name: of two nodes that write one at the same time, the second is to notice."""
    if check is not None:
        if not os.path.lexists(target):
            try:
                os.link(temporary, target)
            except OSError:
                # Another was quicker, or the file system has no hard links.
                pass
            else:
                os.unlink(temporary)
                return
        check()
    os.replace(temporary, target)


def check_writable(path: str) -> None:
    """Raise the OSError that writing to ``path`` would meet, as far as that can be told before."""
    if _is_direct(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    trial = _temporary(folder)
    temporaries.add(trial)
    try:
        os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise _about(error, path) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(trial)
        temporaries.discard(trial)


def check_replaceable(path: str, kind: str, host_kind: str | None = None) -> None:
    """Raise ForeignFileError when ``path`` holds evidence of another kind; what is none is replaced.

    ``kind`` is SNAPSHOT or RECORDING; a snapshot has to be of the same ``host_kind``, live or replay,
    if one is given.
    """
    if _is_direct(path):
        return
    held = held_by(path)
    if held.kind in (NOTHING, OTHER):
        return
    if held.kind != kind:
        raise _foreign(path, _NAMES[held.kind])
    if host_kind is not None and _host_kind(held.document) != host_kind:
        raise _foreign(path, f"the snapshot of a {'live machine' if host_kind == 'replay' else 'replay'}")


def told(error: OSError, path: str) -> str:
    """Return one line about a write that failed: the path asked for and the system's words."""
    return f"cannot write {path}: {error.strerror or error}"


def _about(error: OSError, path: str) -> OSError:
    return type(error)(error.errno, error.strerror, path)


def _temporary(folder: str) -> str:
    return f"{folder}/.aorta-{os.urandom(6).hex()}.tmp"


def _is_direct(path: str) -> bool:
    """Tell whether ``path`` is a device or pipe.

    Raises the OSError of a path that can be no file: a directory, also one that is not there yet, a
    name that is too long, a link to itself.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = stat.S_IFDIR if os.path.basename(path) in ("", ".", "..") else stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    return not stat.S_ISREG(mode)


def _open_direct(path: str) -> TextIO:
    """Open a device or pipe without waiting for the other side. Raises OSError where there is none."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO and stat.S_ISFIFO(os.stat(path).st_mode):
            raise OSError(errno.ENXIO, "a pipe that nobody reads", path) from None
        raise
    # What is written may wait for a reader that is slow.
    os.set_blocking(descriptor, True)
    return open(descriptor, "w", encoding="utf-8")


def _refuse_foreign(path: str, text: str) -> None:
    after = json.loads(text)
    check_replaceable(path, SNAPSHOT, _host_kind(after))
    if not _is_direct(path) and _are_apart(held_by(path).document, after):
        raise _foreign(path, "the snapshot of another host")


def _foreign(path: str, what: str) -> ForeignFileError:
    return ForeignFileError(errno.EEXIST, f"it holds {what}; --force replaces it", path)


def _host_kind(document: Any) -> str:
    # The 1.x line knew no replays.
    return _member(document, "collection", "host_kind") or "live"


def _are_apart(one: Any, other: Any) -> bool:
    """Tell whether two documents are surely of different machines; false where they do not say.

    Nodes that were made from one image may all have its machine id; Slurm's names tell them apart.
    """
    names = (("host", "machine_digest"), ("launcher", "node"))
    pairs = [(_member(one, *name), _member(other, *name)) for name in names]
    equal = [first == second for first, second in pairs if first and second]
    if equal:
        return not all(equal)
    first, second = _serials(one), _serials(other)
    return bool(first and second) and first.isdisjoint(second)


def _member(document: Any, section: str, name: str) -> Any:
    value = document.get(section) if isinstance(document, dict) else None
    return value.get(name) if isinstance(value, dict) else None


def _serials(document: Any) -> set[str]:
    """Return the serial numbers of the GPUs; one of them may have been replaced, not all."""
    gpus = document.get("gpus") if isinstance(document, dict) else None
    found = [gpu.get("unique_id") for gpu in gpus if isinstance(gpu, dict)] if isinstance(gpus, list) else []
    return {str(serial) for serial in found if serial}
