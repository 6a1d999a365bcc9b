"""The GPU targets of the machine: the silicon's own, and what tools and the runtime make of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from aorta.collect import Answer, CommandAnswer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import evolve, frozen
from aorta.model.vocabulary import Outcome, Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.gpu import evidence, rocminfo
from aorta_collectors.gpu.gfx import Target, names_any, parse_targets, plain
from aorta_collectors.kernel_files import NO_SYSFS
from aorta_collectors.providers import KfdTopology, RocmRoots
from aorta_collectors.providers.kfd_topology import CLASS
from aorta_collectors.tools.tool_json import first_line

ENUMERATOR = ("rocm_agent_enumerator",)
NAMED = (*ENUMERATOR, "-name")
ENUMERATOR_TIMEOUT_S = 30.0
OVERRIDE_PREFIX = "HSA_OVERRIDE_GFX_VERSION"
TARGET_LIST = "ROCM_TARGET_LST"
MASKS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
NO_INTERPRETER = 127


@frozen
class GpuArch:
    """Targets and counts of the GPUs that this process may read."""

    agent_count: Annotated[
        int | None,
        Fact("GPUs; each partition counts.", caveat="Before ROCR_VISIBLE_DEVICES and the other masks."),
    ] = None
    gfx_targets: Annotated[
        tuple[str, ...] | None,
        Fact("Distinct targets, sorted.", caveat="Of the silicon where KFD can be read."),
    ] = None
    agent_arch_counts: Annotated[dict[str, int] | None, Fact("GPUs by target, sorted by name.")] = None
    source: Annotated[
        str | None,
        Fact(
            "What the three values above rest on: kfd, rocm_agent_enumerator or rocminfo.",
            caveat="Both tools obey HSA_OVERRIDE_GFX_VERSION, the enumerator also ROCM_TARGET_LST.",
        ),
    ] = None
    silicon_targets: Annotated[
        tuple[str, ...] | None, Fact("Target of each readable GPU node, in the order of KFD's nodes.")
    ] = None
    physical_count: Annotated[int | None, Fact("Distinct PCI devices behind the GPU nodes.")] = None
    denied_nodes: Annotated[
        int | None, Fact("KFD nodes that may not be read: devices of others, hidden by a device cgroup.")
    ] = None
    enumerator_targets: Annotated[
        tuple[str, ...] | None,
        Fact("Devices that rocm_agent_enumerator prints, in its order, without gfx000 and generic targets."),
    ] = None
    enumerator_agrees: Annotated[
        bool | None, Fact("Whether the enumerator names as many GPUs of the same targets as KFD.")
    ] = None
    runtime_targets: Annotated[
        tuple[str, ...] | None,
        Fact(
            "GPU agents that rocminfo prints, in its order: the runtime's view, masks and overrides applied."
        ),
    ] = None
    runtime_agrees: Annotated[
        bool | None,
        Fact(
            "Whether the runtime's targets are those of KFD; with a ROCR mask, whether they are among them."
        ),
    ] = None
    isa_targets: Annotated[
        tuple[str, ...] | None, Fact("Distinct targets with features, e.g. gfx942:sramecc+:xnack-.")
    ] = None
    overrides: Annotated[
        dict[str, str] | None,
        Fact(
            "HSA_OVERRIDE_GFX_VERSION, its per-device forms, ROCM_TARGET_LST, as set; an empty text is set."
        ),
    ] = None
    visibility_masks: Annotated[
        dict[str, str] | None,
        Fact("ROCR_, HIP_, CUDA_VISIBLE_DEVICES and GPU_DEVICE_ORDINAL, as set; an empty text hides all."),
    ] = None


@collector(
    section="gpu_arch",
    model=GpuArch,
    provenance=(Provenance.HOST_DEVICE, Provenance.HOST_KERNEL),
    scope=Scope.NAMESPACE,
    needs=(KfdTopology, RocmRoots),
    timeout_s=40,
)
def collect(ctx: Context) -> GpuArch:
    """GPU targets of the silicon, of the enumerator and of the runtime."""
    topology = ctx.need(KfdTopology)
    looks = {path: ctx.stat(path) for path in (evidence.KFD_DEVICE, evidence.DXG_DEVICE)}
    device = next((path for path, seen in looks.items() if seen.ok), None)
    runtime_possible = bool(topology.gpus) or device is not None
    # rocminfo names the features too; where it cannot run, the enumerator's other form does.
    second = rocminfo.COMMAND if runtime_possible else NAMED
    answers = ctx.commands(
        ENUMERATOR, second, timeout=ENUMERATOR_TIMEOUT_S, path=ctx.need(RocmRoots).bin_dirs
    )
    listed = _enumerated(ctx, answers[0], topology, device)
    agents = _runtime(ctx, answers[1], topology) if runtime_possible else None
    named = () if runtime_possible or not listed else tuple(parse_targets(answers[1].stdout))
    if not runtime_possible:
        _note_devices(ctx, looks.values())
    masks = {name: value for name in MASKS if (value := ctx.env(name)) is not None}
    _note_topology(ctx, topology)
    silicon = tuple(node.gfx_target for node in topology.gpus if node.gfx_target)
    # With a node that could not be read, the tools may know more than KFD tells.
    known = () if topology.broken else silicon
    runtime = None if agents is None else tuple(agent.name for agent in agents)
    return evolve(
        _counts(ctx, topology, listed, runtime, device),
        silicon_targets=silicon or None,
        physical_count=None if topology.broken else len({node.device for node in topology.gpus}) or None,
        denied_nodes=None if topology.present is None else len(topology.denied),
        enumerator_targets=listed,
        enumerator_agrees=_same(known, listed),
        runtime_targets=runtime,
        runtime_agrees=_among(known, runtime) if "ROCR_VISIBLE_DEVICES" in masks else _same(known, runtime),
        isa_targets=_isa_targets(ctx, agents, named, gpus=bool(topology.gpus)),
        overrides=_overrides(ctx),
        visibility_masks=masks,
    )


def _note_devices(ctx: Context, looks: Iterable[Answer[Any]]) -> None:
    for refused in (seen for seen in looks if not seen.absent):
        ctx.take(refused, "runtime_targets")
        return
    text = "there is neither /dev/kfd nor /dev/dxg, so the runtime was not asked"
    ctx.note(ReasonKind.ABSENT, "runtime_targets", text, subject=evidence.KFD_DEVICE)


def _note_topology(ctx: Context, topology: KfdTopology) -> None:
    if topology.present is False:
        text = "there is no KFD topology: nothing tells the silicon apart from what tools print"
        for field in ("silicon_targets", "physical_count"):
            ctx.note(ReasonKind.ABSENT, field, text, subject=CLASS)
    elif topology.present is None:
        why = topology.unread[0] if topology.unread else None
        kind, text = (why.kind, why.detail) if why else (ReasonKind.UNSUPPORTED, NO_SYSFS)
        for field in ("silicon_targets", "physical_count", "denied_nodes"):
            ctx.note(kind, field, text, subject=CLASS)
    elif topology.broken:
        first = topology.broken[0]
        ctx.note(
            first.kind, "physical_count", f"a KFD node cannot be read: {first.detail}", subject=first.subject
        )


def _overrides(ctx: Context) -> dict[str, str]:
    names = [*ctx.env_names(OVERRIDE_PREFIX), TARGET_LIST]
    return {name: value for name in names if (value := ctx.env(name)) is not None}


def _counts(
    ctx: Context,
    topology: KfdTopology,
    listed: tuple[str, ...] | None,
    runtime: tuple[str, ...] | None,
    device: str | None,
) -> GpuArch:
    """Return the three counts and their source: KFD where all of it is known, else what a tool lists."""
    targets = [node.gfx_target for node in topology.gpus]
    known = [target for target in targets if target is not None]
    if targets and len(known) == len(targets) and not topology.broken:
        return _counted(known, "kfd")
    if listed:
        return _counted(listed, ENUMERATOR[0])
    if runtime and not topology.unread:
        return _counted(runtime, "rocminfo")
    if topology.unread:
        why = topology.unread[0]
        text = f"{len(topology.unread)} KFD nodes cannot be read: {why.detail}"
        _note_counts(ctx, why.kind, text, why.subject)
    elif targets:
        text = "KFD lists GPUs without a usable gfx_target_version"
        _note_counts(ctx, ReasonKind.UNSUPPORTED, text)
    elif device is not None:
        text = f"{device} is there, yet neither KFD's topology nor a tool names a GPU"
        _note_counts(ctx, ReasonKind.EXPECTED, text, device)
    elif topology.present or listed is not None:
        return _counted((), "kfd" if topology.present else ENUMERATOR[0])
    elif topology.present is None:
        _note_counts(ctx, ReasonKind.UNSUPPORTED, NO_SYSFS, CLASS)
    else:
        _note_counts(ctx, ReasonKind.ABSENT, "this host has no KFD", CLASS)
    return GpuArch()


def _note_counts(ctx: Context, kind: ReasonKind, text: str, subject: str | None = None) -> None:
    for field in ("agent_count", "gfx_targets", "agent_arch_counts", "source"):
        ctx.note(kind, field, text, subject=subject)


def _counted(targets: Sequence[str], source: str) -> GpuArch:
    counts = Counter(targets)
    return GpuArch(
        agent_count=len(targets),
        gfx_targets=tuple(sorted(counts)),
        agent_arch_counts={target: counts[target] for target in sorted(counts)},
        source=source,
    )


def _enumerated(
    ctx: Context, answer: CommandAnswer, topology: KfdTopology, device: str | None
) -> tuple[str, ...] | None:
    """Return what the enumerator lists; noise on its stdout is never a target."""
    field = "enumerator_targets"
    if answer.kind is not None:
        kind, text = answer.kind, plain(answer.detail)
        if answer.value is not None and answer.value.exit_code == NO_INTERPRETER:
            kind = ReasonKind.NO_TOOL
        ended = answer.value is not None and answer.value.outcome is Outcome.EXIT
        if ended and device is None and not topology.present and not topology.unread:
            # The tool looks for what is not there to be seen; without a GPU that is no failure of it.
            why = "this host has no KFD" if topology.present is False else NO_SYSFS
            kind = ReasonKind.ABSENT if topology.present is False else ReasonKind.UNSUPPORTED
            text = f"{text} ({why})"
        ctx.note(kind, field, text, subject=ENUMERATOR[0])
        return None
    listed = tuple(target.base for target in parse_targets(answer.stdout))
    noise = first_line(plain(answer.stdout))
    if not listed and topology.gpus:
        text = f"the tool failed: it lists no GPU, KFD lists {len(topology.gpus)}"
        text += f"; it printed: {noise}" if noise else ""
        ctx.note(ReasonKind.FAILED, field, text, subject=ENUMERATOR[0])
        return None
    if noise and not names_any(answer.stdout):
        ctx.note(ReasonKind.UNPARSED, field, f"no list of targets but {noise!r}", subject=ENUMERATOR[0])
        return None
    if not noise and topology.present is None and not topology.unread:
        text = f"an empty list says nothing: {NO_SYSFS}"
        ctx.note(ReasonKind.UNSUPPORTED, field, text, subject=ENUMERATOR[0])
        return None
    return listed


def _runtime(ctx: Context, answer: CommandAnswer, topology: KfdTopology) -> tuple[rocminfo.Agent, ...] | None:
    agents = rocminfo.parse_agents(answer.stdout)
    mask = ctx.env("ROCR_VISIBLE_DEVICES")
    if agents:
        return agents
    noise = first_line(plain(answer.stdout))
    if noise and not rocminfo.lists_any(answer.stdout):
        text = f"no list of agents but {noise!r}"
        ctx.note(ReasonKind.UNPARSED, "runtime_targets", text, subject=rocminfo.COMMAND[0])
        return None
    kind, text = rocminfo.explain(answer)
    if answer.kind is None and mask is not None and topology.gpus:
        text = (
            f"rocminfo lists no GPU, KFD lists {len(topology.gpus)}: ROCR_VISIBLE_DEVICES={mask!r} hides them"
        )
    ctx.note(kind, "runtime_targets", text, subject="rocminfo")
    return () if answer.kind is None else None


def _isa_targets(
    ctx: Context, agents: tuple[rocminfo.Agent, ...] | None, named: tuple[Target, ...], *, gpus: bool
) -> tuple[str, ...] | None:
    """Return targets with their features: rocminfo's, or those of the enumerator's ``-name``."""
    found: list[Target] = [agent.target for agent in agents or () if agent.target is not None]
    found = found or list(named)
    if not found:
        kind = ReasonKind.UNSUPPORTED if gpus or agents else ReasonKind.ABSENT
        ctx.note(kind, "isa_targets", "no tool names the features of a GPU")
    return tuple(sorted({target.text for target in found})) or None


def _same(silicon: tuple[str, ...], seen: tuple[str, ...] | None) -> bool | None:
    return None if not silicon or seen is None else Counter(silicon) == Counter(seen)


def _among(silicon: tuple[str, ...], seen: tuple[str, ...] | None) -> bool | None:
    return None if not silicon or seen is None else not Counter(seen) - Counter(silicon)
