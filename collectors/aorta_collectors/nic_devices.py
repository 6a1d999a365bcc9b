"""Every network and RDMA device, of known and unknown vendors, from sysfs first."""

import posixpath
from collections.abc import Iterable
from typing import Annotated, Any

from aorta.collect import Answer, Context, Masked
from aorta.model.fact import Fact
from aorta.model.frozen import evolve
from aorta.model.vocabulary import Detail, Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.nic import asking, userspace
from aorta_collectors.nic.model import NicDevice, Problem
from aorta_collectors.nic.names import public
from aorta_collectors.nic.tools import Ethtool
from aorta_collectors.nic.usability import judge
from aorta_collectors.nic.userspace import UserSpace
from aorta_collectors.providers.nic_inventory import NicInventory


@collector(
    section="nic_devices",
    model=Annotated[
        tuple[NicDevice, ...] | None,
        Fact(
            "Network and RDMA devices by PCI address; interfaces without a device (lo, bridges, veth) are"
            " not listed. Empty: positively none.",
            caveat="Interfaces in another network namespace than sysfs shows are not seen.",
        ),
    ],
    provenance=(Provenance.HOST_DEVICE, Provenance.HOST_KERNEL),
    scope=Scope.NAMESPACE,
    needs=(NicInventory,),
    timeout_s=15,
)
def collect(ctx: Context) -> tuple[NicDevice, ...] | None:
    """Network and RDMA devices: identity, firmware, ports, pairing, and whether they can be used."""
    inventory = ctx.need(NicInventory)
    for trouble in inventory.troubles:
        ctx.take(trouble, "")
    if not inventory.devices:
        return None if inventory.troubles else ()
    full = ctx.wants(Detail.FULL)
    names = asking.targets(inventory.devices, full=full)
    told, space = _ask(ctx, inventory.devices, names)
    seen = {name: answer.value for name, answer in told.items() if answer.value is not None}
    devices = asking.enrich(inventory.devices, seen)
    devices = tuple(judge(ctx, device, space) for device in devices)
    _note_gaps(ctx, inventory, devices)
    _note_ethtool(ctx, devices, told)
    _note_usability(ctx, devices, space)
    if not full:
        devices = tuple(evolve(device, node_guid=None) for device in devices)
    return tuple(_public(device) for device in devices)


def _ask(
    ctx: Context, devices: tuple[NicDevice, ...], names: tuple[str, ...]
) -> tuple[dict[str, Answer[Ethtool]], UserSpace | None]:
    """Ask ethtool, libibverbs and access(2), all at once."""
    rdma = any(device.rdma_device for device in devices)
    space = userspace.look(ctx) if rdma else None
    nodes = space is not None and any(name.startswith("uverbs") for name in space.nodes.value or ())
    argvs: list[tuple[str | Masked, ...]] = [asking.argv(name) for name in names]
    argvs += [userspace.IBV_DEVICES] if rdma else []
    argvs += [userspace.ACCESS] if nodes else []
    answers = dict(zip(argvs, ctx.commands(*argvs), strict=True))
    told: dict[str, Answer[Ethtool]] = {}
    for name in names:
        told[name] = asking.read(answers[asking.argv(name)])
    if space is not None:
        space = space._replace(verbs=userspace.heard(answers[userspace.IBV_DEVICES]))
        if nodes and answers[userspace.ACCESS].ok:
            openable = userspace.parse_access(answers[userspace.ACCESS].stdout)
            space = space._replace(access=Answer(value=openable))
    return told, space


def _note(ctx: Context, answer: Answer[Any], field: str, text: str) -> None:
    kind = answer.kind or ReasonKind.FAILED
    ctx.note(kind, field, public(text), subject=public(answer.subject or "") or None)


def _note_gaps(ctx: Context, inventory: NicInventory, devices: tuple[NicDevice, ...]) -> None:
    """Note each missing field once a kind, with how often; a file that a driver lacks is unsupported."""
    groups: dict[tuple[str, ReasonKind], list[Answer[Any]]] = {}
    for field, answer in inventory.gaps:
        kind = ReasonKind.UNSUPPORTED if answer.absent else answer.kind or ReasonKind.FAILED
        if _still_missing(field, devices):
            groups.setdefault((field, kind), []).append(answer)
    for (field, kind), answers in groups.items():
        name = posixpath.basename(answers[0].subject or field)
        why = f"no {name} in sysfs" if answers[0].absent else answers[0].detail
        text = f"{why} ({len(answers)} of {len(devices)} devices)"
        ctx.note(kind, field, public(text), subject=public(answers[0].subject or "") or None)
    if len(inventory.virtual) > 1:
        text = f"{len(inventory.virtual)} interfaces without a device are not listed: "
        shown = ", ".join(inventory.virtual[:8]) + (", …" if len(inventory.virtual) > 8 else "")
        ctx.note(ReasonKind.NOT_REQUESTED, "", public(text + shown))


def _still_missing(field: str, devices: Iterable[NicDevice]) -> bool:
    return "." in field or any(getattr(device, field) is None for device in devices)


