"""The commits that are checked out in the source tree of torch, as git tells them."""

import functools
import posixpath
import re
from typing import Any

from aorta.collect import Answer, CommandAnswer, Context
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.pytorch.model import SUBMODULES, InstallKind, SubmoduleCommits
from aorta_collectors.pytorch.source_tree import THIRD_PARTY, SourceTree

#: With one of these git answers for another repository than the one in the directory it is sent to.
ELSEWHERE = ("GIT_DIR", "GIT_COMMON_DIR")


def submodule_commits(ctx: Context, tree: SourceTree) -> SubmoduleCommits:
    """Return the commits of the submodules; notes against submodule_commits what is not known."""
    trouble = _unanswerable(ctx, tree)
    if trouble is not None or tree.path is None:
        ctx.take(trouble or tree.gap, "submodule_commits")
        return SubmoduleCommits()
    top = tree.path
    places = {name: posixpath.join(top, THIRD_PARTY, name) for name in SUBMODULES}
    looked = {name: ctx.stat(place) for name, place in places.items()}
    asked = [
        name for name, answer in looked.items() if answer.value is not None and answer.value.kind == "dir"
    ]
    own, names, *answers = ctx.commands(
        _ask(top),
        ("git", "-C", top, "ls-tree", "HEAD", *(f"{THIRD_PARTY}/{name}" for name in SUBMODULES)),
        *(_ask(places[name]) for name in asked),
    )
    commits: dict[str, Answer[str]] = {name: _no_directory(answer) for name, answer in looked.items()}
    commits |= {name: checked_out(answer, places[name]) for name, answer in zip(asked, answers, strict=True)}
    told = {name: ctx.take(answer, f"submodule_commits.{name}") for name, answer in commits.items()}
    return SubmoduleCommits(
        **told,
        _source="git" if any(told.values()) else None,
        superproject=ctx.take(checked_out(own, top), "submodule_commits.superproject"),
        recorded=_recorded(ctx, names, top),
    )


def _no_directory(looked: Answer[Any]) -> Answer[str]:
    """Return why there is no directory that git could be sent to."""
    if looked.ok:
        detail = f"{looked.subject}: no directory"
        return Answer(kind=ReasonKind.ABSENT, subject=looked.subject, detail=detail)
    return looked.failure


def _ask(place: str) -> tuple[str, ...]:
    # The prefix tells whether the directory is the top of a checkout of its own.
    return ("git", "-C", place, "rev-parse", "--show-prefix", "HEAD")


def _unanswerable(ctx: Context, tree: SourceTree) -> Answer[Any] | None:
    """Return why git need not be asked, None where it is to be."""
    if tree.path is None and tree.install_kind is InstallKind.WHEEL:
        commit = tree.torch_commit
        where = f"commit {commit}" if commit else "the commit that it was built from"
        text = f"an installed copy holds no submodules: see {THIRD_PARTY} of {where} in its repository"
        return Answer(kind=ReasonKind.ABSENT, subject="torch", detail=text)
    if tree.path is None:
        return None
    for name in ELSEWHERE:
        if ctx.env(name) is not None:
            text = f"{name} is set, so that git answers for that repository: unset it"
            return Answer(kind=ReasonKind.UNSUPPORTED, subject=name, detail=text)
    return None


def checked_out(answer: CommandAnswer, place: str) -> Answer[str]:
    """Return the commit that git tells of a checkout whose top is ``place``."""
    if not answer.ok:
        return _refused(answer, place)
    try:
        return Answer(value=parse_checkout(answer.stdout), subject=place)
    except NotOwnError as error:
        text = f"{place}: no checkout of its own but {error} of another: not initialised, or a plain copy"
        return Answer(kind=ReasonKind.ABSENT, subject=place, detail=text)
    except ValueError as error:
        return Answer(kind=ReasonKind.UNPARSED, subject=place, detail=f"{answer.subject}: {error}")


class NotOwnError(ValueError):
    """The commit is that of a repository further up; the text is where in it."""


@functools.cache
def _commit() -> "re.Pattern[str]":
    return re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def parse_checkout(text: str) -> str:
    """Return the commit that ``rev-parse --show-prefix HEAD`` tells of the top of a checkout.

    Raises NotOwnError where git answered for a directory further up, ValueError for any other answer.
    """
    prefix, _, rest = text.partition("\n")
    commit = rest.strip()
    if not _commit().fullmatch(commit):
        raise ValueError(f"no commit: {text[:100]!r}")
    if prefix.strip():
        raise NotOwnError(prefix.strip()[:200])
    return commit


def parse_recorded(text: str) -> dict[str, str]:
    """Return the commits of submodules that ``ls-tree`` tells, by the last part of their paths."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(r"160000 commit (\w{40,64})\t(?:[^\t]{0,200}/)?([^\t/]{1,80})", line)
        if match is not None and _commit().fullmatch(match[1]):
            found[match[2]] = match[1]
    return found


def _recorded(ctx: Context, answer: CommandAnswer, top: str) -> dict[str, str | None] | None:
    if not answer.ok:
        ctx.take(_refused(answer, top), "submodule_commits.recorded")
        return None
    found = parse_recorded(answer.stdout)
    for name in SUBMODULES:
        if name not in found:
            text = f"{top}: its commit names no submodule {THIRD_PARTY}/{name}"
            ctx.note(ReasonKind.ABSENT, f"submodule_commits.recorded.{name}", text, subject=top)
    return {name: found.get(name) for name in SUBMODULES}


def _refused(answer: CommandAnswer, place: str) -> Answer[Any]:
    """Return why git told nothing, in its own words where it is about whose directory it is."""
    errors = answer.value.stderr if answer.value is not None else ""
    said = re.search(r"fatal: [^\n]{1,300}", errors)
    words = said[0] if said is not None else ""
    if "dubious ownership" in words or "unsafe repository" in words:
        owned = re.search(r"'(/[^'\n]+)'", words)
        hint = f"git config --global --add safe.directory {owned[1] if owned is not None else place}"
        return Answer(kind=ReasonKind.DENIED, subject=place, detail=f"{words}; allow it with: {hint}")
    if "not a git repository" in words:
        return Answer(kind=ReasonKind.ABSENT, subject=place, detail=f"{place}: no git repository")
    if "Permission denied" in words:
        return Answer(kind=ReasonKind.DENIED, subject=place, detail=words)
    return answer.failure
