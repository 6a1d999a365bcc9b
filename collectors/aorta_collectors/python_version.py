"""Version of the running interpreter."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, ReasonKind
from aorta.plugin import collector
from aorta_collectors.providers.python_facts import PythonFacts


@collector(
    section="python_version",
    model=Annotated[str | None, Fact("Version of the interpreter, e.g. 3.12.1.", always=True)],
    provenance=Provenance.PROCESS,
    needs=(PythonFacts,),
    timeout_s=5,
)
def collect(ctx: Context) -> str | None:
    """Version of the running interpreter."""
    facts = ctx.need(PythonFacts)
    if facts.gap is not None and facts.version is None:
        facts.gap.note(ctx, "")
    elif facts.version is None:
        ctx.note(ReasonKind.FAILED, "", "the interpreter told no version")
    return facts.version
