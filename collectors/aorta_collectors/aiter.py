"""Which AITER an import would take, and the code objects that it would load at run time.

Importing it would build kernels and fail without a GPU. PyPI has another package called aiter, for
asynchronous iterators; what claims the package tells them apart.
"""

import posixpath
from collections.abc import Sequence
from typing import Annotated

from aorta.collect import Answer, Context, Module
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.packages import INIT
from aorta_collectors.packages.model import HsaArch, Provider
from aorta_collectors.packages.target import find, installed, normalized
from aorta_collectors.pytorch import SOURCE_VARIABLE
from aorta_collectors.tree.links import resolve

TEXTS = (INIT, "_version.py")
DISTRIBUTIONS = ("amd-aiter", "aiter")

#: Directories that AMD's package has in all releases.
PARTS = ("jit", "ops")


@frozen
class Aiter:
    """The AITER that an import would take, and its code objects."""

    package_version: Annotated[
        str | None,
        Fact(
            "__version__ in the package's text or its _version.py, e.g. 0.1.11.dev32+g9a469a608; else its"
            " distribution's.",
            caveat="Installed, not imported.",
        ),
    ] = None
    package_version_source: Annotated[
        str | None, Fact("File that the version stands in, or the metadata directory.")
    ] = None
    package_dist_name: Annotated[
        str | None, Fact("Distribution that claims the package: amd_aiter or aiter; null where several do.")
    ] = None
    commit: Annotated[
        str | None,
        Fact("Commit in the version or beside it, 7 to 40 hexadecimal digits; releases tell none."),
    ] = None
    providers: Annotated[
        tuple[Provider, ...] | None, Fact("Installed distributions that claim the package.")
    ] = None
    conflict: Annotated[
        bool | None, Fact("Whether more than one claims it: the files are then of who came last.")
    ] = None
    hsa_tree: Annotated[
        dict[str, dict[str, HsaArch]] | None,
        Fact(
            "Code objects by root (that of aiter_meta, of a source tree, of PyTorch's sources that"
            " AORTA_PYTORCH_SRC names) and architecture.",
            caveat="What can be loaded, not what was.",
        ),
    ] = None


@collector(
    section="aiter",
    model=Aiter,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    timeout_s=60,
)
def collect(ctx: Context) -> Aiter:
    """AITER package: version, commit, code objects."""
    candidates, hidden = installed(ctx, DISTRIBUTIONS)
    found = find(ctx, "aiter", candidates)
    trees = _trees(ctx, found.value)
    module = ctx.take(found, "")
    if module is None:
        return Aiter(hsa_tree=trees)
    # Most machines have no such package, and need none of this.
    from aorta_collectors.packages.identity import identify, note_claims, sources
    from aorta_collectors.packages.ownership import claims_of, owner_name

    claims = claims_of(ctx, candidates, module, hidden)
    note_claims(ctx, claims, module)
    told = identify(ctx, sources(ctx, module, TEXTS), claims)
    if claims.trouble is None:
        _note_stranger(ctx, module, claims.providers)
    return Aiter(
        package_version=told.version,
        package_version_source=told.version_source,
        package_dist_name=_written(owner_name(ctx, claims)),
        commit=told.commit,
        providers=claims.providers,
        conflict=claims.conflict,
        hsa_tree=trees,
    )


def _written(name: str | None) -> str | None:
    """Return the name as the 1.x documents have it, with an underscore."""
    return name and normalized(name).replace("-", "_")


def _trees(ctx: Context, module: Module | None) -> dict[str, dict[str, HsaArch]] | None:
    """Return the trees of all roots by their real paths; a missing one is no news while another is there."""
    roots = _roots(ctx, module)
    if not roots:
        return None
    from aorta_collectors.packages.hsa_tree import describe

    trees: dict[str, dict[str, HsaArch]] = {}
    missing: list[str] = []
    for root in roots:
        real = resolve(ctx, root)
        path = real.value
        if path in trees:
            continue
        tree = (
            Answer(kind=real.kind, subject=root, detail=real.detail) if path is None else describe(ctx, path)
        )
        if path is not None and tree.value is not None:
            trees[path] = tree.value
        elif tree.absent:
            missing.append(root)
        else:
            ctx.take(tree, "hsa_tree")
    if missing == roots:
        ctx.note(ReasonKind.ABSENT, "hsa_tree", f"no code objects in {', '.join(missing)}")
    return trees or None


def _roots(ctx: Context, module: Module | None) -> list[str]:
    """Return the directories that may hold the code objects."""
    roots: list[str] = []
    # It has no __init__.py: a namespace is what it is meant to be.
    meta = ctx.module("aiter_meta").value
    roots += [posixpath.join(place, "hsa") for place in (meta.locations if meta else ())]
    for package in module.locations if module else ():
        above = posixpath.dirname(package)
        roots.append(posixpath.join(above, "aiter_meta", "hsa"))
        if (ctx.resource(posixpath.join(package, "install_mode")).value or "develop").strip() == "develop":
            roots.append(posixpath.join(above, "hsa"))
    sources = ctx.env(SOURCE_VARIABLE)
    if sources and sources.startswith("/"):
        roots.append(posixpath.join(posixpath.normpath(sources), "third_party/aiter/hsa"))
    elif sources:
        text = f"{SOURCE_VARIABLE}={sources} is no absolute path, so it is not used"
        ctx.note(ReasonKind.UNSUPPORTED, "hsa_tree", text, subject=SOURCE_VARIABLE)
    return list(dict.fromkeys(roots))


def _note_stranger(ctx: Context, module: Module, providers: Sequence[Provider]) -> None:
    """Note that a package has nothing of AMD's in it, where AMD's distribution does not claim it either."""
    parts = [posixpath.join(place, part) for place in module.locations for part in PARTS]
    ours = any(provider.name and normalized(provider.name) == DISTRIBUTIONS[0] for provider in providers)
    if ours or not all(ctx.stat(part).absent for part in parts):
        return
    text = (
        f"{module.origin} has neither {' nor '.join(PARTS)}: it may be PyPI's aiter, which is another program"
    )
    ctx.note(ReasonKind.UNSUPPORTED, "", text, subject=module.origin)
