"""The version in torch's metadata, where they are those of the torch that would be imported."""

import posixpath

from aorta.collect import Context
from aorta_collectors.packages.direct_url import editable_project
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.tree.links import is_one_file


def own_version(ctx: Context, torch: TorchFacts) -> str | None:
    """Return the version in the metadata of this very torch.

    Those of another copy say nothing of it, and of several that lie beside it one is left over.
    """
    metadata = torch.distribution
    if metadata is None or torch.package is None:
        return None
    place = posixpath.dirname(metadata.path)
    # A host may know the metadata without saying where they are.
    if not metadata.path or _is_same(ctx, place, posixpath.dirname(torch.package)):
        versions = {_named(path) for path in metadata.others if posixpath.dirname(path) == place}
        return metadata.version if versions <= {_named(metadata.path)} else None
    project = editable_project(metadata.direct_url)
    is_own = project is not None and _is_same(ctx, posixpath.join(project, "torch"), torch.package)
    return metadata.version if is_own else None


def _named(path: str) -> str:
    """Return the version in the name of a metadata directory: ``torch-2.9.1.dist-info``."""
    name = posixpath.splitext(posixpath.basename(path))[0]
    return "".join(name.split("-")[1:2])


def _is_same(ctx: Context, one: str, other: str) -> bool:
    if one == other:
        return True
    return is_one_file(ctx.stat(one), ctx.stat(other))
