"""How the caller says that it started the capture."""

from typing import Annotated, Literal

from aorta.collect import Context
from aorta.collect.request import INVOCATIONS
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind
from aorta.plugin import collector

VARIABLE = "AORTA_PROBE_INVOCATION"


@frozen
class ExecutionContext:
    """What is claimed about where the capture runs; nothing of it is detected."""

    probe_invocation: Annotated[
        Literal["direct", "buck2_run", "buck2_action"] | None,
        Fact(
            f"The caller's own word, from its argument or {VARIABLE}; direct when it says nothing.",
            caveat="Never detected: compare it with container_detected.",
            always=True,
        ),
    ] = None
    likely_execution_platform: Annotated[
        str | None, Fact("Reserved for the selected Buck execution platform; always null.")
    ] = None


@collector(
    section="execution_context", model=ExecutionContext, provenance=Provenance.CALLER_ASSERTED, timeout_s=5
)
def collect(ctx: Context) -> ExecutionContext:
    """How the caller says that it started the capture."""
    claimed = ctx.request.probe_invocation or ctx.env(VARIABLE) or "direct"
    if claimed not in INVOCATIONS:
        ctx.note(
            ReasonKind.UNPARSED,
            "probe_invocation",
            f"{claimed[:80]!r} is none of {', '.join(INVOCATIONS)}: recorded as direct",
        )
        claimed = "direct"
    ctx.note(
        ReasonKind.UNSUPPORTED,
        "likely_execution_platform",
        "nothing inside the process tells which execution platform Buck selected",
    )
    return ExecutionContext(probe_invocation=claimed)  # type: ignore[arg-type]
