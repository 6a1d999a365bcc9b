"""What is mounted, and which of it may hang. Pure: text in, answers out."""

import re
from collections.abc import Iterable

from aorta.host.local_types import LOCAL_TYPES
from aorta.model.frozen import frozen

_NUMBER = re.compile(r"[0-9]{1,20}")
_ESCAPE = re.compile(r"\\([0-7]{3})")
_FIXED_FIELDS = 6
_TAIL_FIELDS = 3


@frozen
class Mount:
    """One line of ``/proc/self/mountinfo``; texts are unescaped, options are split at commas."""

    mount_id: int
    parent_id: int
    major_minor: str
    root: str
    mount_point: str
    options: tuple[str, ...]
    fs_type: str
    source: str
    super_options: tuple[str, ...]


def parse_mountinfo(text: str) -> list[Mount]:
    """Return the mounts in the order of the text; lines that are not mounts are left out."""
    mounts = (_parse_line(line) for line in text.split("\n"))
    return [mount for mount in mounts if mount is not None]


def _parse_line(line: str) -> Mount | None:
    head, separator, tail = line.partition(" - ")
    fields, ending = head.split(" "), tail.split(" ")
    if not separator or len(fields) < _FIXED_FIELDS or len(ending) < _TAIL_FIELDS:
        return None
    if not (_NUMBER.fullmatch(fields[0]) and _NUMBER.fullmatch(fields[1])):
        return None
    return Mount(
        mount_id=int(fields[0]),
        parent_id=int(fields[1]),
        major_minor=fields[2],
        root=_unescape(fields[3]),
        mount_point=_unescape(fields[4]),
        options=tuple(fields[5].split(",")),
        fs_type=_unescape(ending[0]),
        source=_unescape(ending[1]),
        super_options=tuple(_unescape(" ".join(ending[2:])).split(",")),
    )


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)


class MountTable:
    """The mounts that can be reached by a path, and which of them may hang.

    ``trusted`` are device numbers (``major:minor``) that count as local whatever their kind is.
    """

    def __init__(self, mounts: Iterable[Mount], trusted: Iterable[str] = ()) -> None:
        mounts = list(mounts)
        identities = {mount.mount_id for mount in mounts}
        self._children = {(self._parent(mount, identities), mount.mount_point): mount for mount in mounts}
        root = self.holder("/")
        self._trusted = {*trusted, *([root.major_minor] if root else [])}
        slow = [mount for mount in mounts if self._may_hang(mount)]
        #: Mount points that may hang, without those that another mount covers.
        self.slow: dict[str, Mount] = {
            mount.mount_point: mount for mount in slow if self.holder(mount.mount_point) is mount
        }

    @staticmethod
    def _parent(mount: Mount, identities: set[int]) -> int | None:
        is_root = mount.parent_id == mount.mount_id or mount.parent_id not in identities
        return None if is_root else mount.parent_id

    def _may_hang(self, mount: Mount) -> bool:
        return mount.fs_type not in LOCAL_TYPES and mount.major_minor not in self._trusted

    def holder(self, path: str) -> Mount | None:
        """Return the mount that holds an absolute path without links, or None."""
        mount = self._enter(None, "/")
        end = 0
        while end < len(path):
            end = path.find("/", end + 1)
            end = len(path) if end < 0 else end
            mount = self._enter(mount, path[:end])
        return mount

    def _enter(self, mount: Mount | None, point: str) -> Mount | None:
        """Return the topmost mount on ``point``, seen from ``mount``."""
        while True:
            child = self._children.get((mount.mount_id if mount else None, point))
            if child is None or child is mount:
                return mount
            mount = child

    def slow_holder(self, path: str) -> str | None:
        """Return the innermost mount point that may hang among a path's prefixes, or None."""
        while path not in self.slow:
            path = path.rpartition("/")[0]
            if not path:
                return None
        return path
