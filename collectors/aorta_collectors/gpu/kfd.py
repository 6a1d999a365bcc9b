"""The GPUs of KFD's topology, with what the driver's files and rocminfo add to each."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from aorta.collect import Answer, CommandAnswer, Context
from aorta.model.frozen import evolve
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.gpu import drm, rocminfo
from aorta_collectors.gpu.evidence import PCI_DEVICES
from aorta_collectors.gpu.model import Gpu, PcieLink
from aorta_collectors.gpu.numbers import hex_id
from aorta_collectors.gpu.sysfs import DeviceFiles, read_device
from aorta_collectors.providers import KfdTopology, RocmRoots
from aorta_collectors.providers.kfd_topology import KfdNode

#: Names of the compute partition modes by the number of partitions of a GPU.
MODES = {1: "SPX", 2: "DPX", 3: "TPX", 4: "QPX"}


def from_kfd(ctx: Context, topology: KfdTopology) -> tuple[Gpu, ...]:
    """Describe each readable GPU node; what is missing is noted once a field."""
    nodes = topology.gpus
    answer = rocminfo.ask(ctx, ctx.need(RocmRoots).bin_dirs)
    names = match_agents(nodes, rocminfo.parse_agents(answer.stdout))
    cards = drm.read_nodes(ctx)
    devices: dict[str, DeviceFiles] = {}
    gpus: list[Gpu] = []
    for node in nodes:
        bdf, own = _pci_device(ctx, node, nodes)
        if own not in devices:
            devices[own] = read_device(ctx, f"{PCI_DEVICES}/{own}")
        files = devices[own]
        mode, source = _mode(files, node, topology)
        gpus.append(
            evolve(
                _base(node, names.get(node.number)),
                bdf=bdf,
                pci_device=own,
                partition_id=_partition_id(bdf, own, mode),
                compute_partition=mode,
                compute_partition_source=source,
                drm_card=drm.card_of(cards, node.get("drm_render_minor")),
                pcie_link=_link(files),
                **{key: value for key, value in files.values.items() if _own_field(key)},
            )
        )
    _note_missing(ctx, gpus, devices.values(), answer)
    return tuple(gpus)


def _own_field(key: str) -> bool:
    return "." not in key and key != "compute_partition"


def _base(node: KfdNode, agent: rocminfo.Agent | None) -> Gpu:
    simds, per_unit = node.get("simd_count"), node.get("simd_per_cu")
    vendor, device = node.get("vendor_id"), node.get("device_id")
    return Gpu(
        source="kfd",
        gfx_target=node.gfx_target,
        marketing_name=agent.marketing_name if agent else None,
        uuid=agent.uuid if agent else None,
        vendor_id=hex_id(vendor) if vendor else None,
        device_id=hex_id(device) if device else None,
        unique_id=_long_id(node.get("unique_id")),
        kfd_node=node.number,
        kfd_gpu_id=node.gpu_id,
        drm_render_minor=node.get("drm_render_minor") or None,
        compute_units=simds // per_unit if simds and per_unit else None,
        simd_count=simds,
        num_xcc=node.get("num_xcc"),
        max_engine_clock_mhz=node.get("max_engine_clk_fcompute"),
        xgmi_hive_id=_long_id(node.get("hive_id")),
        kfd_firmware_version=node.get("fw_version"),
        kfd_sdma_firmware_version=node.get("sdma_fw_version"),
    )


def _long_id(number: int | None) -> str | None:
    return hex_id(number, 16) if number else None


def address(domain: int, location: int) -> str:
    """Write KFD's domain and location_id as a PCI address; the domain has four digits or more."""
    return f"{domain:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"


def _pci_device(ctx: Context, node: KfdNode, nodes: Iterable[KfdNode]) -> tuple[str | None, str]:
    """Return the node's own address and that of its PCI function.

    In a partitioned GPU the low bits of KFD's location are the partition, and only function 0 exists.
    """
    location = node.get("location_id")
    if location is None:
        return None, "unknown"
    domain, base = node.device
    own, first = address(domain, location), address(domain, base)
    shared = sum(other.device == node.device for other in nodes) > 1
    return own, own if not shared and ctx.stat(f"{PCI_DEVICES}/{own}").ok else first


def _partition_id(bdf: str | None, own: str, mode: str | None) -> int | None:
    if bdf is None or mode in (None, "SPX"):
        return None
    return int(bdf[-1]) if bdf.rpartition(".")[0] == own.rpartition(".")[0] else None


