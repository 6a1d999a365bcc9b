"""What was found out of files before: in this process, and on disk for later ones.

A file is known by device, inode, size, and both of its times in nanoseconds. The time of its last
change (ctime) cannot be set back by ``touch`` or ``cp -p``, so other content is another file. A file
that was changed within the last two seconds is not remembered: a second change could bear the same
time. What a network or a program in user space says of its files is not relied on. On disk there is
one file a boot, since device numbers are given anew at each, and only for file systems of this machine
whose inodes say what they mean.
"""

import contextlib
import json
import os
import stat as modes
import time
from collections.abc import Callable
from typing import Any

from aorta.host.protocol import Entry, Stat

#: Kinds of file system whose files are remembered on disk. Those of an overlay change their identity
#: when they are written to, and what a network says of a file may be a while old.
DURABLE_TYPES = frozenset(
    {"bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "jfs", "squashfs", "tmpfs", "xfs", "zfs"}
)
SETTLED_NS = 2_000_000_000
ENTRY_LIMIT = 200_000
SIZE_LIMIT = 128 << 20

FORMAT = 1
BOOT_ID = "/proc/sys/kernel/random/boot_id"


def key_of(found: Stat | Entry) -> str:
    """Return what a file is known by."""
    return f"{found.dev}:{found.inode}:{found.size}:{found.mtime_ns}:{found.ctime_ns}"


def settled(found: Stat | Entry) -> bool:
    """Tell whether a further change would show in the file's times."""
    return found.ctime_ns <= time.time_ns() - SETTLED_NS


class Memory:
    """Values by kind (``sha256``, ``elf``) and by what a file is known by."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], Any] = {}
        self._durable: dict[str, dict[str, Any]] | None = None
        self._added = False

    def get(self, kind: str, key: str) -> Any:
        """Return what this process found out, or None."""
        return self._values.get((kind, key))

    def stored(self, kind: str, key: str) -> Any:
        """Return what processes before this one found out, or None."""
        return self._durable.get(kind, {}).get(key) if self._durable is not None else None

    def put(self, kind: str, key: str, value: Any, *, durable: bool = False) -> None:
        """Remember a value, a JSON value where it is ``durable``."""
        if len(self._values) >= ENTRY_LIMIT:
            self._values.clear()
        self._values[kind, key] = value
        if durable and self._durable is not None:
            self._durable.setdefault(kind, {})[key] = value
            self._added = True

    def load(self, path: str, boot: str) -> None:
        """Read what other processes left; a file that is not ours or not whole counts as empty."""
        if self._durable is None:
            self._durable = _loaded(path, boot)

    def save(self, path: str, boot: str) -> None:
        """Leave what is durable for other processes, with what they left meanwhile. Raises OSError."""
        if self._durable is None or not self._added:
            return
        merged = _loaded(path, boot)
        for kind, values in self._durable.items():
            known = {**merged.get(kind, {}), **values}
            merged[kind] = dict(list(known.items())[-ENTRY_LIMIT:])
        _make_private(os.path.dirname(path))
        temporary = f"{path}.{os.getpid()}"
        try:
            fd = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            with open(fd, "w", encoding="utf-8") as file:
                json.dump({"aorta": FORMAT, "boot": boot, **merged}, file, separators=(",", ":"))
            os.replace(temporary, path)
        except OSError:
            _unlink(temporary)
            raise
        self._added = False
        _sweep(os.path.dirname(path), os.path.basename(path))


#: What this process remembers.
PROCESS = Memory()


def directory() -> str:
    """Return the directory of the files on disk; it need not exist."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(runtime, "aorta") if runtime.startswith("/") else f"/tmp/aorta-{os.geteuid()}"  # noqa: S108 - private, see _is_ours


def file_of(boot: str) -> str:
    """Return the file of a boot."""
    return os.path.join(directory(), f"digests-{boot}.json")


def _loaded(path: str, boot: str) -> dict[str, dict[str, Any]]:
    try:
        if not _is_ours(os.lstat(os.path.dirname(path)), modes.S_ISDIR):
            return {}
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            found = os.fstat(fd)
            if not _is_ours(found, modes.S_ISREG) or found.st_size > SIZE_LIMIT:
                return {}
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict) or content.get("aorta") != FORMAT or content.get("boot") != boot:
        return {}
    return {kind: values for kind, values in content.items() if isinstance(values, dict)}


def _is_ours(found: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Tell whether nobody else can have written it."""
    return is_kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _make_private(path: str) -> None:
    # Where the directory above is not there, a variable names something else than it should.
    if os.path.isdir(os.path.dirname(path)):
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, mode=0o700)
    found = os.lstat(path)
    if not _is_ours(found, modes.S_ISDIR):
        raise PermissionError(f"{path} may be written by others")


def _sweep(path: str, keep: str) -> None:
    """Remove the files of earlier boots, and what an ended process left half-written."""
    old = time.time() - 3600
    for name in os.listdir(path):
        if not name.startswith("digests-") or name == keep:
            continue
        place = os.path.join(path, name)
        if name.endswith(".json") or os.lstat(place).st_mtime < old:
            _unlink(place)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
