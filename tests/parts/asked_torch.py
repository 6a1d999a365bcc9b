"""A plugin that shows what is known of torch as it is, whatever the sections make of it."""

from typing import Annotated

import attrs

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers import TorchFacts


@attrs.frozen(kw_only=True)
class Asked:
    """The provider's value, without what is long."""

    strategy: Annotated[str | None, Fact("How torch was asked.")] = None
    importable: Annotated[bool | None, Fact("Whether it can be imported.")] = None
    error: Annotated[str | None, Fact("The last line of a failed import.")] = None
    ended: Annotated[str | None, Fact("How a process ended that did not end well.")] = None
    noise: Annotated[str | None, Fact("What was printed.")] = None
    kind: Annotated[str | None, Fact("The kind of reason for what was not told.")] = None
    detail: Annotated[str | None, Fact("Its sentence.")] = None
    told: Annotated[dict[str, str] | None, Fact("Who told each fact.")] = None
    errors: Annotated[dict[str, str] | None, Fact("Why facts were not told.")] = None
    version: Annotated[str | None, Fact("torch's version.")] = None
    hip: Annotated[str | None, Fact("Its HIP version.")] = None
    file: Annotated[str | None, Fact("Where it was imported from.")] = None
    flash: Annotated[bool | None, Fact("Whether flash attention may be chosen.")] = None
    config: Annotated[int | None, Fact("The length of its configuration.")] = None


@collector(
    section="tests.torch",
    model=Asked,
    needs=(TorchFacts,),
    provenance=Provenance.PROCESS,
    scope=Scope.PROCESS,
    timeout_s=5,
)
def collect(ctx: Context) -> Asked:
    """What is known of torch."""
    torch = ctx.need(TorchFacts)
    config = torch.text("config")
    return Asked(
        strategy=torch.strategy,
        importable=torch.importable,
        error=torch.error,
        ended=torch.ended,
        noise=torch.noise,
        kind=torch.gap.kind.value if torch.gap else None,
        detail=torch.gap.detail if torch.gap else None,
        told=dict(torch.sources),
        errors=dict(torch.errors),
        version=torch.text("version"),
        hip=torch.text("hip"),
        file=torch.text("file"),
        flash=torch.facts.get("flash_sdp_enabled"),
        config=None if config is None else len(config),
    )
