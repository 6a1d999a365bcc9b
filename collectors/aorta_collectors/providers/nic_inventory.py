"""The network and RDMA devices of the machine, and which cards are on its PCI bus."""

from typing import Any, NamedTuple

import attrs

from aorta.collect import Answer, CommandAnswer, Context, parsed
from aorta.model.frozen import evolve, frozen
from aorta.model.vocabulary import ReasonKind, Scope
from aorta.plugin import provider
from aorta_collectors.kernel_files import believed
from aorta_collectors.nic.ids import CARDS, card_by_driver, identified, model_of
from aorta_collectors.nic.model import NicDevice, NicInterface, NicPort
from aorta_collectors.nic.names import natural, pci_address
from aorta_collectors.nic.sysfs import INFINIBAND, NET, PCI, Gaps, describe, first_port, hexadecimal, member
from aorta_collectors.nic.tools import Link, parse_links, parse_lspci
from aorta_collectors.providers.rdma_devices import RdmaDevices

NETWORK_CLASS = "0x02"
LSPCI = ("lspci", "-D", "-n")
RDMA_LINK = ("rdma", "link")


@frozen
class NicInventory:
    """All devices under their real names, sorted by PCI address; names are masked by who tells them.

    ``gaps`` are fields and the answers that kept them from being seen. ``virtual`` are interfaces
    without a device. ``cards`` says of each key of ``nics`` whether the card is on the bus: None where
    that could not be told, and ``unseen`` why. ``troubles`` are listings that were refused.
    """

    devices: tuple[NicDevice, ...] = ()
    gaps: tuple[tuple[str, Answer[Any]], ...] = ()
    virtual: tuple[str, ...] = ()
    cards: dict[str, bool | None] = attrs.field(factory=dict)
    unseen: Answer[Any] = attrs.field(factory=Answer)
    troubles: tuple[Answer[Any], ...] = ()


class _Bus(NamedTuple):
    """Network functions on PCI: address to vendor and device. ``trouble`` is why it may be incomplete."""

    functions: dict[str, tuple[str, str]]
    unread: tuple[str, ...] = ()
    trouble: Answer[Any] | None = None


@provider(model=NicInventory, scope=Scope.NAMESPACE, needs=(RdmaDevices,), timeout_s=15)
def provide(ctx: Context) -> NicInventory:
    """Network and RDMA devices, from sysfs; lspci and rdma are asked where it does not tell."""
    gaps, rdma, bus = Gaps(), ctx.need(RdmaDevices), _bus(ctx)
    listing = believed(ctx, ctx.scan(NET))
    names = [entry.name for entry in listing.value or () if entry.kind != "file"]
    nets = [member(ctx, NET, name, gaps) for name in names]
    verbs = [member(ctx, INFINIBAND, name, gaps) for name in rdma.names]
    real = [each for each in nets if each.place is not None]
    devices = describe(ctx, real, verbs, [*bus.functions, *bus.unread], gaps)
    if not (listing.ok or listing.absent):
        devices = tuple(evolve(each, interfaces=each.interfaces or None) for each in devices)
    devices, told, unseen = _ask_tools(ctx, devices, bus, gaps)
    lists: tuple[Answer[Any], ...] = (listing, Answer(kind=rdma.kind, subject=INFINIBAND, detail=rdma.detail))
    return NicInventory(
        devices=devices,
        gaps=tuple(gaps.found),
        virtual=tuple(each.name for each in nets if each.place is None),
        cards={key: _on_bus(key, bus, devices, told) for key in CARDS},
        unseen=unseen,
        troubles=tuple(each for each in (*lists, bus.trouble or Answer()) if not (each.ok or each.absent)),
    )


def _bus(ctx: Context) -> _Bus:
    """Return the network functions that sysfs lists on the PCI bus."""
    listing = believed(ctx, ctx.scan(PCI))
    if listing.value is None:
        return _Bus(functions={}, trouble=listing)
    functions: dict[str, tuple[str, str]] = {}
    unread: list[str] = []
    trouble: Answer[Any] | None = None
    for entry in listing.value:
        bdf = pci_address(entry.name)
        answer = parsed(ctx.text(f"{PCI}/{entry.name}/class"), _network)
        if bdf is None or answer.value is False:
            continue
        ids = [parsed(ctx.text(f"{PCI}/{entry.name}/{name}"), hexadecimal) for name in ("vendor", "device")]
        asked: tuple[Answer[Any], ...] = (answer, *ids)
        lost = next((each for each in asked if not each.ok), None)
        if lost is None:
            functions[bdf] = (ids[0].value or "", ids[1].value or "")
            continue
        trouble = trouble or lost
        if answer.ok:
            unread.append(bdf)
    return _Bus(functions=functions, unread=tuple(unread), trouble=trouble)


def _network(text: str) -> bool:
    """Tell whether a class is a network controller's (02xx: Ethernet, InfiniBand). Raises ValueError."""
    return f"0x{int(hexadecimal(text), 16) >> 16:02x}" == NETWORK_CLASS


