"""A made-up file tree: files, links, directories and device nodes, each of which may refuse."""

import errno
import hashlib
import os
import posixpath
from collections.abc import Iterator, Mapping

from aorta.host.protocol import READ_LIMIT, Entry, Stat
from aorta.model.frozen import frozen

LINK_LIMIT = 40
NAME_LIMIT = 255
PATH_LIMIT = 4095


@frozen
class Node:
    """One path. ``refusal`` is what every access raises; ``content`` is a file's, ``target`` a link's."""

    kind: str
    content: bytes = b""
    target: str = ""
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    refusal: OSError | None = None


def refused(number: int, path: str) -> OSError:
    """Return the error that a system call gives for an error number; ETIMEDOUT is a TimeoutError."""
    return OSError(number, os.strerror(number), path)


class Tree:
    """Paths and what they are. Directories that lead to a path exist by themselves."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self.nodes: dict[str, Node] = {"/": Node(kind="dir", mode=0o755)}
        self._members: dict[str, set[str]] = {}
        for path, node in nodes.items():
            if not path.startswith("/"):
                raise ValueError(f"{path!r}: the paths of a made-up machine begin with /")
            self._put(posixpath.normpath(path), node)

    def _put(self, path: str, node: Node) -> None:
        self.nodes[path] = node
        while path != "/":
            parent, name = posixpath.split(path)
            self._members.setdefault(parent, set()).add(name)
            self.nodes.setdefault(parent, Node(kind="dir", mode=0o755))
            path = parent

    def locate(self, path: str, *, follow: bool = True) -> tuple[str, Node]:
        """Return the real path and its node. Raises the OSError that the kernel would."""
        _check(path)
        todo = _parts(path)
        at, links = "/", 0
        while todo:
            part = todo.pop()
            self._check_directory(at, path)
            if part in ("", "."):
                continue
            if part == "..":
                at = posixpath.dirname(at)
                continue
            here = posixpath.join(at, part)
            node = self.nodes.get(here)
            if node is None:
                raise refused(
                    errno.ENOENT if len(os.fsencode(part)) <= NAME_LIMIT else errno.ENAMETOOLONG, path
                )
            if node.refusal is not None and (
                node.kind == "missing" or (node.kind == "link" and (follow or todo))
            ):
                raise node.refusal.with_traceback(None)
            if node.kind != "link" or not (follow or todo):
                at = here
                continue
            links += 1
            if links > LINK_LIMIT:
                raise refused(errno.ELOOP, path)
            if node.target.startswith("/"):
                at = "/"
            todo.extend(_parts(node.target))
        return at, self.nodes[at]

    def _check_directory(self, at: str, path: str) -> None:
        node = self.nodes[at]
        if node.refusal is not None:
            raise node.refusal.with_traceback(None)
        if node.kind != "dir":
            raise refused(errno.ENOTDIR, path)

    def bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return the first bytes of a regular file; nothing else is opened, as on a live host."""
        node = self.locate(path)[1]
        if node.refusal is not None:
            raise node.refusal.with_traceback(None)
        if node.kind == "dir":
            raise refused(errno.EISDIR, path)
        if node.kind != "file":
            raise OSError(errno.EINVAL, "not a regular file", path)
        return node.content[:limit]

    def link(self, path: str) -> str:
        """Return the text of a link."""
        node = self.locate(path, follow=False)[1]
        if node.refusal is not None:
            raise node.refusal.with_traceback(None)
        if node.kind != "link":
            raise refused(errno.EINVAL, path)
        return node.target

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        """Return what a path is. A file that refuses to be opened can still be looked at."""
        real, node = self.locate(path, follow=follow)
        return Stat(
            kind=node.kind,
            size=len(node.content),
            mode=node.mode,
            uid=node.uid,
            gid=node.gid,
            inode=self._inode(real),
        )

    def scan(self, path: str) -> list[Entry]:
        """Return the members of a directory."""
        real, node = self.locate(path)
        if node.refusal is not None:
            raise node.refusal.with_traceback(None)
        if node.kind != "dir":
            raise refused(errno.ENOTDIR, path)
        return [self._entry(real, name) for name in sorted(self._members.get(real, ()))]

    def _entry(self, parent: str, name: str) -> Entry:
        path = posixpath.join(parent, name)
        node = self.nodes[path]
        return Entry(name=name, kind=node.kind, size=len(node.content), inode=self._inode(path))

    @staticmethod
    def _inode(path: str) -> int:
        return int.from_bytes(
            hashlib.blake2s(path.encode("utf-8", "surrogateescape"), digest_size=6).digest(), "big"
        )

    def paths(self) -> Iterator[str]:
        """Yield all paths, sorted."""
        yield from sorted(self.nodes)


def _check(path: str) -> None:
    if "\0" in path:
        raise OSError(errno.EINVAL, "a NUL byte in the path", path)
    if not path:
        raise refused(errno.ENOENT, path)
    if len(os.fsencode(path)) > PATH_LIMIT:
        raise refused(errno.ENAMETOOLONG, path)


def _parts(path: str) -> list[str]:
    """Return the components, last first. A slash at the end is a component: what is before is a directory."""
    parts = [part for part in path.split("/") if part]
    return [*parts, ""][::-1] if parts and path.endswith("/") else parts[::-1]
