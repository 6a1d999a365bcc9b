"""What is unusual of a machine's GPUs, one line each: hidden, partitioned, masked, unlike the others."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aorta.cli.plain import Document, odd_ones
from aorta.model.text import count_of, listed

Gpus = Sequence[Mapping[str, Any]]

MASKS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"

#: Variables that a job on GPUs of another vendor has, and their values that name no device.
OTHER_VENDORS = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
NO_DEVICES = ("", "-1", "void", "none", "NoDevFiles")

#: The most GPUs, or kinds of firmware, that one line names.
SHOWN = 4


def gpu_notes(known: Document) -> Iterator[str]:
    """Yield the lines."""
    if known.text("collection.coverage.gpu") == "absent":
        yield _none(known)
    else:
        if known.text("collection.coverage.gpu") == "unknown" and known.ran("gpus"):
            yield "whether there is an AMD GPU could not be seen"
        yield from _view(known)
    yield from _targets(known)
    gpus = known.members("gpus")
    if len({_chip(gpu) for gpu in gpus}) > 1:
        yield f"the GPUs are of several models: {_counted([_model(gpu) for gpu in gpus])}"
    # Partitions share the files of their GPU.
    devices = list({str(gpu.get("pci_device") or number): gpu for number, gpu in enumerate(gpus)}.values())
    yield from _unlike(devices)
    yield from _links(devices)
    yield from _errors(devices)


def _none(known: Document) -> str:
    masks = known.get("gpu_arch.visibility_masks")
    for name in OTHER_VENDORS:
        value = known.text(f"env_vars.{name}") or (masks.get(name) if isinstance(masks, Mapping) else None)
        if value and value not in NO_DEVICES:
            return f"no AMD GPU, but {name} is set"
    launcher = known.text("launcher.kind")
    job = known.text("launcher.job_id") or (launcher if launcher != "none" else "")
    if job:
        return f"no AMD GPU was seen in this job ({launcher if launcher not in ('', 'none') else job})"
    if launcher == "none" and known.ran("launcher"):
        return "no AMD GPU and no job: is this a login node?"
    return "no AMD GPU was seen"


def _view(known: Document) -> Iterator[str]:
    """Yield what lies between the machine's GPUs and what this process can use."""
    gpus = known.members("gpus")
    agents, physical = known.get("gpu_arch.agent_count"), known.get("gpu_arch.physical_count")
    compute = sorted({str(gpu["compute_partition"]) for gpu in gpus if gpu.get("compute_partition")})
    memory = sorted({str(gpu["memory_partition"]) for gpu in gpus if gpu.get("memory_partition")})
    parted = isinstance(agents, int) and isinstance(physical, int) and agents > physical
    if parted or not {*compute, *memory} <= {"SPX", "NPS1"}:
        modes = ", ".join([*compute, *(memory or ["memory mode unknown"])])
        counts = f"{count_of(agents, 'agent')} on {count_of(physical, 'physical GPU')}" if parted else ""
        yield f"partitioned ({modes}){f': {counts}' if counts else ''}"
    denied = known.get("gpu_arch.denied_nodes")
    if isinstance(denied, int) and denied > 0:
        verb = "is" if denied == 1 else "are"
        also = " (a partition counts as one)" if parted else ""
        yield f"{denied} more GPU{'s' if denied > 1 else ''} {verb} not visible to this process{also}"
    masks = _variables(known, "gpu_arch.visibility_masks", MASKS)
    if masks:
        yield f"visibility masks in effect: {listed(masks, SHOWN)}"


def _targets(known: Document) -> Iterator[str]:
    overrides = _variables(known, "gpu_arch.overrides", (OVERRIDE,))
    if overrides:
        yield f"{listed(overrides, SHOWN)}: GPU targets are told in place of the silicon's own"
    for name, who in (("enumerator", "rocm_agent_enumerator"), ("runtime", "the HSA runtime")):
        if known.get(f"gpu_arch.{name}_agrees") is False:
            told, silicon = known.get(f"gpu_arch.{name}_targets"), known.get("gpu_arch.silicon_targets")
            both = isinstance(told, list) and isinstance(silicon, list)
            detail = f": {_counted(told)}, the silicon is {_counted(silicon)}" if both else ""
            yield f"{who} and the kernel's topology name different GPUs{detail}"


