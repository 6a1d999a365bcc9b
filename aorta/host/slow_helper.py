"""File operations as plain functions, and the process that does them where a file system may hang.

The live host calls the functions itself for local files. For all others it runs the text of this
file with ``python -I -S -c TEXT MOUNT_POINT [NESTED...]``, so only the standard library may be
imported here. The process reads one JSON request a line and answers each by one JSON line.
"""

from __future__ import annotations

import binascii
import errno
import json
import operator
import os
import stat as modes
import sys
import time

# typing is a third of what starting this process costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, BinaryIO

    Foreign = Callable[[str], bool]

CHUNK = 128 * 1024
PAGE = 4096
TICK_S = 0.1
_MAX_LINKS = 40

#: How a walk ended: at the path, at a missing or forbidden component, or where it left the mount.
HERE, GONE, AWAY = "here", "gone", "away"

_KINDS = {
    modes.S_IFREG: "file",
    modes.S_IFDIR: "dir",
    modes.S_IFLNK: "link",
    modes.S_IFCHR: "char",
    modes.S_IFBLK: "block",
    modes.S_IFIFO: "fifo",
    modes.S_IFSOCK: "socket",
}


def walk(base: str, rest: str, foreign: Foreign, *, follow: bool = True) -> tuple[str, str]:
    """Resolve ``rest`` from the directory ``base`` without touching what is foreign.

    Returns the path reached and HERE, GONE or AWAY; after AWAY the path still holds what is left
    to be resolved. ``follow`` tells whether a link at the very end is resolved too.
    """
    real, todo, links = base, rest.split("/")[::-1], 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        here = os.path.dirname(real) if part == ".." else f"{real.rstrip('/')}/{part}"
        if foreign(here):
            return "/".join([here.rstrip("/"), *todo[::-1]]), AWAY
        text = None
        if part != ".." and (todo or follow):
            try:
                text = os.readlink(here)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    return here, GONE
        if text is None:
            real = here
            continue
        links += 1
        if links > _MAX_LINKS:
            return here, GONE
        if text.startswith("/"):
            real = "/"
            if foreign("/"):
                return "/".join([text, *todo[::-1]]), AWAY
        todo.extend(text.split("/")[::-1])
    return real, HERE


def _open_regular(path: str) -> tuple[int, int]:
    """Return the descriptor and the size of a regular file."""
    # The look before opening matters: opening a device or a FIFO can block or do something.
    mode = os.stat(path).st_mode
    if modes.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if modes.S_ISREG(mode):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        found = os.fstat(fd)
        if modes.S_ISREG(found.st_mode):
            return fd, found.st_size
        os.close(fd)
    raise OSError(errno.EINVAL, "not a regular file", path)


def read(path: str, limit: int, offset: int = 0) -> bytes:
    """Return up to ``limit`` bytes of a regular file, from ``offset`` on."""
    fd, size = _open_regular(path)
    try:
        if offset:
            os.lseek(fd, offset, os.SEEK_SET)
            size = max(0, size - offset)
        # Files of the kernel do not know their size.
        data = os.read(fd, min(limit, max(size + 1, PAGE)))
        parts, left = [data], limit - len(data)
        while data and left > 0:
            data = os.read(fd, min(left, CHUNK))
            parts.append(data)
            left -= len(data)
        return b"".join(parts)
    finally:
        os.close(fd)


def sha256(path: str, tick: Callable[[], None]) -> str:
    """Return the hexadecimal digest of a regular file; ``tick`` is called between chunks."""
    import hashlib

    digest, buffer = hashlib.sha256(), bytearray(CHUNK)
    view, (fd, _) = memoryview(buffer), _open_regular(path)
    with open(fd, "rb", buffering=0) as file:
        while size := file.readinto(buffer):
            digest.update(view[:size])
            tick()
    return digest.hexdigest()


def nowhere(_path: str) -> bool:
    """Tell of any path that it is not foreign: where no file system may hang."""
    return False


