"""How torch was installed, and where the tree is that it was built from."""

import posixpath
from collections.abc import Sequence
from typing import Any

from aorta.collect import Answer, Context, Stat
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.packages.direct_url import editable_project
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.pytorch import SOURCE_VARIABLE
from aorta_collectors.pytorch.metadata import are_beside, own_project
from aorta_collectors.pytorch.model import InstallKind

#: What a source tree of torch is known by.
THIRD_PARTY = "third_party"


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
    project = own_project(ctx, torch, unseen)
    if project is not None:
        return InstallKind.EDITABLE, project
    metadata = torch.distribution if are_beside(ctx, torch, unseen) else None
    is_installed = metadata is not None and not metadata.path.endswith(".egg-info")
    above = None if is_installed else _above(ctx, torch.package, unseen)
    if above is not None:
        return InstallKind.SOURCE, above
    if metadata is None or editable_project(metadata.direct_url) is not None or unseen:
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
    if _holds_sources(ctx, path, unseen):
        return path
    if not unseen:
        text = f"{SOURCE_VARIABLE}={named} has no directory {THIRD_PARTY}, so it is not used"
        ctx.note(ReasonKind.ABSENT, "source_path", text, subject=SOURCE_VARIABLE)
    return None


def _above(ctx: Context, package: str, unseen: list[Answer[Any]]) -> str | None:
    """Return the source tree that a package lies in."""
    parent = posixpath.dirname(package)
    for place in (parent, posixpath.dirname(parent)):
        if _holds_sources(ctx, place, unseen) and _look(ctx, posixpath.join(place, ".git"), unseen):
            return place
    return None


def _holds_sources(ctx: Context, place: str, unseen: list[Answer[Any]]) -> bool:
    found = _look(ctx, posixpath.join(place, THIRD_PARTY), unseen)
    return found is not None and found.kind == "dir"


def _look(ctx: Context, path: str, unseen: list[Answer[Any]]) -> Stat | None:
    """Return what a path is, None where there is nothing or where that was not seen."""
    looked = ctx.stat(path)
    if not looked.ok and not looked.absent:
        unseen.append(looked)
    return looked.value


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