def _note_ethtool(ctx: Context, devices: tuple[NicDevice, ...], told: dict[str, Answer[Ethtool]]) -> None:
    """Say why interfaces, firmware and driver versions are missing, once a field and cause."""
    bare = [each for each in devices if each.interfaces == () and each.bdf is not None]
    if bare:
        text = f"no interface of {len(bare)} of {len(devices)} devices in this network namespace"
        ctx.note(ReasonKind.ABSENT, "netdev", text, subject=bare[0].bdf)
    packaged = [each for each in devices if each.driver in asking.PACKAGED]
    for field, among in (("firmware", devices), ("driver_version", devices), ("firmware_package", packaged)):
        lost = [each for each in among if getattr(each, field) is None]
        causes: dict[ReasonKind, list[tuple[NicDevice, str]]] = {}
        for device in lost:
            kind, text = _cause(device, field, told)
            if kind is not None:
                causes.setdefault(kind, []).append((device, text))
        for kind, concerned in causes.items():
            device, text = concerned[0]
            text = f"{text} ({len(concerned)} of {len(devices)} devices)"
            ctx.note(kind, field, public(text), subject=device.bdf or public(device.netdev or "") or None)


def _cause(device: NicDevice, field: str, told: dict[str, Answer[Ethtool]]) -> tuple[ReasonKind | None, str]:
    """Say why a field is missing that ethtool might have told; no kind where the answer was plain."""
    if device.netdev is None:
        return ReasonKind.UNSUPPORTED, "sysfs does not tell it, and there is no interface to ask ethtool for"
    answer = told.get(device.netdev)
    if answer is None and any(not each.ok for each in told.values()):
        answer = next(each for each in told.values() if not each.ok)
    if answer is None:
        return (
            ReasonKind.NOT_REQUESTED,
            f"ethtool is asked for {asking.FEW} interfaces, for all with --extended",
        )
    if answer.kind is not None:
        return answer.kind, answer.detail
    return (
        None if field == "firmware_package" else ReasonKind.UNSUPPORTED,
        "neither sysfs nor ethtool tells it",
    )


def _note_usability(ctx: Context, devices: tuple[NicDevice, ...], space: UserSpace | None) -> None:
    """Note what keeps RDMA devices from being used, once a cause with the number of devices."""
    if space is None:
        return
    rdma = [each for each in devices if each.rdma_device]
    _note_libibverbs(ctx, rdma, space)
    if not space.library_dirs.ok:
        ctx.take(space.library_dirs, "verbs.provider_library")
    closed = [each for each in rdma if Problem.NOT_OPENABLE in (each.problems or ())]
    if closed and closed[0].verbs and closed[0].verbs.uverbs:
        why = userspace.access(ctx, closed[0].verbs.uverbs, space).why
        text = f"{len(closed)} of {len(rdma)} RDMA devices may not be opened: {why}"
        ctx.note(ReasonKind.DENIED, "usable", text, subject=f"{userspace.NODES}/{closed[0].verbs.uverbs}")
    gone = [each for each in rdma if Problem.NO_DEVICE_NODE in (each.problems or ())]
    if gone and gone[0].verbs:
        text = f"no device node for {len(gone)} of {len(rdma)} RDMA devices"
        ctx.note(ReasonKind.ABSENT, "usable", text, subject=f"{userspace.NODES}/{gone[0].verbs.uverbs}")
    if any(each.verbs and each.verbs.uverbs is None for each in rdma):
        answer = space.listing
        kind = answer.kind or ReasonKind.ABSENT
        text = answer.detail or "no uverbs device for some RDMA devices"
        ctx.note(kind, "verbs.uverbs", text, subject=userspace.CLASS)


def _note_libibverbs(ctx: Context, rdma: list[NicDevice], space: UserSpace) -> None:
    """Note libibverbs's complaints: one reason each, however often it repeats them."""
    heard = space.verbs.value
    if heard is None:
        _note(ctx, space.verbs, "verbs.listed", space.verbs.detail)
        return
    causes: dict[tuple[str, str, str], int] = {}
    for cause in heard.mismatches.values():
        causes[cause] = causes.get(cause, 0) + 1
    for (driver, kernel, supported), count in sorted(causes.items()):
        text = (
            f"libibverbs rejects {count} of {len(rdma)} RDMA devices: the kernel's {driver} has ABI {kernel},"
        )
        ctx.note(
            ReasonKind.EXPECTED, "usable", f"{text} the provider supports {supported}", subject="ibv_devices"
        )
    unlisted = [each for each in rdma if {Problem.NO_PROVIDER, Problem.NOT_LISTED} & {*(each.problems or ())}]
    if unlisted:
        text = f"libibverbs does not list {len(unlisted)} of {len(rdma)} RDMA devices"
        text += "; no provider library serves them" if heard.unserved or heard.unloaded else ""
        ctx.note(ReasonKind.UNSUPPORTED, "usable", text, subject="ibv_devices")


def _public(device: NicDevice) -> NicDevice:
    """Mask the hardware addresses inside names."""
    found = device.interfaces
    masked = found and tuple(
        evolve(each, name=_masked(each.name), master=_masked(each.master)) for each in found
    )
    return evolve(
        device,
        rdma_device=_masked(device.rdma_device),
        netdev=_masked(device.netdev),
        interfaces=masked,
    )


def _masked(name: str | None) -> str | None:
    return None if name is None else public(name)
