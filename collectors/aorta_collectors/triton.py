"""Which Triton an import would take, and which installed distributions claim it.

Several distributions bring the same package and overwrite each other's files: the version then depends
on which name is asked for. So the package's own text comes first, and the metadata stands beside it.
"""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.packages import INIT
from aorta_collectors.packages.model import Provider
from aorta_collectors.packages.target import find, installed

TEXTS = (INIT, "version.py", "_version.py")

#: Distributions that bring a package called triton.
DISTRIBUTIONS = (
    "triton",
    "pytorch-triton-rocm",
    "pytorch-triton",
    "triton-rocm",
    "pytorch-triton-xpu",
    "triton-xpu",
    "triton-nightly",
    "triton-cpu",
    "triton-windows",
    "triton-ascend",
    "fbtriton",
)


@frozen
class Triton:
    """The Triton that an import would take."""

    package_version: Annotated[
        str | None,
        Fact(
            "__version__ in the package's text, e.g. 3.5.1+rocm7.2.1.gita272dfa8; else its distribution's.",
            caveat="Installed, not imported.",
        ),
    ] = None
    package_version_source: Annotated[
        str | None, Fact("File that the version stands in, or the metadata directory.")
    ] = None
    commit: Annotated[
        str | None,
        Fact("Commit in the version or beside it, 7 to 40 hexadecimal digits; releases from PyPI tell none."),
    ] = None
    providers: Annotated[
        tuple[Provider, ...] | None,
        Fact("Installed distributions that claim the package: triton, pytorch-triton-rocm and the like."),
    ] = None
    conflict: Annotated[
        bool | None, Fact("Whether more than one claims it: the files are then of who came last.")
    ] = None


@collector(
    section="triton",
    model=Triton,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    timeout_s=10,
)
def collect(ctx: Context) -> Triton:
    """Triton package: version, commit, distributions that claim it."""
    candidates, hidden = installed(ctx, DISTRIBUTIONS)
    module = ctx.take(find(ctx, "triton", candidates), "")
    if module is None:
        return Triton()
    # Most machines have no such package, and need none of this.
    from aorta_collectors.packages.identity import identify, note_claims, sources
    from aorta_collectors.packages.ownership import claims_of

    claims = claims_of(ctx, candidates, module, hidden)
    note_claims(ctx, claims, module)
    found = identify(ctx, sources(ctx, module, TEXTS), claims)
    return Triton(
        package_version=found.version,
        package_version_source=found.version_source,
        commit=found.commit,
        providers=claims.providers,
        conflict=claims.conflict,
    )
