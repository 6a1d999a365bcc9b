"""Whose the metadata found for torch are: those of the torch that would be imported, or of another copy."""

import posixpath
from typing import Any

from aorta.collect import Answer, Context
from aorta_collectors.packages.direct_url import editable_project
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.tree.links import is_one_file


def own_version(ctx: Context, torch: TorchFacts) -> str | None:
    """Return the version in the metadata of this very torch.

    Those of another copy say nothing of it, and of several that lie beside it one is left over.
    """
    metadata, unseen = torch.distribution, list[Answer[Any]]()
    if metadata is None:
        return None
    if are_beside(ctx, torch, unseen):
        place = posixpath.dirname(metadata.path)
        versions = {_named(path) for path in metadata.others if posixpath.dirname(path) == place}
        return metadata.version if versions <= {_named(metadata.path)} else None
    return metadata.version if own_project(ctx, torch, unseen) is not None else None


def are_beside(ctx: Context, torch: TorchFacts, unseen: list[Answer[Any]]) -> bool:
    """Tell whether metadata lie beside torch; what could not be looked at is added to ``unseen``."""
    metadata = torch.distribution
    if metadata is None or torch.package is None:
        return False
    place = posixpath.dirname(metadata.path)
    # A host may know the metadata without saying where they are.
    return not metadata.path or _is_same(ctx, place, posixpath.dirname(torch.package), unseen)


def own_project(ctx: Context, torch: TorchFacts, unseen: list[Answer[Any]]) -> str | None:
    """Return the directory that torch is an editable install of, None where it is none."""
    project = editable_project(torch.distribution.direct_url) if torch.distribution is not None else None
    if project is None or torch.package is None:
        return None
    return project if _is_same(ctx, posixpath.join(project, "torch"), torch.package, unseen) else None


def _named(path: str) -> str:
    """Return the version in the name of a metadata directory: ``torch-2.9.1.dist-info``."""
    name = posixpath.splitext(posixpath.basename(path))[0]
    return "".join(name.split("-")[1:2])


def _is_same(ctx: Context, one: str, other: str, unseen: list[Answer[Any]]) -> bool:
    """Tell whether two paths are one directory."""
    if one == other:
        return True
    looks = [ctx.stat(one), ctx.stat(other)]
    unseen += [look for look in looks if not look.ok and not look.absent]
    return is_one_file(*looks)
