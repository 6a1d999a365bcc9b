"""What the caller asked Buck about, and under which options."""

from typing import Annotated, Any, Literal

from aorta.buck.words import ContextSource
from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.buck.mode_files import FIELD, ModeContent, combined
from aorta_collectors.providers.buck_graph import BuckGraph, QueryStatus
from aorta_collectors.providers.buck_modes import BuckModes

CALLER, GRAPH = (Provenance.CALLER_ASSERTED,), (Provenance.CONFIGURED_GRAPH,)


@frozen
class BuckInvocation:
    """The query, its options without any value of a config, and the target's place in the answer."""

    status: Annotated[
        QueryStatus | None,
        Fact(
            "not_requested, buck_not_detected, success or failure of the query of the target's dependencies.",
            caveat="success says that the graph was declared so, not that anything ran.",
            always=True,
        ),
    ] = None
    target: Annotated[str | None, Fact("The label as the caller named it.", provenance=CALLER)] = None
    context_source: Annotated[
        ContextSource | None,
        Fact(
            "Who said how the target is built: none (no target), unspecified (nobody), default_confirmed"
            " (the caller, that no option is used), explicit (the caller's options).",
            provenance=CALLER,
            always=True,
        ),
    ] = None
    mode_files: Annotated[
        tuple[str, ...] | None, Fact("Mode files (@PATH) in their order, without the @.", provenance=CALLER)
    ] = None
    config_keys: Annotated[
        tuple[str, ...] | None,
        Fact("Keys of configs (-c KEY=VALUE) in their order; values are stored nowhere.", provenance=CALLER),
    ] = None
    modifiers: Annotated[
        tuple[str, ...] | None, Fact("Modifiers (-m M) in their order.", provenance=CALLER)
    ] = None
    option_order: Annotated[
        tuple[Literal["mode", "config", "modifier"], ...] | None,
        Fact("The kind of each option, in the order in which buck2 got them.", provenance=CALLER),
    ] = None
    context_fingerprint: Annotated[
        str | None,
        Fact(
            "A slow digest of the options with their values, sha256-v2:HEX; null when nobody said how the"
            " target is built. Equal ones had equal arguments.",
            caveat="A short value can be guessed from it, keys being known; what files say is not in it.",
            provenance=CALLER,
        ),
    ] = None
    mode_files_digest: Annotated[
        str | None,
        Fact("sha256 over all mode files, in their order; null without any, and where one was not read."),
    ] = None
    mode_file_contents: Annotated[
        tuple[ModeContent, ...] | None, Fact("The mode files, and those that they name.")
    ] = None
    configured_root_target: Annotated[
        str | None,
        Fact(
            "The target's own row of the answer, with its configuration; null where it has several.",
            provenance=GRAPH,
        ),
    ] = None
    root_configurations: Annotated[
        tuple[str, ...] | None,
        Fact("Its configurations, several where a transition changes it.", provenance=GRAPH),
    ] = None
    dependency_count: Annotated[
        int | None, Fact("How many configured targets the answer holds, itself included.", provenance=GRAPH)
    ] = None
    comparison: Annotated[
        Literal["not_compared"] | None,
        Fact("A key of the 1.x line: a snapshot alone compares nothing.", always=True),
    ] = None


@collector(
    section="buck_invocation",
    model=BuckInvocation,
    provenance=(Provenance.CALLER_ASSERTED, Provenance.CLIENT_HOST),
    scope=Scope.NAMESPACE,
    needs=(BuckModes, BuckGraph),
    timeout_s=10,
)
def collect(ctx: Context) -> BuckInvocation:
    """The Buck target that was asked about, its options, and what became of the query."""
    graph = ctx.need(BuckGraph)
    if graph.gap is not None:
        graph.gap.note(ctx, "" if graph.status is QueryStatus.NOT_REQUESTED else "status")
    if graph.root_gap is not None:
        graph.root_gap.note(ctx, "configured_root_target")
    told: dict[str, Any] = {"status": graph.status, "comparison": "not_compared"}
    if ctx.request.buck_target is None:
        if ctx.request.buck_context.options or ctx.request.buck_context.default_confirmed:
            text = "options without a target: they were not used"
            ctx.note(ReasonKind.UNSPECIFIED, "context_source", text)
        return BuckInvocation(context_source=ContextSource.NONE, **told, **_named(ctx), mode_file_contents=())
    if graph.status is QueryStatus.SUCCESS:
        told["configured_root_target"] = graph.roots[0].text if len(graph.roots) == 1 else None
        told["root_configurations"] = tuple(row.configuration for row in graph.roots if row.configuration)
        told["dependency_count"] = len(graph.rows)
    return BuckInvocation(**told, **_options(ctx))


def _options(ctx: Context) -> dict[str, Any]:
    """Return what is told of the options, and note that nobody gave any."""
    context = ctx.request.buck_context
    modes = context.names("mode")
    read = ctx.need(BuckModes)
    for gap in read.gaps:
        gap.note(ctx, FIELD)
    digest = combined(read.contents)
    if modes and digest is None:
        ctx.note(ReasonKind.BLOCKED, "mode_files_digest", f"not every mode file was read: see {FIELD}")
    if context.source is ContextSource.UNSPECIFIED:
        text = (
            "a target without the options it is built with: name them with --buck-option, or say"
            " --buck-default-context where there are none"
        )
        ctx.note(ReasonKind.UNSPECIFIED, "context_source", text, subject=ctx.request.buck_target)
    return {
        **_named(ctx),
        "target": ctx.request.buck_target,
        "context_source": context.source,
        "context_fingerprint": context.fingerprint(),
        "mode_files_digest": digest,
        "mode_file_contents": read.contents,
    }


def _named(ctx: Context) -> dict[str, Any]:
    """Return the options by kind, in their order; none is no gap."""
    context = ctx.request.buck_context
    return {
        "mode_files": context.names("mode"),
        "config_keys": context.names("config"),
        "modifiers": context.names("modifier"),
        "option_order": tuple(option.kind for option in context.options),
    }
