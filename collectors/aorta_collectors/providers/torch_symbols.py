"""Which attention and GEMM kernels the symbols of ``libtorch_hip.so`` speak of, counted in one pass."""

from collections.abc import Mapping

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind, Scope
from aorta.plugin import provider
from aorta_collectors.providers.gap import Gap
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.tree.libraries import pick

LIBRARY = "libtorch_hip.so"

#: What the symbols of attention kernels and their libraries hold.
MARKERS = (
    "pytorch_flash::",
    "mha_fwd_aot",
    "mha_fwd_ck",
    "_efficient_attention",
    "aotriton::",
    "ck_tile::FmhaFwd",
    "ck_tile::FmhaBwd",
    "ck_tile::BlockFmha",
    "ck_tile::TileFmha",
    "group_gemm_ck",
    "aiter::",
)
COMPOSABLE_KERNEL = "ck::"

#: Symbols that are counted before the time is looked at.
STEP = 4096


@frozen
class TorchSymbols:
    """How many defined dynamic symbols of ``path`` mention each marker; None where ``gap`` says why.

    No HIP library beside torch is a gap of the kind absent.
    """

    path: str | None = None
    counts: Mapping[str, int] | None = None
    gap: Gap | None = None


@provider(model=TorchSymbols, scope=Scope.NAMESPACE, needs=(TorchFacts,), timeout_s=30.0)
def provide(ctx: Context) -> TorchSymbols:
    """What the symbols of torch's HIP library mention."""
    torch = ctx.need(TorchFacts)
    if torch.lib_dir is None:
        return TorchSymbols(gap=_no_directory(torch))
    found = pick(ctx, (torch.lib_dir,), LIBRARY)
    if found.value is None:
        return TorchSymbols(gap=_no_library(torch) if found.absent else Gap.of(found, LIBRARY))
    # Most machines have no such library, and need none of this.
    from aorta_collectors.pytorch.symbols import count, wanted

    markers = (*MARKERS, COMPOSABLE_KERNEL)
    answer = ctx.elf(found.value, wanted(markers))
    if answer.value is None:
        return TorchSymbols(path=found.value, gap=Gap.of(answer, found.value))
    names, counts = answer.value.symbols, dict.fromkeys(markers, 0)
    for start in range(0, len(names), STEP):
        if not ctx.remaining():
            text = f"{found.value}: its symbols were not all counted in time"
            gap = Gap(kind=ReasonKind.TIMED_OUT, subject=found.value, detail=text)
            return TorchSymbols(path=found.value, gap=gap)
        for marker, more in count(names[start : start + STEP], markers).items():
            counts[marker] += more
    return TorchSymbols(path=found.value, counts=counts)


def _no_directory(torch: TorchFacts) -> Gap:
    if torch.gap is not None:
        return torch.gap
    text = f"{torch.package}: no directory of torch's libraries was found"
    kind = ReasonKind.EXPECTED if torch.text("hip") else ReasonKind.UNSUPPORTED
    return Gap(kind=kind, subject=torch.package or "torch", detail=text)


def _no_library(torch: TorchFacts) -> Gap:
    hip, place = torch.text("hip"), torch.lib_dir or "torch"
    if hip:
        text = f"{place}: no {LIBRARY}, while this torch says that it was built with HIP {hip}"
        return Gap(kind=ReasonKind.EXPECTED, subject=place, detail=text)
    text = f"{place}: no {LIBRARY}, so this torch was not built with HIP"
    return Gap(kind=ReasonKind.ABSENT, subject=place, detail=text)