def _mode(files: DeviceFiles, node: KfdNode, topology: KfdTopology) -> tuple[str | None, str | None]:
    """Return the compute partition mode and its source."""
    said = files.values.get("compute_partition")
    if said is not None:
        return said, "sysfs"
    counted = infer_mode(node, topology)
    return counted, "kfd" if counted else None


def infer_mode(node: KfdNode, topology: KfdTopology) -> str | None:
    """Tell the partition mode from the nodes of one package; None when they do not show it.

    Several nodes of one package with one XCC each are CPX however many can be read. The other modes
    are names for a count of partitions, which is only known when no node is hidden.
    """
    dies, package = node.get("num_xcc"), node.get("unique_id")
    if not dies or not package:
        return None
    same = [each for each in topology.gpus if each.get("unique_id") == package and each.device == node.device]
    if dies == 1:
        return "CPX" if len(same) > 1 else None
    return None if topology.unread else MODES.get(len(same))


def match_agents(nodes: Iterable[KfdNode], agents: Iterable[rocminfo.Agent]) -> dict[int, rocminfo.Agent]:
    """Return the runtime's agent of each node, by number; never by position.

    The bus address decides (in a container the runtime numbers its nodes anew); the node's number
    only where rocminfo prints no address of these GPUs or domains share one. An agent of another chip
    is none.
    """
    agents, nodes = tuple(agents), tuple(nodes)
    addresses = {node.get("location_id") for node in nodes}
    found: dict[int, rocminfo.Agent] = {}
    for node in nodes:
        near = [agent for agent in agents if _may_be(agent, node, addresses)]
        exact = [agent for agent in near if agent.node == node.number] if len(near) > 1 else near
        if len(exact) == 1:
            found[node.number] = exact[0]
    return found


def _may_be(agent: rocminfo.Agent, node: KfdNode, addresses: set[int | None]) -> bool:
    if agent.chip_id not in (None, node.get("device_id")):
        return False
    if agent.bdfid is None or agent.bdfid not in addresses:
        return agent.node == node.number
    return agent.bdfid == node.get("location_id")


def _link(files: DeviceFiles) -> PcieLink | None:
    values = {
        key.partition(".")[2]: value for key, value in files.values.items() if key.startswith("pcie_link.")
    }
    return PcieLink(**values) if values else None


def _note_missing(
    ctx: Context, gpus: list[Gpu], devices: Iterable[DeviceFiles], answer: CommandAnswer
) -> None:
    """Note each missing field once, with how many GPUs it concerns."""
    for field, first, count in _grouped(devices, gpus):
        unseen = ReasonKind.UNSUPPORTED if first.absent else first.kind
        text = _lacking(first, f"{count} of {len(gpus)} GPUs")
        ctx.note(unseen or ReasonKind.FAILED, field, text, subject=first.subject)
    if answer.kind is not None:
        kind, text = rocminfo.explain(answer)
        ctx.note(kind, "marketing_name", text, subject="rocminfo")
    for field in ("gfx_target", "marketing_name", "compute_partition", "drm_card", "num_xcc", "kfd_gpu_id"):
        count = sum(getattr(gpu, field) is None for gpu in gpus)
        if count and not (field == "marketing_name" and answer.kind is not None):
            text = f"no source tells it for {count} of {len(gpus)} GPUs"
            ctx.note(ReasonKind.UNSUPPORTED, field, text)


def _lacking(answer: Answer[Any], gpus: str) -> str:
    """Say which of the driver's files some GPUs do not have, or do not let be read."""
    below = re.fullmatch(rf"{PCI_DEVICES}/[^/]+(?:/(.+))?", answer.subject or "")
    name = (
        below[1] if below else None
    ) or "the device's directory in sysfs (VBIOS, VRAM, firmware, links, RAS)"
    return f"{gpus}: {name} {'is not there' if answer.absent else 'cannot be read'}: {answer.detail}"


def _grouped(devices: Iterable[DeviceFiles], gpus: list[Gpu]) -> Iterator[tuple[str, Answer[Any], int]]:
    missing: dict[tuple[str, str], list[Answer[Any]]] = {}
    for files in devices:
        for field, answer in files.missing:
            missing.setdefault((field, str(answer.kind)), []).append(answer)
    for (field, _kind), answers in missing.items():
        if field == "compute_partition" and answers[0].absent:
            continue
        place = re.compile(rf"{PCI_DEVICES}/([^/]+)")
        concerned = {
            match[1] for match in (place.search(answer.subject or "") for answer in answers) if match
        }
        yield field, answers[0], sum(gpu.pci_device in concerned for gpu in gpus) or len(answers)
