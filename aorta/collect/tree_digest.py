"""The content of a directory: its files, their digests, and one digest over all of them."""

import hashlib
import posixpath
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aorta.collect.answer import Answer
from aorta.collect.digests import FULL, IDENTITY
from aorta.host.protocol import Entry
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind

if TYPE_CHECKING:
    from aorta.collect.context import Context

Chosen = Callable[[str], bool]

#: What a digest over several files begins with, by how each of them was looked at.
PREFIXES = {FULL: "content-sha256", IDENTITY: "content-identity-sha256"}


@frozen
class TreeFile:
    """One file: its name from the directory on (``gfx942/x.co``) and what its content comes to.

    ``size`` is in bytes, of what a link leads to; null where that could not be looked at.
    """

    name: str
    size: int | None
    digest: Answer[str]


@frozen
class TreeDigest:
    """The chosen files of a directory by name. ``unlisted`` are its directories that would not list."""

    path: str
    method: str
    files: tuple[TreeFile, ...] = ()
    unlisted: tuple[Answer[Any], ...] = ()

    def trouble(self) -> Answer[Any] | None:
        """Return the first answer that makes the whole unknown, or None."""
        if self.unlisted:
            return self.unlisted[0]
        return next((file.digest for file in self.files if not file.digest.ok), None)

    def combined(self) -> Answer[str]:
        """Return one digest over names and contents, or why there is none: part of them is not all."""
        trouble = self.trouble()
        if trouble is not None:
            return Answer(kind=trouble.kind, subject=trouble.subject, detail=trouble.detail)
        prefix = PREFIXES.get(self.method)
        if prefix is None:
            text = f"{self.path}: left out by --digests {self.method}"
            return Answer(kind=ReasonKind.NOT_REQUESTED, subject=self.path, detail=text)
        lines = "\n".join(f"{_plain(file.name)}\t{file.digest.value}" for file in self.files)
        return Answer(value=f"{prefix}:{_hex(lines)}", subject=self.path)


def names_digest(names: Iterable[str]) -> str:
    """Return ``filenames-sha256:HEX`` over the sorted names."""
    return f"filenames-sha256:{_hex(chr(10).join(map(_plain, sorted(names))))}"


def _plain(name: str) -> str:
    """Return a name without tabs and line ends, so that no name reads like several."""
    if "\t" not in name and "\n" not in name:
        return name
    # No other name begins with a slash.
    return "/" + name.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def digest_tree(ctx: "Context", path: str, members: Chosen, descend: Chosen) -> Answer[TreeDigest]:
    """Return the digests of the chosen files of a directory and, one level down, of chosen directories."""
    listed = ctx.scan(path, details=True)
    if listed.value is None:
        return Answer(kind=listed.kind, subject=listed.subject, detail=listed.detail)
    unlisted: list[Answer[Any]] = []
    found = sorted(_chosen(ctx, path, listed.value, members, descend, unlisted), key=lambda each: each[0])
    method = ctx.digest_method(path)
    prefix = path.rstrip("/") + "/"
    wanted = [(prefix + name, entry if entry.kind == "file" else None) for name, entry in found]
    answers = ctx.digests(wanted, method)
    files = tuple(
        TreeFile(name=name, size=_size(ctx, place, entry), digest=_listed(answer))
        for (name, entry), (place, _), answer in zip(found, wanted, answers, strict=True)
    )
    return Answer(
        value=TreeDigest(path=path, method=method, files=files, unlisted=tuple(unlisted)), subject=path
    )


def _chosen(
    ctx: "Context",
    path: str,
    entries: Iterable[Entry],
    members: Chosen,
    descend: Chosen,
    unlisted: list[Answer[Any]],
) -> Iterator[tuple[str, Entry]]:
    for entry in entries:
        if entry.kind != "dir" and members(entry.name):
            yield entry.name, entry
        elif entry.kind in ("dir", "link") and descend(entry.name):
            inner = ctx.scan(posixpath.join(path, entry.name), details=True)
            if inner.value is None:
                # A link that leads to a file, or to nothing, is no directory of files.
                if not (inner.absent and entry.kind == "link"):
                    unlisted.append(inner)
                continue
            for member in inner.value:
                if member.kind != "dir" and members(member.name):
                    yield f"{entry.name}/{member.name}", member


def _listed(answer: Answer[str]) -> Answer[str]:
    """Return the answer; that a name of the listing leads nowhere contradicts the listing."""
    if not answer.absent:
        return answer
    detail = f"{answer.subject}: its directory names it, and there is nothing"
    return Answer(kind=ReasonKind.EXPECTED, subject=answer.subject, detail=detail)


def _size(ctx: "Context", path: str, entry: Entry) -> int | None:
    if entry.kind == "file":
        return entry.size
    found = ctx.stat(path).value
    return found.size if found is not None and found.kind == "file" else None
