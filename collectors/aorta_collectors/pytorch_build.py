"""What torch was built from and with, as it says itself and as its files show.

What a device or a library would say belongs to other sections: nothing here comes from either.
"""

from aorta.collect import Context
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.providers.torch_symbols import TorchSymbols
from aorta_collectors.pytorch import SOURCE_VARIABLE
from aorta_collectors.pytorch.model import PytorchBuild


@collector(
    section="pytorch_build",
    model=PytorchBuild,
    provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
    scope=Scope.NAMESPACE,
    needs=(TorchFacts, TorchSymbols),
    timeout_s=40,
)
def collect(ctx: Context) -> PytorchBuild:
    """Version, commit, flags and kernels of the torch build."""
    torch = ctx.need(TorchFacts)
    if not torch.installed:
        ctx.take(torch.told("version"), "")
        if not ctx.env(SOURCE_VARIABLE):
            return PytorchBuild()
    # Most machines have no torch, and need none of this.
    from aorta_collectors.pytorch.build import describe

    return describe(ctx, torch)
