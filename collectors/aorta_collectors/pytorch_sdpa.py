"""Which kernels for scaled dot product attention torch may choose from at run time."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.providers.torch_facts import TorchFacts

CAVEAT = "A switch: on by default even where no such kernel was compiled in."


@frozen
class Backends:
    """One switch of ``torch.backends.cuda`` each."""

    flash_sdp_enabled: Annotated[
        bool | None, Fact("Whether FlashAttention kernels may be chosen.", caveat=CAVEAT)
    ] = None
    mem_efficient_sdp_enabled: Annotated[
        bool | None, Fact("Whether memory-efficient kernels may be chosen.", caveat=CAVEAT)
    ] = None
    math_sdp_enabled: Annotated[
        bool | None, Fact("Whether the plain implementation may be chosen.", caveat=CAVEAT)
    ] = None
    cudnn_sdp_enabled: Annotated[
        bool | None, Fact("Whether cuDNN kernels may be chosen.", caveat=f"{CAVEAT} True on ROCm too.")
    ] = None


@frozen
class PytorchSdpa:
    """The switches; what was compiled in is in pytorch_build."""

    backends_enabled: Annotated[
        Backends,
        Fact("Switches in the process that was asked, which may be a fresh one, not the workload's."),
    ] = Backends()


NAMES = ("flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "cudnn_sdp_enabled")


@collector(
    section="pytorch_sdpa",
    model=PytorchSdpa,
    provenance=Provenance.PROCESS,
    scope=Scope.NAMESPACE,
    needs=(TorchFacts,),
)
def collect(ctx: Context) -> PytorchSdpa:
    """Attention kernels that torch may choose from."""
    torch = ctx.need(TorchFacts)
    if not torch.installed:
        ctx.take(torch.told("version"), "")
        return PytorchSdpa()
    switches = {name: ctx.take(torch.told(name), f"backends_enabled.{name}") for name in NAMES}
    for name, value in switches.items():
        if torch.told(name).ok and value is None:
            text = f"this torch has no torch.backends.cuda.{name}"
            ctx.note(ReasonKind.UNSUPPORTED, f"backends_enabled.{name}", text, subject="torch")
    known = {name: value for name, value in switches.items() if isinstance(value, bool)}
    return PytorchSdpa(backends_enabled=Backends(**known))