def _ask_tools(
    ctx: Context, devices: tuple[NicDevice, ...], bus: _Bus, gaps: Gaps
) -> tuple[tuple[NicDevice, ...], dict[str, tuple[str, str, str]] | None, Answer[Any]]:
    """Ask lspci where ids are missing, rdma where states are; both at once."""
    nameless = any(card_by_driver(device) for device in devices if not identified(device))
    stateless = any(device.rdma_device and not device.state for device in devices)
    argvs: list[tuple[str, ...]] = [LSPCI] if bus.trouble is not None or nameless else []
    hidden = ctx.need(RdmaDevices).kind not in (None, ReasonKind.ABSENT)
    argvs += [RDMA_LINK] if stateless or hidden else []
    answers: dict[tuple[str, ...], CommandAnswer] = dict(zip(argvs, ctx.commands(*argvs), strict=True))
    told: dict[str, tuple[str, str, str]] | None = None
    unseen: Answer[Any] = Answer()
    if LSPCI in answers:
        answer = parsed(answers[LSPCI], lambda done: parse_lspci(done.stdout))
        told, unseen = answer.value, _why(bus, answer)
        devices = _with_ids(devices, told or {})
    if RDMA_LINK in answers:
        links = parsed(answers[RDMA_LINK], lambda done: parse_links(done.stdout))
        devices = _with_links(devices, links.value or ())
        if stateless and not links.ok:
            gaps.note("state", links)
    return devices, told, unseen


def _why(bus: _Bus, answer: Answer[Any]) -> Answer[Any]:
    """Say why neither sysfs nor lspci told the cards on the bus; the first refusal counts."""
    if answer.ok:
        return Answer()
    first = bus.trouble if bus.trouble is not None and not bus.trouble.absent else None
    if first is not None and first.kind is not ReasonKind.UNSUPPORTED:
        return first
    why = first.detail if first is not None else f"no PCI bus in sysfs ({PCI})"
    return Answer(kind=answer.kind, subject=answer.subject, detail=f"{why}; {answer.detail}")


def _with_ids(devices: tuple[NicDevice, ...], told: dict[str, tuple[str, str, str]]) -> tuple[NicDevice, ...]:
    """Take over what lspci says of known addresses, and network functions that sysfs does not show."""
    made = []
    for device in devices:
        _, vendor, model = told.get(device.bdf or "", ("", None, None))
        new = {"vendor_id": vendor, "device_id": model, "model": model_of(vendor, model)}
        made.append(evolve(device, **new) if vendor and not identified(device) else device)
    known = {device.bdf for device in devices}
    for bdf, (kind, vendor, model) in sorted(told.items()):
        if kind.startswith(NETWORK_CLASS) and bdf not in known:
            name = model_of(vendor, model)
            made.append(NicDevice(source="lspci", bdf=bdf, vendor_id=vendor, device_id=model, model=name))
    return tuple(made)


def _with_links(devices: tuple[NicDevice, ...], links: tuple[Link, ...]) -> tuple[NicDevice, ...]:
    """Take over states and interfaces from ``rdma link`` where sysfs has none, and devices it hides."""
    made = list(devices)
    for name in dict.fromkeys(link.device for link in links):
        rows = [link for link in links if link.device == name]
        ports = tuple(
            NicPort(port=row.port, state=row.state, physical_state=row.physical_state) for row in rows
        )
        netdev = next((row.netdev for row in rows if row.netdev), None)
        at = next((at for at, device in enumerate(made) if device.rdma_device == name), None)
        if at is None:
            at = len(made)
            made.append(NicDevice(source="rdma", rdma_device=name))
        if made[at].state is None:
            made[at] = evolve(made[at], **first_port(ports))
        if netdev and made[at].netdev is None:
            made = _joined(made, at, netdev)
    return tuple(
        sorted(made, key=lambda one: (one.bdf is None, one.bdf or "", natural(one.rdma_device or "")))
    )


def _joined(devices: list[NicDevice], at: int, netdev: str) -> list[NicDevice]:
    """Give an RDMA device its interface; the interface's own entry of the same driver goes into it."""
    device = devices[at]
    other = next((each for each in devices if each.netdev == netdev and each.rdma_device is None), None)
    if other is None or (device.driver and other.driver and device.driver != other.driver):
        return [
            evolve(each, netdev=netdev, interfaces=(NicInterface(name=netdev),)) if each is device else each
            for each in devices
        ]
    merged = evolve(other, **{name: value for name, value in vars(device).items() if value not in (None, ())})
    return [merged if each is device else each for each in devices if each is not other]


def _on_bus(
    key: str, bus: _Bus, devices: tuple[NicDevice, ...], told: dict[str, tuple[str, str, str]] | None
) -> bool | None:
    """Tell whether a card is there; an absence needs a bus that was seen whole."""
    vendor, model, _ = CARDS[key]
    found = {(device.vendor_id, device.device_id) for device in devices} | set(bus.functions.values())
    if (vendor, model) in found:
        return True
    if told is None and bus.trouble is not None:
        return None
    return False
