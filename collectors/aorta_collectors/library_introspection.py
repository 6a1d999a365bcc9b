"""The known libraries in the configured graph of the Buck target."""

from typing import Annotated, Literal

from aorta.buck.words import Role
from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.build_system import BuildSystem
from aorta_collectors.providers.buck_graph import BuckGraph


@frozen
class Library:
    """One target of the graph that is a known library."""

    name: Annotated[
        str | None,
        Fact("The library; several targets may be of one.", provenance=(Provenance.CONFIGURED_GRAPH,)),
    ] = None
    source: Annotated[Literal["buck"] | None, Fact("Always buck.")] = None
    revision: Annotated[
        str | None,
        Fact("The revision of the checkout, of build_system.", provenance=(Provenance.CLIENT_HOST,)),
    ] = None
    target: Annotated[str | None, Fact("Its label without configuration: compare these.")] = None
    configured_target: Annotated[
        str | None, Fact("The row as buck2 gave it.", caveat="Its hash changes with any constraint.")
    ] = None
    role: Annotated[
        Role | None,
        Fact(
            "target (in the target's own configuration), exec (in another one: what builds it), toolchain,"
            " or other (no configuration, or of a pattern that has no root).",
            caveat="A dependency behind a transition has a configuration of its own and stands as exec.",
        ),
    ] = None


#: A target dependency may be loaded by what is built: it comes first.
ORDER = {role: number for number, role in enumerate(Role)}


@collector(
    section="library_introspection",
    model=Annotated[
        tuple[Library, ...] | None,
        Fact(
            "Targets among the dependencies that are known libraries; empty where there is none, null where"
            " nobody asked or the query failed.",
            caveat="Declared in the configured graph, not linked, not loaded, not run.",
        ),
    ],
    provenance=Provenance.CONFIGURED_GRAPH,
    scope=Scope.NAMESPACE,
    needs=(BuildSystem, BuckGraph),
    timeout_s=20,
)
def collect(ctx: Context) -> tuple[Library, ...] | None:
    """The known libraries among the dependencies of the Buck target."""
    graph = ctx.need(BuckGraph)
    if not graph.answered(ctx):
        return None
    from aorta.buck.libraries import Libraries

    known = Libraries(ctx.request.buck_libraries)
    roots = frozenset(row.configuration for row in graph.roots if row.configuration)
    revision = ctx.need(BuildSystem).revision
    found = [
        Library(
            name=name,
            source="buck",
            revision=revision,
            target=str(row.label),
            configured_target=row.text,
            role=row.role(roots),
        )
        for row in graph.rows
        for name in known.names(row.label)
    ]
    names = {library.name for library in found}
    for name, pattern in ctx.request.buck_libraries.items():
        if name not in names:
            text = f"no target of the graph is {name}: {pattern} is found in none of {len(graph.rows)} labels"
            ctx.note(ReasonKind.ABSENT, "", text)
    return tuple(sorted(found, key=_place))


def _place(library: Library) -> tuple[int, str, str, str]:
    role = library.role or Role.OTHER
    return ORDER[role], library.name or "", library.target or "", library.configured_target or ""
