"""How the caller says that it started the capture, and what Buck left in the process that tells of it."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal, TypeVar

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.redact import redact_value
from aorta.model.vocabulary import INVOCATION_VARIABLE, INVOCATIONS, Provenance, ReasonKind
from aorta.plugin import collector
from aorta_collectors.buck_markers import (
    ACTION,
    BEACON,
    DIRECTORIES,
    HINT,
    LOCAL,
    MARKERS,
    MAY_BE_BLANK,
    ONLY_AS,
    REMOTE,
    TAKEN_OUT,
    VALUES,
    of_kind,
)
from aorta_collectors.providers.buck_graph import BuckGraph

T = TypeVar("T")

#: Who names an execution platform.
SOURCE: Literal["cquery:buck.execution_platform"] = "cquery:buck.execution_platform"

#: The most characters of a value that is stored: an image with its digest, an identifier.
LONGEST = 512


@frozen
class Marker:
    """One trace of Buck, of a worker or of a package, whether it is there or not."""

    present: Annotated[
        bool | None, Fact("Whether it is there; null where that could not be seen.", caveat="See limits.")
    ] = None
    value: Annotated[
        str | None, Fact("What the variable holds: of images and identifiers only, else null.")
    ] = None
    proves: Annotated[str | None, Fact("What its presence proves.")] = None
    limits: Annotated[str | None, Fact("What its presence does not prove.")] = None


@frozen
class ExecutionContext:
    """What is claimed about where the capture runs, and what was seen that speaks for or against it."""

    probe_invocation: Annotated[
        Literal["direct", "buck2_run", "buck2_action"] | None,
        Fact(
            f"The caller's own word, from its argument or {INVOCATION_VARIABLE}; direct when it says"
            " nothing.",
            caveat="Never detected: compare it with container_detected and markers.",
            always=True,
        ),
    ] = None
    likely_execution_platform: Annotated[
        str | None,
        Fact(
            "The execution platform that Buck selected for the target that the caller named, on the client.",
            caveat="Selected, not used: an action may still run elsewhere, and other targets have their own.",
            provenance=(Provenance.CONFIGURED_GRAPH,),
        ),
    ] = None
    likely_execution_platform_source: Annotated[
        Literal["cquery:buck.execution_platform"] | None,
        Fact("Who named it.", provenance=(Provenance.CONFIGURED_GRAPH,)),
    ] = None
    markers: Annotated[
        dict[str, Marker] | None,
        Fact(
            "Name of a variable, file or working directory to whether it is there and what that proves.",
            caveat="No marker is set by every backend: absence proves nothing.",
            provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
        ),
    ] = None


@collector(
    section="execution_context",
    model=ExecutionContext,
    provenance=Provenance.CALLER_ASSERTED,
    needs=(BuckGraph,),
    timeout_s=5,
)
def collect(ctx: Context) -> ExecutionContext:
    """How the caller says that it started the capture, and traces of Buck that speak for or against it."""
    claimed = (ctx.request.probe_invocation or ctx.env(INVOCATION_VARIABLE) or "").strip() or "direct"
    if claimed not in INVOCATIONS:
        ctx.note(
            ReasonKind.UNPARSED,
            "probe_invocation",
            f"{claimed[:80]!r} is none of {', '.join(INVOCATIONS)}: recorded as direct",
        )
        claimed = "direct"
    graph = ctx.need(BuckGraph)
    if graph.platform_gap is not None:
        graph.platform_gap.note(ctx, "likely_execution_platform")
    seen = _seen(ctx)
    for text in contradictions(claimed, seen):
        ctx.note(ReasonKind.EXPECTED, "probe_invocation", text)
    markers = {
        name: Marker(present=seen[name], value=_value(ctx, name, seen[name]), proves=proves, limits=limits)
        for name, (_, proves, limits) in MARKERS.items()
    }
    return ExecutionContext(
        probe_invocation=claimed,  # type: ignore[arg-type]
        likely_execution_platform=graph.platform,
        likely_execution_platform_source=None if graph.platform is None else SOURCE,
        markers=markers,
    )


def contradictions(claimed: str, seen: dict[str, bool | None]) -> Iterator[str]:
    """Yield where markers speak against each other or against the caller's word, each as a sentence.

    The absence of a marker speaks against nothing, and nothing against ``direct``.
    """
    local, remote, in_action = (_present(seen, *kinds) for kinds in ((LOCAL,), (REMOTE,), (ACTION,)))
    placed_elsewhere = remote + [name for name in ("AORTA_RE_IMAGE",) if seen[name]]
    if local and placed_elsewhere:
        yield (
            f"conflicting: {_listed(local)} says that an action ran on its client's machine,"
            f" {_listed(placed_elsewhere)} that one ran on a remote worker"
        )
    elif local and claimed == "buck2_action":
        yield (
            f"declared buck2_action, and {_listed(local)} is there, which only actions on the client's own"
            " machine have: it ran locally, not on a remote worker"
        )
    within = [*local, *remote, *in_action]
    started_by_run = seen["BUCK_RUN_BUILD_ID"]
    possible = [name for name in of_kind(LOCAL, REMOTE, ACTION, HINT) if seen[name] is not False]
    if claimed == "buck2_action" and started_by_run and not possible:
        yield (
            "declared buck2_action, and BUCK_RUN_BUILD_ID is there without a trace of an action:"
            " it was started by buck2 run"
        )
    if claimed == "buck2_run" and started_by_run is False and within:
        yield (
            f"declared buck2_run, and {_listed(within)} is there without BUCK_RUN_BUILD_ID:"
            " it runs within an action"
        )


def _present(seen: dict[str, bool | None], *kinds: str) -> list[str]:
    return [name for name in of_kind(*kinds) if seen[name]]


def _listed(names: list[str]) -> str:
    return " and ".join(names)


def _seen(ctx: Context) -> dict[str, bool | None]:
    """Return for each marker whether it is there, in the order of the table."""
    at_start, places = _start_names(ctx), _places(ctx)
    seen: dict[str, bool | None] = {}
    for name in MARKERS:
        if name == BEACON:
            seen[name] = _beacon(ctx)
        elif name in DIRECTORIES:
            seen[name] = places[name]
        elif _is_set(ctx, name):
            seen[name] = True
        else:
            seen[name] = at_start[name] if name in TAKEN_OUT else False
    return seen


def _is_set(ctx: Context, name: str) -> bool:
    value = ctx.env(name)
    if value is None:
        return False
    if name in ONLY_AS:
        return value == ONLY_AS[name]
    return bool(value.strip()) or name in MAY_BE_BLANK


def _beacon(ctx: Context) -> bool | None:
    answer = ctx.stat(BEACON)
    if answer.kind is ReasonKind.ABSENT:
        return False
    return True if ctx.take(answer, f"markers.{BEACON}.present") is not None else None


def _start_names(ctx: Context) -> dict[str, bool | None]:
    """Return which of the variables that a package takes out the process was started with."""
    if ctx.request.env is not None:
        # The environment asked about is another one than this process was started with.
        return dict.fromkeys(TAKEN_OUT, False)
    names = _told(ctx, "start_variables", list)
    return {name: name in names if names is not None else None for name in TAKEN_OUT}


def _places(ctx: Context) -> dict[str, bool | None]:
    """Return which patterns the working directory has."""
    path = _told(ctx, "cwd", str)
    if path is None:
        return dict.fromkeys(DIRECTORIES)
    return {name: re.search(pattern, f"{path}/") is not None for name, pattern in DIRECTORIES.items()}


def _told(ctx: Context, key: str, kind: type[T]) -> T | None:
    """Return what the process says of itself, or note why it is not known."""
    value = ctx.take(answer := ctx.observe(key), "markers")
    if isinstance(value, kind):
        return value
    if answer.ok:
        text = f"{key}: not told" if value is None else f"{key}: no {kind.__name__}"
        ctx.note(
            ReasonKind.UNSUPPORTED if value is None else ReasonKind.UNPARSED, "markers", text, subject=key
        )
    return None


def _value(ctx: Context, name: str, present: bool | None) -> str | None:
    """Return what may be stored of a variable."""
    value = ctx.env(name) if present and name in VALUES else None
    if value is None:
        return None
    if len(value) > LONGEST:
        text = f"{name} has {len(value)} characters: no image and no identifier"
        ctx.note(ReasonKind.UNPARSED, f"markers.{name}.value", text)
        return None
    shown = redact_value(name, value)
    if shown != value:
        ctx.redacted.add(name)
    return shown
