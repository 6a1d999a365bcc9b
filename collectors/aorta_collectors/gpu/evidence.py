"""Signs of an AMD GPU other than KFD's own list: device nodes, PCI, a scheduler's grant."""

from typing import Any

from aorta.collect import Answer, Context, parsed
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.gpu.drm import AMD, CLASS, read_nodes
from aorta_collectors.gpu.numbers import parse_hex
from aorta_collectors.kernel_files import NO_SYSFS, has_sysfs

KFD_DEVICE = "/dev/kfd"
DXG_DEVICE = "/dev/dxg"
PCI_DEVICES = "/sys/bus/pci/devices"

NVIDIA = 0x10DE
DISPLAY_CLASSES = (0x0300, 0x0302, 0x0380, 0x1200)
ACCELERATOR_CLASSES = (0x0302, 0x0380, 0x1200)

#: Drivers under which an AMD device can never be a ROCm GPU.
OTHER_DRIVERS = ("radeon",)
SCHEDULER_VARIABLES = ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE")
_NONE_GRANTED = ("", "0", "(null)", "N/A")


@frozen
class PciGpu:
    """A PCI function of a display or accelerator class. ``driver`` is null when none is bound."""

    bdf: str
    vendor: int
    device_class: int
    driver: str | None = None


@frozen
class Evidence:
    """What speaks for an AMD GPU. ``sysfs`` tells whether sysfs can be seen at all.

    ``trouble`` is an answer that may hide a GPU: a device node, the PCI bus, a device on it or a DRM
    node that could not be seen; None when all was seen or is positively not there.
    """

    kfd_device: bool
    dxg_device: bool
    sysfs: bool
    amd: tuple[PciGpu, ...] = ()
    amd_cards: tuple[str, ...] = ()
    nvidia: bool = False
    granted: str | None = None
    trouble: Answer[Any] | None = None

    @property
    def contradictions(self) -> tuple[str, ...]:
        """Return what contradicts the absence of AMD GPUs, each as words."""
        found = [f"{KFD_DEVICE} is there"] if self.kfd_device else []
        found += [f"PCI has {gpu.bdf} (driver {gpu.driver or 'none'})" for gpu in self.amd[:8]]
        if not self.amd:
            found += [f"DRM has the AMD card {card}" for card in self.amd_cards[:8]]
        if self.granted and not self.nvidia:
            found.append(self.granted)
        return tuple(found)


def look(ctx: Context) -> Evidence:
    """Collect the evidence; nothing is noted."""
    listing, cards = ctx.scan(PCI_DEVICES), read_nodes(ctx)
    found = [_pci_gpu(ctx, entry.name) for entry in listing.value or ()]
    gpus = [gpu for gpu in found if isinstance(gpu, PciGpu)]
    unread: list[Answer[Any] | None] = [listing, *(each for each in found if isinstance(each, Answer))]
    unread += [ctx.scan(CLASS), *(card.unread for card in cards)]
    unread += [ctx.stat(device) for device in (KFD_DEVICE, DXG_DEVICE)]
    return Evidence(
        kfd_device=_there(ctx, KFD_DEVICE),
        dxg_device=_there(ctx, DXG_DEVICE),
        sysfs=has_sysfs(ctx),
        amd_cards=tuple(
            node.name
            for node in cards
            if node.amd and node.name.startswith("card") and node.driver not in OTHER_DRIVERS
        ),
        amd=tuple(gpu for gpu in gpus if gpu.vendor == AMD and gpu.driver not in OTHER_DRIVERS),
        nvidia=any(gpu.vendor == NVIDIA for gpu in gpus) or _there(ctx, "/sys/module/nvidia"),
        granted=_granted(ctx),
        trouble=next((each for each in unread if each and not (each.ok or each.absent)), None),
    )


def _there(ctx: Context, path: str) -> bool:
    return ctx.stat(path).ok


def _granted(ctx: Context) -> str | None:
    for name in SCHEDULER_VARIABLES:
        value = (ctx.env(name) or "").strip()
        if value not in _NONE_GRANTED:
            return f"{name}={value[:40]}"
    return None


def _pci_gpu(ctx: Context, name: str) -> PciGpu | Answer[Any] | None:
    """Return a display or accelerator device, None for another one, or why neither can be said."""
    place = f"{PCI_DEVICES}/{name}"
    device_class = parsed(ctx.text(f"{place}/class"), _hex)
    if device_class.value is None:
        return device_class
    if device_class.value >> 8 not in DISPLAY_CLASSES:
        return None
    vendor = parsed(ctx.text(f"{place}/vendor"), _hex)
    if vendor.value is None:
        return vendor
    driver = (ctx.link(f"{place}/driver").value or "").rpartition("/")[2] or None
    return PciGpu(bdf=name, vendor=vendor.value, device_class=device_class.value >> 8, driver=driver)


def _hex(text: str) -> int:
    value = parse_hex(text)
    if value is None:
        raise ValueError(f"{text.strip()[:40]!a} is no hexadecimal number")
    return value


def absence(evidence: Evidence) -> tuple[ReasonKind, str, str | None] | None:
    """Say why "no GPU" cannot be claimed: kind, words, subject. None when it can."""
    against = evidence.contradictions
    if against:
        text = f"no GPU can be read in KFD's topology, yet {'; '.join(against)}"
        return ReasonKind.EXPECTED, text, KFD_DEVICE if evidence.kfd_device else None
    trouble = evidence.trouble
    if trouble is not None and trouble.kind is not None:
        return trouble.kind, trouble.detail, trouble.subject
    if not evidence.sysfs:
        return ReasonKind.UNSUPPORTED, f"{NO_SYSFS}, so devices cannot be seen", "/sys"
    return None
