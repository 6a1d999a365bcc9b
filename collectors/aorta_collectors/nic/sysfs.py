"""Network and RDMA devices as sysfs shows them: which belong together, and the files of each."""

import posixpath
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from aorta.collect import Answer, Context, parsed
from aorta.model.frozen import evolve
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.nic.ids import model_of
from aorta_collectors.nic.model import NicDevice, NicInterface, NicPort
from aorta_collectors.nic.names import last, natural, pci_address
from aorta_collectors.nic.tools import printable

T = TypeVar("T")

NET = "/sys/class/net"
INFINIBAND = "/sys/class/infiniband"
PCI = "/sys/bus/pci/devices"
VIRTUAL = "/sys/devices/virtual/"
GID_LIMIT = 16

#: What an entry has of its RDMA device.
RDMA_FIELDS = (
    *("rdma_device", "firmware", "board_id", "hca_type", "node_guid"),
    *("ports", "state", "physical_state", "rate", "link_layer"),
)

#: Buses whose devices number their vendors in their own way; the PCI function above has the real ids.
_BELOW_PCI = r"virtio[0-9]{1,6}|[a-z0-9_]{1,40}\.[a-z_]{1,40}\.[0-9]{1,9}"


class Member(NamedTuple):
    """An entry of ``/sys/class/net`` or ``/sys/class/infiniband``; ``place`` is its device's directory.

    ``place`` is null for what has no device: loopback, bridges, veth, software RDMA.
    """

    name: str
    place: str | None = None


class Gaps:
    """What could not be read, by field; ``note`` keeps all answers, ``take`` returns a value or None."""

    def __init__(self) -> None:
        self.found: list[tuple[str, Answer[Any]]] = []

    def note(self, field: str, answer: Answer[Any]) -> None:
        """Keep why a field is missing."""
        self.found.append((field, answer))

    def take(self, field: str, answer: Answer[T]) -> T | None:
        """Return an answer's value, or keep why there is none."""
        if not answer.ok:
            self.note(field, answer)
        return answer.value


def member(ctx: Context, directory: str, name: str, gaps: Gaps) -> Member:
    """Find the device of a member of a class, by links alone."""
    path = f"{directory}/{name}"
    own, device = ctx.link(path), ctx.link(f"{path}/device")
    real = posixpath.normpath(posixpath.join(directory, own.value)) if own.value else path
    if device.value:
        return Member(name=name, place=posixpath.normpath(posixpath.join(real, device.value)))
    there = ctx.stat(f"{path}/device")
    if there.ok:
        return Member(name=name, place=f"{path}/device")
    if not there.absent:
        gaps.note("bdf", there)
    hidden = not there.absent or (own.value is not None and not real.startswith(VIRTUAL))
    if hidden and own.value:
        return Member(name=name, place=posixpath.dirname(posixpath.dirname(real)))
    return Member(name=name, place=path if hidden else None)


def function_of(place: str) -> str | None:
    """Return the PCI address of a device's directory, or of the function above a virtio or SF device."""
    parts = place.split("/")
    own = pci_address(parts[-1])
    if own or not re.fullmatch(_BELOW_PCI, parts[-1]):
        return own
    return next((bdf for part in reversed(parts) if (bdf := pci_address(part))), None)


def hexadecimal(text: str) -> str:
    """Read ``0x15b3``. Raises ValueError."""
    word = text.strip().lower()
    if not re.fullmatch(r"0x[0-9a-f]{1,8}", word):
        raise ValueError(f"{word[:40]!a} is no hexadecimal number")
    return f"0x{int(word, 16):04x}"


def number(text: str) -> int:
    """Read a decimal number of at most ten digits, negative ones too. Raises ValueError."""
    word = text.strip()
    if not re.fullmatch(r"-?[0-9]{1,10}", word):
        raise ValueError(f"{word[:40]!a} is no number")
    return int(word)


def word(text: str) -> str:
    """Read one printable line. Raises ValueError where it says nothing."""
    found = printable(text)
    if found is None:
        raise ValueError(f"{text.strip()[:40]!a} says nothing")
    return found


def after_number(text: str) -> str:
    """Read ``4: ACTIVE`` as ACTIVE. Raises ValueError."""
    return word(re.sub(r"^\s*[0-9]{1,3}:", "", text))


def read_function(ctx: Context, place: str, gaps: Gaps) -> NicDevice:
    """Read ids, driver, NUMA node and virtual functions of a device's directory."""
    bdf = function_of(place)
    at = _function_place(ctx, place, bdf)

    def ask(field: str, name: str, read: Callable[[str], T]) -> T | None:
        return gaps.take(field, parsed(ctx.text(f"{at}/{name}"), read))

    vendor, device = ask("vendor_id", "vendor", hexadecimal), ask("device_id", "device", hexadecimal)
    node = ask("numa_node", "numa_node", number)
    driver, bound = _driver(ctx, place, gaps)
    return NicDevice(
        source="sysfs",
        bdf=bdf,
        vendor_id=vendor,
        device_id=device,
        subsystem_vendor_id=ask("subsystem_vendor_id", "subsystem_vendor", hexadecimal),
        subsystem_device_id=ask("subsystem_device_id", "subsystem_device", hexadecimal),
        model=model_of(vendor, device),
        driver=driver,
        driver_bound=bound,
        driver_version=_module_version(ctx, driver),
        numa_node=node if node is not None and node >= 0 else None,
        **(_virtualization(ctx, at, gaps) if bdf else {}),
    )


