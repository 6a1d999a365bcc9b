"""Following symbolic links by hand, so that a dangling one still says where it points."""

import posixpath

from aorta.collect import Answer, Context, Stat
from aorta.model.vocabulary import ReasonKind

LINK_LIMIT = 40


def resolve(ctx: Context, path: str) -> Answer[str]:
    """Return the real path behind an absolute path.

    Where something on the way is missing or refuses, the answer has that kind and its subject is the
    place: for a dangling link the place that it leads to.
    """
    todo = [part for part in path.split("/") if part not in ("", ".")][::-1]
    at, links = "/", 0
    while todo:
        part = todo.pop()
        if part == "..":
            at = posixpath.dirname(at)
            continue
        here = posixpath.join(at, part)
        seen = ctx.stat(here, follow=False)
        if seen.value is None:
            return seen.failure
        if seen.value.kind != "link":
            at = here
            continue
        target = ctx.link(here)
        if target.value is None:
            return target
        links += 1
        if links > LINK_LIMIT:
            return Answer(
                kind=ReasonKind.FAILED, subject=path, detail=f"{path}: more than {LINK_LIMIT} links"
            )
        if target.value.startswith("/"):
            at = "/"
        todo.extend(part for part in target.value.split("/")[::-1] if part not in ("", "."))
    return Answer(value=at, subject=path)


def is_one_file(first: Answer[Stat], second: Answer[Stat]) -> bool:
    """Tell whether two looks were at one file or directory."""
    one, two = first.value, second.value
    return one is not None and two is not None and 0 < one.inode == two.inode and one.dev == two.dev


def absolute(ctx: Context, path: str) -> Answer[str]:
    """Return a path made absolute by its text alone; a relative one counts from the working directory."""
    if path.startswith("/"):
        return Answer(value=posixpath.normpath("/" + path.lstrip("/")), subject=path)
    here = ctx.link("/proc/self/cwd")
    if here.value is None:
        # That nobody tells the directory does not make the path absent.
        kind = ReasonKind.BLOCKED if here.absent else here.kind
        return Answer(kind=kind, subject=path, detail=f"{path} is relative, and {here.detail}")
    if here.value.endswith(" (deleted)"):
        return Answer(
            kind=ReasonKind.ABSENT, subject=path, detail=f"{path} is relative to a deleted directory"
        )
    return Answer(value=posixpath.normpath(posixpath.join(here.value, path)), subject=path)
