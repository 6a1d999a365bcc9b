"""What the client itself has of the libraries in the graph: another copy, by its package."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.hipblaslt import HipBlasLt
from aorta_collectors.miopen import MIOpen
from aorta_collectors.providers.buck_graph import BuckGraph
from aorta_collectors.rccl import Rccl
from aorta_collectors.rocblas import RocBlas

SECTIONS: Mapping[str, type[Any]] = {
    "hipblaslt": HipBlasLt,
    "rocblas": RocBlas,
    "miopen": MIOpen,
    "rccl": Rccl,
}


@frozen
class Alternate:
    """The installed copy of one library that the graph builds from source."""

    name: Annotated[str | None, Fact("The library.")] = None
    source: Annotated[Literal["package"] | None, Fact("Always package.")] = None
    revision: Annotated[
        str | None, Fact("Its release's tweak, else its version, of the section of that name.")
    ] = None
    package_version: Annotated[str | None, Fact("The version of its package, where one is known.")] = None
    lib_hash: Annotated[str | None, Fact("sha256 of its file.", caveat="Installed, not loaded.")] = None


@collector(
    section="library_introspection_alternates",
    model=Annotated[
        tuple[Alternate, ...] | None,
        Fact(
            "Copies installed on the client of libraries that the graph has from source.",
            caveat="Of the client host: nothing says that the target uses them.",
        ),
    ],
    provenance=Provenance.CLIENT_HOST,
    scope=Scope.NAMESPACE,
    needs=(BuckGraph, HipBlasLt, RocBlas, MIOpen, Rccl),
    timeout_s=5,
)
def collect(ctx: Context) -> tuple[Alternate, ...] | None:
    """What the client has installed of the libraries in the graph."""
    graph = ctx.need(BuckGraph)
    if not graph.answered(ctx):
        return None
    from aorta.buck.libraries import Libraries

    known = Libraries(ctx.request.buck_libraries)
    built = {name for row in graph.rows for name in known.names(row.label)}
    found = (_alternate(name, ctx.need(model)) for name, model in SECTIONS.items() if name in built)
    return tuple(alternate for alternate in found if alternate is not None)


def _alternate(name: str, section: Any) -> Alternate | None:
    """Return the installed copy, None where nothing is known of one."""
    version = getattr(section, "package_version", None)
    revision = getattr(section, "rocm_release_tweak", None) or getattr(section, "version", None) or version
    if not (revision or section.lib_hash):
        return None
    return Alternate(
        name=name, source="package", revision=revision, package_version=version, lib_hash=section.lib_hash
    )