def _function_place(ctx: Context, place: str, bdf: str | None) -> str:
    """Return the directory of the PCI function at or above a device; the device's own without one."""
    if bdf is None or ctx.stat(f"{PCI}/{bdf}").ok:
        return f"{PCI}/{bdf}" if bdf else place
    parts = place.split("/")
    return "/".join(parts[: max(at for at, part in enumerate(parts) if pci_address(part)) + 1])


def _driver(ctx: Context, place: str, gaps: Gaps) -> tuple[str | None, bool | None]:
    answer = ctx.link(f"{place}/driver")
    if answer.value:
        return last(answer.value), True
    if answer.absent and function_of(place) and ctx.stat(place).ok:
        return None, False
    gaps.note("driver", answer)
    return None, None


def _module_version(ctx: Context, driver: str | None) -> str | None:
    """Return the version of a driver's module; a module may be called otherwise than its driver."""
    if driver is None:
        return None
    module = last(ctx.link(f"/sys/bus/pci/drivers/{driver}/module").value) or driver
    return parsed(ctx.text(f"/sys/module/{module}/version"), word).value


def _virtualization(ctx: Context, at: str, gaps: Gaps) -> dict[str, Any]:
    physical = ctx.link(f"{at}/physfn")
    if physical.value:
        return {"sriov": "vf", "physical_function": pci_address(last(physical.value) or "")}
    if not physical.absent:
        gaps.note("sriov", physical)
        return {}
    total = parsed(ctx.text(f"{at}/sriov_totalvfs"), number)
    if total.absent or total.value == 0:
        return {"sriov": "none"}
    if gaps.take("sriov", total) is None:
        return {}
    return {
        "sriov": "pf",
        "sriov_vfs": gaps.take("sriov_vfs", parsed(ctx.text(f"{at}/sriov_numvfs"), number)),
    }


def read_interface(ctx: Context, name: str, gaps: Gaps) -> NicInterface:
    """Read one network interface."""
    place = f"{NET}/{name}"
    return NicInterface(
        name=name,
        mtu=gaps.take("mtu", parsed(ctx.text(f"{place}/mtu"), number)),
        operstate=gaps.take("interfaces.operstate", parsed(ctx.text(f"{place}/operstate"), word_or_unknown)),
        master=last(ctx.link(f"{place}/master").value),
    )


def word_or_unknown(text: str) -> str:
    """Read an operstate; "unknown" is one of its words. Raises ValueError."""
    plain = text.strip()
    if not re.fullmatch(r"[a-z]{2,20}", plain):
        raise ValueError(f"{plain[:40]!a} is no operstate")
    return plain


def read_rdma(ctx: Context, name: str, gaps: Gaps) -> dict[str, Any]:
    """Read the files of one RDMA device: fields of ``NicDevice``."""
    place = f"{INFINIBAND}/{name}"
    files = ("board_id", "hca_type", "node_guid")
    fields: dict[str, Any] = {
        field: gaps.take(field, parsed(ctx.text(f"{place}/{field}"), word)) for field in files
    }
    firmware = parsed(ctx.text(f"{place}/fw_ver"), word)
    listing = ctx.scan(f"{place}/ports")
    numbers = [int(entry.name) for entry in listing.value or () if re.fullmatch(r"[0-9]{1,3}", entry.name)]
    if not listing.ok:
        gaps.note("ports", listing)
    ports = tuple(_port(ctx, f"{place}/ports/{at}", at, gaps) for at in sorted(numbers))
    return {**fields, "rdma_device": name, "firmware": firmware.value, **first_port(ports)}


def first_port(ports: tuple[NicPort, ...]) -> dict[str, Any]:
    """Return the fields of ``NicDevice`` that the ports give."""
    first = ports[0] if ports else None
    names = ("state", "physical_state", "rate", "link_layer")
    return {"ports": ports or None, **{name: getattr(first, name, None) for name in names}}


def _port(ctx: Context, place: str, at: int, gaps: Gaps) -> NicPort:
    def ask(field: str, name: str, read: Callable[[str], str]) -> str | None:
        return gaps.take(field, parsed(ctx.text(f"{place}/{name}"), read))

    layer = ask("link_layer", "link_layer", word)
    types = None if layer == "InfiniBand" else _gid_types(ctx, f"{place}/gid_attrs/types", gaps)
    counts: dict[str, int] | None = None if types is None else {}
    for kind in (types or {}).values():
        counts = {**(counts or {}), kind: (counts or {}).get(kind, 0) + 1}
    return NicPort(
        port=at,
        state=ask("state", "state", after_number),
        physical_state=ask("physical_state", "phys_state", after_number),
        rate=ask("rate", "rate", word),
        link_layer=layer,
        gid_types=counts,
        gid_index_3=(types or {}).get(3),
    )


