"""Whether any sign of isolation was seen."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers.isolation_evidence import IsolationEvidence


@collector(
    section="container_detected",
    model=Annotated[
        bool | None,
        Fact(
            "A container, or mounts of one's own; null when no sign could be looked at, or none proves it.",
            caveat="false says that no sign was seen, not that the machine is bare.",
        ),
    ],
    provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
    scope=Scope.NAMESPACE,
    needs=(IsolationEvidence,),
    timeout_s=5,
)
def collect(ctx: Context) -> bool | None:
    """Whether the process is isolated in any way."""
    evidence = ctx.need(IsolationEvidence)
    if evidence.detected is None and evidence.container_gap is not None:
        evidence.container_gap.note(ctx, "")
    return evidence.detected
