"""A made-up file tree: files, links, directories and device nodes, each of which may refuse."""

import errno
import hashlib
import os
import posixpath
from collections.abc import Iterator, Mapping

import attrs

from aorta.host.protocol import READ_LIMIT, Entry, Stat

LINK_LIMIT = 40


@attrs.frozen(kw_only=True)
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
        todo = [part for part in path.split("/") if part][::-1]
        at, links = "/", 0
        while todo:
            part = todo.pop()
            if part == ".":
                continue
            if part == "..":
                at = posixpath.dirname(at)
                continue
            here = posixpath.join(at, part)
            node = self.nodes.get(here)
            if node is None:
                code = errno.ENOENT if self.nodes[at].kind == "dir" else errno.ENOTDIR
                raise refused(code, path)
            if node.refusal is not None and (todo or node.kind == "link"):
                raise node.refusal
            if node.kind != "link" or not (follow or todo):
                at = here
                continue
            links += 1
            if links > LINK_LIMIT:
                raise refused(errno.ELOOP, path)
            if node.target.startswith("/"):
                at = "/"
            todo.extend(part for part in node.target.split("/")[::-1] if part)
        return at, self.nodes[at]

    def bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return the first bytes of a file."""
        node = self._open(path)
        if node.kind == "dir":
            raise refused(errno.EISDIR, path)
        return node.content[:limit]

    def _open(self, path: str) -> Node:
        node = self.locate(path)[1]
        if node.refusal is not None:
            raise node.refusal
        return node

    def link(self, path: str) -> str:
        """Return the text of a link."""
        node = self.locate(path, follow=False)[1]
        if node.refusal is not None:
            raise node.refusal
        if node.kind != "link":
            raise refused(errno.EINVAL, path)
        return node.target

    def stat(self, path: str, *, follow: bool = True) -> Stat:
        """Return what a path is. A file that refuses to be opened can still be looked at."""
        real, node = self.locate(path, follow=follow)
        if node.refusal is not None and node.kind == "missing":
            raise node.refusal
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
            raise node.refusal
        if node.kind != "dir":
            raise refused(errno.ENOTDIR, path)
        return [self._entry(real, name) for name in sorted(self._members.get(real, ()))]

    def _entry(self, parent: str, name: str) -> Entry:
        path = posixpath.join(parent, name)
        node = self.nodes[path]
        return Entry(name=name, kind=node.kind, size=len(node.content), inode=self._inode(path))

    @staticmethod
    def _inode(path: str) -> int:
        return int.from_bytes(hashlib.blake2s(path.encode("utf-8", "surrogateescape"), digest_size=6).digest(), "big")

    def paths(self) -> Iterator[str]:
        """Yield all paths, sorted."""
        yield from sorted(self.nodes)