def _gid_types(ctx: Context, place: str, gaps: Gaps) -> dict[int, str] | None:
    """Return index to type; the kernel answers EINVAL for an empty slot."""
    listing = ctx.scan(place)
    if listing.value is None:
        gaps.note("ports.gid_types", listing)
        return None
    known = {entry.name for entry in listing.value}
    types: dict[int, str] = {}
    for index in range(GID_LIMIT):
        text = ctx.text(f"{place}/{index}") if str(index) in known else None
        if text is None or text.kind in (ReasonKind.FAILED, ReasonKind.ABSENT) or text.value in ("", "\n"):
            continue
        answer = parsed(text, word)
        if answer.value is None:
            gaps.note("ports.gid_types", answer)
            return None
        types[index] = answer.value
    return types


def gid_interfaces(ctx: Context, name: str) -> frozenset[str]:
    """Return the interfaces that the GIDs of an RDMA device belong to, bonds among them."""
    found = set()
    for port in ctx.scan(f"{INFINIBAND}/{name}/ports").value or ():
        place = f"{INFINIBAND}/{name}/ports/{port.name}/gid_attrs/ndevs"
        for entry in (ctx.scan(place).value or ())[:GID_LIMIT]:
            found.add((ctx.text(f"{place}/{entry.name}").value or "").strip())
    return frozenset(found - {""})


def describe(
    ctx: Context, nets: Iterable[Member], rdma: Iterable[Member], functions: Iterable[str], gaps: Gaps
) -> tuple[NicDevice, ...]:
    """Bring together what belongs to one device and read it; ``functions`` are addresses on the PCI bus."""
    groups = {bdf: _Group(f"{PCI}/{bdf}") for bdf in functions}
    for each in nets:
        _group(groups, each, f"{NET}/{each.name}").nets.append(each.name)
    for each in rdma:
        _group(groups, each, f"{INFINIBAND}/{each.name}").rdma.append(each.name)
    devices = [device for group in groups.values() for device in _entries(ctx, group, gaps)]
    return tuple(sorted(_bonded(devices), key=_order))


class _Group:
    """The members of one device and the directory of it."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.nets: list[str] = []
        self.rdma: list[str] = []


def _group(groups: dict[str, _Group], each: Member, alone: str) -> _Group:
    place = each.place or alone
    name = place.rpartition("/")[2]
    own = pci_address(name)
    key = own or (function_of(place) if name.startswith("virtio") else None) or place
    group = groups.setdefault(key, _Group(place))
    if own is None:
        group.place = place
    return group


def _order(device: NicDevice) -> tuple[Any, ...]:
    name = device.rdma_device or device.netdev or ""
    return (device.bdf is None, device.bdf or "", natural(name))


def _entries(ctx: Context, group: _Group, gaps: Gaps) -> list[NicDevice]:
    """Return one entry a device; several RDMA devices of one function share out its interfaces."""
    soft = posixpath.dirname(group.place) == INFINIBAND
    base = NicDevice(source="sysfs") if soft else read_function(ctx, group.place, gaps)
    left = {name: read_interface(ctx, name, gaps) for name in sorted(group.nets, key=natural)}
    entries = []
    for name in sorted(group.rdma, key=natural):
        known = gid_interfaces(ctx, name)
        mine = [each for each in left if each in known]
        if len(group.rdma) == 1:
            mine += [each for each in left if each not in mine]
        found = [left.pop(each) for each in mine]
        if soft:
            found = [NicInterface(name=each) for each in sorted(known)]
        entries.append(evolve(base, **read_rdma(ctx, name, gaps), **_interfaces(found)))
    if left or not entries:
        entries.append(evolve(base, **_interfaces(list(left.values()))))
    return entries


def _interfaces(found: list[NicInterface]) -> dict[str, Any]:
    first = found[0] if found else None
    return {
        "netdev": first.name if first else None,
        "mtu": first.mtu if first else None,
        "interfaces": tuple(found),
    }


def _bonded(devices: list[NicDevice]) -> list[NicDevice]:
    """Tie the other function of a bonded card to the RDMA device, which the kernel puts at the first."""
    made = list(devices)
    for one, device in enumerate(devices):
        master = next((each.master for each in device.interfaces or () if each.master), None)
        if device.rdma_device is None or device.bdf is None or master is None:
            continue
        for two, other in enumerate(devices):
            same = other.bdf is not None and other.bdf[:-1] == device.bdf[:-1] and two != one
            if same and other.rdma_device is None and any(i.master == master for i in other.interfaces or ()):
                both = (*(made[one].interfaces or ()), *(other.interfaces or ()))
                made[one] = evolve(made[one], interfaces=both)
                made[two] = evolve(other, **{name: getattr(device, name) for name in RDMA_FIELDS})
    return made
