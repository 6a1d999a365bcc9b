"""How torch was installed, where the tree is that it was built from, and the commits in it."""

import functools
import posixpath
import re
from collections.abc import Sequence
from typing import Any

from aorta.collect import Answer, CommandAnswer, Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.packages.direct_url import editable_project
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.pytorch import SOURCE_VARIABLE
from aorta_collectors.pytorch.model import SUBMODULES, InstallKind, SubmoduleCommits
from aorta_collectors.tree.links import is_one_file

THIRD_PARTY = "third_party"

#: With one of these git answers for another repository than the one in the directory it is sent to.
ELSEWHERE = ("GIT_DIR", "GIT_COMMON_DIR")


@frozen
class SourceTree:
    """How torch was installed; ``path`` is the top of its source tree, null where ``gap`` says why.

    ``torch_commit`` is the commit that torch itself says it was built from.
    """

    install_kind: InstallKind | None = None
    path: str | None = None
    gap: Answer[Any] = Answer(kind=ReasonKind.ABSENT, subject="torch", detail="no torch")
    torch_commit: str | None = None


def source_tree(ctx: Context, torch: TorchFacts) -> SourceTree:
    """Return how torch was installed; notes against install_kind and source_path what is not known.

    A tree that the caller names counts whether or not there is a torch.
    """
    unseen: list[Answer[Any]] = []
    kind, path = _found(ctx, torch, unseen)
    for answer in unseen:
        ctx.take(answer, "source_path")
    gap = _gap(torch, kind, unseen)
    if path is None and not unseen:
        ctx.take(gap, "source_path")
    if kind is None or (kind is InstallKind.UNKNOWN and not unseen):
        ctx.take(gap, "install_kind")
    return SourceTree(install_kind=kind, path=path, gap=gap, torch_commit=torch.text("git_version"))


def _found(
    ctx: Context, torch: TorchFacts, unseen: list[Answer[Any]]
) -> tuple[InstallKind | None, str | None]:
    """Return kind and source tree; what could not be looked at on the way is added to ``unseen``."""
    named = _named(ctx, unseen)
    if named is not None:
        return InstallKind.SOURCE, named
    if torch.package is None:
        return None, None
    editable = editable_project(torch.distribution.direct_url if torch.distribution else None)
    if editable is not None and _same(ctx, posixpath.join(editable, "torch"), torch.package, unseen):
        return InstallKind.EDITABLE, editable
    beside = _metadata_beside(ctx, torch, unseen)
    above = None if beside == ".dist-info" else _above(ctx, torch.package, unseen)
    if above is not None:
        return InstallKind.SOURCE, above
    if beside is None or editable is not None or unseen:
        return InstallKind.UNKNOWN, None
    return InstallKind.WHEEL, None


def _named(ctx: Context, unseen: list[Answer[Any]]) -> str | None:
    """Return the tree that the caller names, if there is one; a name that leads nowhere is told."""
    named = ctx.env(SOURCE_VARIABLE)
    if not named:
        return None
    if not named.startswith("/"):
        text = f"{SOURCE_VARIABLE}={named} is no absolute path, so it is not used"
        ctx.note(ReasonKind.UNSUPPORTED, "source_path", text, subject=SOURCE_VARIABLE)
        return None
    path = posixpath.normpath(named)
    if _is_directory(ctx, posixpath.join(path, THIRD_PARTY), unseen):
        return path
    if not unseen:
        text = f"{SOURCE_VARIABLE}={named} has no directory {THIRD_PARTY}, so it is not used"
        ctx.note(ReasonKind.ABSENT, "source_path", text, subject=SOURCE_VARIABLE)
    return None


def _above(ctx: Context, package: str, unseen: list[Answer[Any]]) -> str | None:
    """Return the source tree that a package lies in."""
    parent = posixpath.dirname(package)
    for place in (parent, posixpath.dirname(parent)):
        if _is_directory(ctx, posixpath.join(place, THIRD_PARTY), unseen) and _exists(
            ctx, posixpath.join(place, ".git"), unseen
        ):
            return place
    return None


def _metadata_beside(ctx: Context, torch: TorchFacts, unseen: list[Answer[Any]]) -> str | None:
    """Return how the metadata directory of this very torch ends; what lies elsewhere is another one's."""
    metadata = torch.distribution
    if metadata is None or torch.package is None:
        return None
    place, ending = posixpath.dirname(metadata.path), posixpath.splitext(metadata.path)[1]
    # A host may know the metadata without saying where they are.
    if metadata.path and not _same(ctx, place, posixpath.dirname(torch.package), unseen):
        return None
    return ending or ".dist-info"


def _is_directory(ctx: Context, path: str, unseen: list[Answer[Any]]) -> bool:
    looked = ctx.stat(path)
    if not looked.ok and not looked.absent:
        unseen.append(looked)
    return looked.value is not None and looked.value.kind == "dir"


def _exists(ctx: Context, path: str, unseen: list[Answer[Any]]) -> bool:
    looked = ctx.stat(path)
    if not looked.ok and not looked.absent:
        unseen.append(looked)
    return looked.ok


def _same(ctx: Context, one: str, other: str, unseen: list[Answer[Any]]) -> bool:
    """Tell whether two paths are one directory."""
    if one == other:
        return True
    looks = [ctx.stat(one), ctx.stat(other)]
    unseen += [look for look in looks if not look.ok and not look.absent]
    return is_one_file(*looks)


def _gap(torch: TorchFacts, kind: InstallKind | None, unseen: Sequence[Answer[Any]]) -> Answer[Any]:
    """Return why there is no source tree."""
    if unseen:
        return unseen[0]
    if kind is None:
        return torch.told("version")
    place = torch.package
    if kind is InstallKind.WHEEL:
        text = f"{place}: an installed copy, which has no source tree"
        return Answer(kind=ReasonKind.ABSENT, subject=place, detail=text)
    metadata = torch.distribution
    if metadata is None:
        text = f"{place}: no metadata say how it was installed, as in link trees"
    elif (other := editable_project(metadata.direct_url)) is not None:
        text = f"{place}: the metadata are those of an editable install of {other}, which this copy is not"
    else:
        text = f"{place}: the metadata found for torch, {metadata.path}, are not of this copy"
    return Answer(kind=ReasonKind.UNSUPPORTED, subject=place, detail=text)


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