def _variables(known: Document, path: str, names: Sequence[str]) -> list[str]:
    """Return ``NAME=value`` of a map of variables, or of some of ``env_vars`` where there is no such map."""
    found = known.get(path)
    if not isinstance(found, Mapping) or not found:
        found = {name: known.text(f"env_vars.{name}") or None for name in names}
    return [f"{name}={value or '(empty)'}" for name, value in found.items() if isinstance(value, str)]


def _chip(gpu: Mapping[str, Any]) -> tuple[str, str]:
    return str(gpu.get("device_id")), str(gpu.get("gfx_target"))


def _model(gpu: Mapping[str, Any]) -> str:
    parts = (gpu.get("marketing_name") or gpu.get("device_id"), gpu.get("gfx_target"))
    return " ".join(str(part) for part in parts if part) or "GPU"


def _unlike(gpus: Gpus) -> Iterator[str]:
    """Yield what GPUs of the same model have in different versions."""
    models: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for gpu in gpus:
        models.setdefault(_chip(gpu), []).append(gpu)
    for alike in models.values():
        versions: dict[str, list[tuple[str, str]]] = {}
        for gpu in alike:
            for name, version in _versions(gpu):
                versions.setdefault(name, []).append((version, _place(gpu)))
        vbios = odd_ones(versions.pop("VBIOS", []))
        if vbios:
            yield f"the GPUs' VBIOS differs: {vbios}"
        firmware = [f"{name} {odd}" for name, found in versions.items() if (odd := odd_ones(found))]
        if firmware:
            yield f"the GPUs' firmware differs: {listed(firmware, SHOWN)}"


def _versions(gpu: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    firmware = gpu.get("firmware_versions")
    named = {
        "VBIOS": gpu.get("vbios_version"),
        "MEC": gpu.get("kfd_firmware_version"),
        "SDMA": gpu.get("kfd_sdma_firmware_version"),
        **(firmware if isinstance(firmware, Mapping) else {}),
    }
    for name, version in named.items():
        if version is not None:
            yield name, str(version)


def _links(gpus: Gpus) -> Iterator[str]:
    slow = {_place(gpu): link for gpu in gpus if (link := _slow_link(gpu))}
    if slow:
        yield f"PCIe link below its maximum: {_counted(slow.values())}: {listed(list(slow), SHOWN)}"


def _slow_link(gpu: Mapping[str, Any]) -> str:
    link = gpu.get("pcie_link")
    if not isinstance(link, Mapping):
        return ""
    pairs = [(link.get(name), link.get(f"max_{name}")) for name in ("speed", "width")]
    if not any(_below(now, most) for now, most in pairs):
        return ""
    (speed, most_speed), (width, most_width) = pairs
    return f"{speed} x{width} of {most_speed} x{most_width}"


def _below(now: Any, most: Any) -> bool:
    first, second = _number(now), _number(most)
    return first is not None and second is not None and first < second


def _number(value: Any) -> float | None:
    """Return the number that ``32.0 GT/s PCIe`` begins with."""
    try:
        return float(str(value).split()[0])
    except (ValueError, IndexError):
        return None


def _errors(gpus: Gpus) -> Iterator[str]:
    bad = [f"{_place(gpu)} {errors}" for gpu in gpus if (errors := _error_counts(gpu))]
    if bad:
        yield f"RAS errors since the driver was loaded: {listed(bad, SHOWN)}"


def _error_counts(gpu: Mapping[str, Any]) -> str:
    """Return how many errors of each kind all blocks of a GPU had together."""
    blocks = gpu.get("ras")
    counts: Counter[str] = Counter()
    for block in blocks.values() if isinstance(blocks, Mapping) else ():
        for kind, number in block.items() if isinstance(block, Mapping) else ():
            if isinstance(number, int) and number > 0:
                counts[kind] += number
    return " ".join(f"{number} {kind}" for kind, number in counts.items())


def _place(gpu: Mapping[str, Any]) -> str:
    return str(gpu.get("pci_device") or gpu.get("bdf") or "?")


def _counted(names: Iterable[Any]) -> str:
    return (
        listed([f"{number} x {name}" for name, number in Counter(map(str, names)).items()], SHOWN) or "none"
    )