def _kind(mode: int) -> str:
    return _KINDS.get(modes.S_IFMT(mode), "other")


def stat(path: str, *, follow: bool) -> dict[str, Any]:
    """Return the fields of ``aorta.host.protocol.Stat``."""
    found = os.stat(path, follow_symlinks=follow)
    return {
        "kind": _kind(found.st_mode),
        "size": found.st_size,
        "mode": modes.S_IMODE(found.st_mode),
        "uid": found.st_uid,
        "gid": found.st_gid,
        "mtime_ns": found.st_mtime_ns,
        "ctime_ns": found.st_ctime_ns,
        "inode": found.st_ino,
        "dev": found.st_dev,
    }


def scan(path: str, real: str, foreign: Foreign, *, details: bool) -> list[tuple[Any, ...]]:
    """Return the fields of ``aorta.host.protocol.Entry`` of each member in their order, sorted by name.

    ``real`` is the path without links; a member that is foreign is only named. Without ``details``
    the members are not looked at one by one.
    """
    members: list[tuple[Any, ...]] = []
    # Directories of kernels have thousands of members and are listed at every capture: no call for nothing.
    place, anywhere = f"{real.rstrip('/')}/", foreign is not nowhere
    with os.scandir(path) as entries:
        for entry in entries:
            if anywhere and foreign(place + entry.name):
                members.append((entry.name, "dir"))
                continue
            if not details:
                members.append((entry.name, _kind_of(entry)))
                continue
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            kind = _KINDS.get(modes.S_IFMT(found.st_mode), "other")
            times = found.st_mtime_ns, found.st_ctime_ns
            members.append((entry.name, kind, found.st_size, *times, found.st_ino, found.st_dev))
    return sorted(members, key=operator.itemgetter(0))


def _kind_of(entry: os.DirEntry[str]) -> str:
    """Return the kind that the directory itself tells."""
    if entry.is_symlink():
        return "link"
    if entry.is_dir():
        return "dir"
    return "file" if entry.is_file() else _kind(entry.stat(follow_symlinks=False).st_mode)


def perform(request: dict[str, Any], real: str, foreign: Foreign, tick: Callable[[], None]) -> Any:
    """Do one request: ``op``, ``path`` and what the operation needs. Raises OSError."""
    op, path = request["op"], request["path"]
    if op == "read":
        return read(path, request["limit"], request.get("offset", 0))
    if op == "stat":
        return stat(path, follow=request["follow"])
    if op == "scan":
        return scan(path, real, foreign, details=request["details"])
    if op == "sha256":
        return sha256(path, tick)
    if op == "link":
        return os.readlink(path)
    raise OSError(errno.ENOSYS, "unknown operation", path)


def serve(requests: BinaryIO, replies: BinaryIO, base: str, nested: Iterable[str]) -> None:
    """Answer requests about paths at or below ``base`` until there are no more."""
    inside, others = base + "/", frozenset(nested)

    def send(reply: dict[str, Any]) -> None:
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()

    def foreign(path: str) -> bool:
        return path in others or not (path == base or path.startswith(inside))

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        last = [time.monotonic()]

        def tick() -> None:
            if time.monotonic() - last[0] >= TICK_S:
                last[0] = time.monotonic()
                send({"alive": True})

        rest = request["path"][len(base) :]
        real, state = walk(base, rest, foreign, follow=request["follow"])
        if state == AWAY:
            return {"moved": real}
        value = perform(request, real, foreign, tick)
        if isinstance(value, bytes):
            return {"base64": binascii.b2a_base64(value, newline=False).decode()}
        return {"value": value}

    send({"ready": True})
    for line in requests:
        try:
            reply = answer(json.loads(line))
        except OSError as error:
            reply = {"errno": error.errno or errno.EIO, "text": error.strerror or str(error)}
        send(reply)


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer, sys.argv[1], sys.argv[2:])
