"""The DRM nodes of the machine: which card or render node belongs to which device."""

import re

from aorta.collect import Answer, Context
from aorta.model.frozen import frozen
from aorta_collectors.gpu.numbers import parse_hex

CLASS = "/sys/class/drm"
AMD = 0x1002
_NODE = re.compile(r"(card|renderD)[0-9]{1,5}")
_PARTITION = re.compile(r"amdgpu_xcp[._][0-9]+")


@frozen
class DrmNode:
    """A card or render node. ``device`` is the name of its device: a PCI address or a partition.

    ``unread`` is the answer that kept the vendor from being seen; a device without one has none.
    """

    name: str
    device: str | None = None
    vendor: int | None = None
    driver: str | None = None
    unread: Answer[str] | None = None

    @property
    def partition(self) -> bool:
        """Tell whether it belongs to a partition of a GPU, which is a platform device without vendor."""
        return bool(self.device and _PARTITION.fullmatch(self.device))

    @property
    def amd(self) -> bool:
        """Tell whether it belongs to an AMD device; card numbers say nothing about it."""
        return self.vendor == AMD


def read_nodes(ctx: Context) -> tuple[DrmNode, ...]:
    """List cards and render nodes; connectors (``card1-DP-1``) are none."""
    names = [entry.name for entry in ctx.scan(CLASS).value or () if _NODE.fullmatch(entry.name)]
    return tuple(_node(ctx, name) for name in names)


def _node(ctx: Context, name: str) -> DrmNode:
    place = f"{CLASS}/{name}/device"
    vendor = ctx.text(f"{place}/vendor")
    return DrmNode(
        name=name,
        device=_last(ctx.link(place).value),
        vendor=parse_hex(vendor.value),
        driver=_last(ctx.link(f"{place}/driver").value),
        unread=None if vendor.ok or vendor.absent else vendor,
    )


def _last(target: str | None) -> str | None:
    return (target or "").rpartition("/")[2] or None


def card_of(nodes: tuple[DrmNode, ...], render_minor: int | None) -> str | None:
    """Return the card of the same device as a render node; None when that cannot be told."""
    render = next((node for node in nodes if node.name == f"renderD{render_minor}"), None)
    if render is None or render.device is None:
        return None
    cards = [node.name for node in nodes if node.device == render.device and node.name.startswith("card")]
    return cards[0] if len(cards) == 1 else None
