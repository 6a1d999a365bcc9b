"""The AMD GPUs that this process can see, one entry each (a partition counts as one)."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Coverage, Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.gpu import rocminfo
from aorta_collectors.gpu.evidence import ACCELERATOR_CLASSES, DXG_DEVICE, Evidence, absence, look
from aorta_collectors.gpu.kfd import address, from_kfd
from aorta_collectors.gpu.model import Gpu
from aorta_collectors.gpu.numbers import hex_id
from aorta_collectors.providers import KfdTopology, RocmRoots


@collector(
    section="gpus",
    model=Annotated[
        tuple[Gpu, ...] | None,
        Fact(
            "The AMD GPUs that can be read, in the order of KFD's nodes; empty: positively none.",
            caveat="ROCR_VISIBLE_DEVICES and the other masks are not applied.",
        ),
    ],
    provenance=(Provenance.HOST_DEVICE, Provenance.HOST_KERNEL),
    scope=Scope.NAMESPACE,
    needs=(KfdTopology, RocmRoots),
    timeout_s=25,
)
def collect(ctx: Context) -> tuple[Gpu, ...] | None:
    """AMD GPUs: identity, firmware, partitions, links and error counts of each."""
    topology, evidence = ctx.need(KfdTopology), look(ctx)
    if topology.gpus:
        ctx.cover("gpu", Coverage.SEEN)
        _note_lost(ctx, topology, evidence)
        return from_kfd(ctx, topology)
    if topology.unread:
        worst = next(iter(topology.broken), topology.unread[0])
        text = f"{len(topology.unread)} KFD nodes cannot be read, none shows a GPU: {worst.detail}"
        ctx.note(worst.kind, "", text, subject=worst.subject)
        ctx.cover("gpu", Coverage.UNKNOWN)
        return None
    if evidence.dxg_device and not evidence.kfd_device:
        return _from_runtime(ctx)
    why = absence(evidence)
    ctx.cover("gpu", Coverage.UNKNOWN if why else Coverage.ABSENT)
    if why is None:
        return ()
    kind, text, subject = why
    ctx.note(kind, "", text, subject=subject)
    return None


def _note_lost(ctx: Context, topology: KfdTopology, evidence: Evidence) -> None:
    """Note nodes that broke, and accelerators on the bus that KFD does not list."""
    for node in topology.broken:
        ctx.note(node.kind, "", f"a KFD node cannot be read: {node.detail}", subject=node.subject)
    if topology.unread:
        return
    known = {address(*node.device).rpartition(".")[0] for node in topology.gpus}
    for gpu in evidence.amd:
        lost = gpu.device_class in ACCELERATOR_CLASSES and gpu.bdf.rpartition(".")[0] not in known
        if lost and gpu.driver in (None, "amdgpu"):
            text = (
                f"PCI has the AMD accelerator {gpu.bdf} (driver {gpu.driver or 'none'}), KFD does not list it"
            )
            ctx.note(ReasonKind.EXPECTED, "", text, subject=gpu.bdf)


def _from_runtime(ctx: Context) -> tuple[Gpu, ...] | None:
    """WSL2: there is no KFD; only the runtime knows the GPU behind /dev/dxg."""
    answer = rocminfo.ask(ctx, ctx.need(RocmRoots).bin_dirs)
    agents = rocminfo.parse_agents(answer.stdout)
    if agents:
        ctx.cover("gpu", Coverage.SEEN)
        missing = "this system has no KFD and no amdgpu driver: rocminfo is the only source"
        ctx.note(ReasonKind.UNSUPPORTED, "", missing, subject=DXG_DEVICE)
        return tuple(_from_agent(agent) for agent in agents)
    ctx.cover("gpu", Coverage.UNKNOWN)
    kind, text = rocminfo.explain(answer)
    hint = f"{text}; {DXG_DEVICE} is there (HSA_ENABLE_DXG_DETECTION may be needed)"
    ctx.note(kind, "", hint, subject="rocminfo")
    return None


def _from_agent(agent: rocminfo.Agent) -> Gpu:
    return Gpu(
        source="rocminfo",
        gfx_target=agent.name,
        marketing_name=agent.marketing_name,
        device_id=None if agent.chip_id is None else hex_id(agent.chip_id),
        uuid=agent.uuid,
        compute_units=agent.compute_units,
    )
