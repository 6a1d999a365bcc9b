"""What was found out of files before: in this process, and on disk for later ones.

A file is known by device, inode, size, and both of its times in nanoseconds. The time of its last
change (ctime) cannot be set back by ``touch`` or ``cp -p``, so other content is another file; only of a
file that is mapped for writing the kernel may stamp just the first of several changes. A file that was
changed within the last two seconds is not remembered: a second change could bear the same time. What a
network, a program in user space or an image says of its files is not relied on. On disk there is one
file a boot, since device numbers are given anew at each.
"""

import contextlib
import json
import os
import stat as modes
import time
from collections.abc import Callable
from typing import Any

from aorta.host.protocol import Entry, Stat

#: Kinds of file system whose files are remembered on disk: this kernel sets their times and numbers
#: when it writes them. In an image (squashfs, erofs, iso9660) whoever made it did, a network or a program
#: in user space says what it likes, and vfat has none.
DURABLE_TYPES = frozenset({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "tmpfs", "xfs", "zfs"})
#: Those whose files are remembered in the process alone: an overlay is mounted anew for each container.
TRUSTED_TYPES = DURABLE_TYPES | {"overlay"}
SETTLED_NS = 2_000_000_000
ENTRY_LIMIT = 100_000
SIZE_LIMIT = 24 << 20

FORMAT = 1
OVERFLOW_UID = 65534
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
        #: Whole directories whose digests were all remembered, by what was asked of them.
        self.trees: dict[Any, Any] = {}
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
        text = json.dumps({"aorta": FORMAT, "boot": boot, **merged}, separators=(",", ":"))
        if len(text) > SIZE_LIMIT:
            return
        _make_private(os.path.dirname(path))
        # Not the process's number: another namespace may have a process of the same.
        temporary = f"{path}.{os.urandom(8).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(temporary, flags, 0o600)
        try:
            with open(fd, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(temporary, path)
        except OSError:
            _unlink(temporary)
            raise
        self._added = False
        _sweep(os.path.dirname(path), os.path.basename(path))


#: What this process remembers.
PROCESS = Memory()


def directory() -> str | None:
    """Return the directory of the files on disk, which need not exist; None where nothing may be kept.

    A runtime directory in the home directory is no node's own: homes are shared by many.
    """
    runtime, home = os.environ.get("XDG_RUNTIME_DIR", ""), os.environ.get("HOME", "").rstrip("/")
    if not runtime.startswith("/"):
        return f"/tmp/aorta-{os.geteuid()}"  # noqa: S108 - private, see _is_ours
    if home and f"{runtime}/".startswith(f"{home}/"):
        return None
    return os.path.join(runtime, "aorta")


def file_of(place: str, boot: str) -> str:
    """Return the file of a boot in a directory."""
    return os.path.join(place, f"digests-{boot}.json")


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
    # All users that a user namespace lacks have one number in it.
    own = found.st_uid == os.geteuid() != OVERFLOW_UID
    return is_kind(found.st_mode) and own and not found.st_mode & 0o022


def _make_private(path: str) -> None:
    # Where the directory above is not there or another user's, a variable names what it should not.
    above = os.path.dirname(path)
    if os.path.isdir(above) and (above == "/tmp" or os.stat(above).st_uid == os.geteuid()):  # noqa: S108
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
