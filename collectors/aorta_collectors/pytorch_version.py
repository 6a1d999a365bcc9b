"""Which torch it is: what it calls itself, else what its files say."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers.torch_facts import TorchFacts


@collector(
    section="pytorch_version",
    model=Annotated[
        str | None,
        Fact(
            "torch.__version__, e.g. 2.9.1+rocm7.2.0.git7e1940d4; of torch/version.py, else of the metadata,"
            " where torch could not be imported.",
            caveat="What follows the + is the builder's word; pytorch_build says what it was built with.",
        ),
    ],
    provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
    scope=Scope.NAMESPACE,
    needs=(TorchFacts,),
)
def collect(ctx: Context) -> str | None:
    """Version of torch."""
    torch = ctx.need(TorchFacts)
    told = torch.told("version")
    if torch.installed and not isinstance(told.value, str):
        # torch tells it nearly always.
        from aorta_collectors.pytorch.metadata import own_version

        metadata = own_version(ctx, torch)
        if metadata:
            return metadata
    version = ctx.take(told, "")
    return version if isinstance(version, str) else None
