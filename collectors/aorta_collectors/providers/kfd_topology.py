"""The GPUs as the kernel's compute driver (KFD) lists them, without opening any device."""

import re

import attrs

from aorta.collect import Context, parsed
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind, Scope
from aorta.plugin import provider
from aorta_collectors.gpu.gfx import decode_target_version
from aorta_collectors.kernel_files import believed

CLASS = "/sys/class/kfd"
NODES = "/sys/class/kfd/kfd/topology/nodes"
NODE_LIMIT = 4096
_PROPERTY = re.compile(r"(\w{1,64}) (\d{1,20})")


@frozen
class KfdNode:
    """One node that could be read. ``name`` is KFD's (``ip discovery``), no product name."""

    number: int
    gpu_id: int | None = None
    name: str | None = None
    properties: dict[str, int] = attrs.field(factory=dict)

    @property
    def is_gpu(self) -> bool:
        """Tell whether the node has a GPU."""
        return bool(self.gpu_id or self.get("simd_count") or self.get("gfx_target_version"))

    @property
    def gfx_target(self) -> str | None:
        """Return the silicon's target; None where this kernel does not tell it or it is no target."""
        try:
            return decode_target_version(self.get("gfx_target_version") or 0)
        except ValueError:
            return None

    @property
    def device(self) -> tuple[int, int]:
        """Return domain and bus address without the function: the same for all partitions of a GPU."""
        return self.get("domain") or 0, (self.get("location_id") or 0) & 0xFFF8

    def get(self, key: str) -> int | None:
        """Return a property; None when this kernel does not have it."""
        return self.properties.get(key)


@frozen
class Unread:
    """A node, or with number None the whole listing, that could not be read, and why."""

    number: int | None
    kind: ReasonKind
    subject: str
    detail: str


@frozen
class KfdTopology:
    """What KFD's topology shows to this process.

    ``present`` tells whether the topology is there at all, None when that could not be seen: then the
    listing is ``unread``, or there is no sysfs to see it in and nothing is.
    ``nodes`` are those that could be read, by number. ``unread`` are the others: a device cgroup
    (scheduler, container) lists all nodes and refuses the reading of the hidden ones.
    """

    present: bool | None = None
    nodes: tuple[KfdNode, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def gpus(self) -> tuple[KfdNode, ...]:
        """Return the readable nodes with a GPU."""
        return tuple(node for node in self.nodes if node.is_gpu)

    @property
    def denied(self) -> tuple[Unread, ...]:
        """Return the nodes whose reading was refused."""
        return tuple(each for each in self.unread if each.kind is ReasonKind.DENIED)

    @property
    def broken(self) -> tuple[Unread, ...]:
        """Return what could not be read for another cause than a refusal."""
        return tuple(each for each in self.unread if each.kind is not ReasonKind.DENIED)


@provider(model=KfdTopology, scope=Scope.NAMESPACE, timeout_s=10)
def provide(ctx: Context) -> KfdTopology:
    """KFD topology: nodes, their properties, and which of them may not be read."""
    listing = believed(ctx, ctx.scan(NODES))
    if listing.kind is ReasonKind.UNSUPPORTED:
        return KfdTopology()
    if listing.kind is ReasonKind.ABSENT:
        return KfdTopology(present=False)
    if listing.kind is not None:
        return KfdTopology(
            unread=(Unread(number=None, kind=listing.kind, subject=NODES, detail=listing.detail),)
        )
    numbers = sorted(
        int(entry.name) for entry in listing.value or () if re.fullmatch(r"[0-9]{1,6}", entry.name)
    )
    read = [_node(ctx, number) for number in numbers[:NODE_LIMIT]]
    return KfdTopology(
        present=True,
        nodes=tuple(node for node in read if isinstance(node, KfdNode)),
        unread=tuple(node for node in read if isinstance(node, Unread)),
    )


def _node(ctx: Context, number: int) -> KfdNode | Unread:
    place = f"{NODES}/{number}"
    properties = parsed(ctx.text(f"{place}/properties"), _properties)
    if properties.kind is not None:
        return Unread(
            number=number, kind=properties.kind, subject=f"{place}/properties", detail=properties.detail
        )
    gpu_id, name = ctx.text(f"{place}/gpu_id"), ctx.text(f"{place}/name")
    return KfdNode(
        number=number,
        gpu_id=_number(gpu_id.value),
        name=(name.value or "").strip() or None,
        properties=properties.value or {},
    )


def _properties(text: str) -> dict[str, int]:
    found = parse_properties(text)
    if not found:
        raise ValueError("no property in it")
    return found


def _number(text: str | None) -> int | None:
    found = re.fullmatch(r"[0-9]{1,20}", (text or "").strip())
    return int(found[0]) if found else None


def parse_properties(text: str) -> dict[str, int]:
    """Read ``key value`` lines; lines of another form are left out."""
    matches = (_PROPERTY.fullmatch(line.strip()) for line in text.splitlines())
    return {match[1]: int(match[2]) for match in matches if match}
