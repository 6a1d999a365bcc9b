"""The content of a directory: its files, their digests, and one digest over all of them."""

import functools
import hashlib
import posixpath
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aorta.collect.answer import Answer
from aorta.collect.digests import FULL, IDENTITY, Digests
from aorta.host.protocol import Entry
from aorta.model.frozen import frozen
from aorta.model.snapshot import DigestCount
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
        return self._combined

    @functools.cached_property
    def _combined(self) -> Answer[str]:
        trouble = self.trouble()
        if trouble is not None:
            return trouble.failure
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


def digest_tree(
    ctx: "Context", engine: Digests, path: str, members: Chosen, descend: Chosen
) -> Answer[TreeDigest]:
    """Return the digests of the chosen files of a directory and, one level down, of chosen directories."""
    listed = ctx.scan(path, details=True)
    if listed.value is None:
        return listed.failure
    inner = _inner(ctx, path, listed.value, descend)
    method, question = ctx.digest_method(path), (path, members, descend)
    listings = [listed.value, *(answer.value for _, answer in inner if answer.value is not None)]
    known: TreeDigest | None = engine.known_tree(question, listings) if method == FULL else None
    if known is not None:
        count = ctx.digest_count
        ctx.digest_count = DigestCount(hashed=count.hashed, remembered=count.remembered + len(known.files))
        return Answer(value=known, subject=path)
    unlisted = tuple(answer for _, answer in inner if answer.value is None)
    found = sorted(_chosen(listed.value, inner, members), key=lambda each: each[0])
    prefix = path.rstrip("/") + "/"
    wanted = [(prefix + name, entry if entry.kind == "file" else None) for name, entry in found]
    hashed = ctx.digest_count.hashed
    answers = ctx.digests(wanted, method)
    files = tuple(
        TreeFile(name=name, size=_size(ctx, place, entry), digest=_listed(answer))
        for (name, entry), (place, _), answer in zip(found, wanted, answers, strict=True)
    )
    tree = TreeDigest(path=path, method=method, files=files, unlisted=unlisted)
    whole = not unlisted and all(entry.kind == "file" for _, entry in found)
    if whole and ctx.digest_count.hashed == hashed and tree.combined().ok and method == FULL:
        engine.remember_tree(question, listings, tree)
    return Answer(value=tree, subject=path)


def _inner(
    ctx: "Context", path: str, entries: Iterable[Entry], descend: Chosen
) -> list[tuple[str, Answer[list[Entry]]]]:
    """Return the chosen directories and their listings; a link that leads to no directory is none."""
    listed = []
    for entry in entries:
        if entry.kind in ("dir", "link") and descend(entry.name):
            answer = ctx.scan(posixpath.join(path, entry.name), details=True)
            if answer.value is not None or not (answer.absent and entry.kind == "link"):
                listed.append((entry.name, answer))
    return listed


def _chosen(
    entries: Iterable[Entry], inner: Iterable[tuple[str, Answer[list[Entry]]]], members: Chosen
) -> Iterator[tuple[str, Entry]]:
    """Yield the chosen files by name; a directory that was entered is no file."""
    entered = {name for name, _ in inner}
    for entry in entries:
        if entry.kind != "dir" and entry.name not in entered and members(entry.name):
            yield entry.name, entry
    for folder, answer in inner:
        for member in answer.value or ():
            if member.kind != "dir" and members(member.name):
                yield f"{folder}/{member.name}", member


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
