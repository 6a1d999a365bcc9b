"""Three fabric cards, as 1.x knows them: AMD's AI NIC, Broadcom's BCM57608, NVIDIA's ConnectX-7.

A card is told by its PCI id. Every other card, and what differs between cards, is in ``nic_devices``.
"""

from typing import Annotated, Any, TypeVar

from aorta.collect import Answer, CommandAnswer, Context, parsed
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Detail, Outcome, Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.nic import asking
from aorta_collectors.nic.ids import CARDS, EXCLUSIVE, card_by_driver, card_of
from aorta_collectors.nic.model import NicDevice
from aorta_collectors.nic.names import public
from aorta_collectors.nic.sysfs import INFINIBAND
from aorta_collectors.providers.nic_inventory import NicInventory

T = TypeVar("T")

TOOLS = (Provenance.HOST_DEVICE,)
MLX5 = "mlx5_core"


@frozen
class NicLink:
    """A port of an RDMA device."""

    device: Annotated[str | None, Fact("The RDMA device; a hardware address in its name is masked.")] = None
    state: Annotated[str | None, Fact("ACTIVE, DOWN, INIT, ARMED, …", volatile=True)] = None
    netdev: Annotated[str | None, Fact("Its network interface; null: none in this network namespace.")] = None


@frozen
class NicCard:
    """What all three have; every member but ``present`` is null where no such card is."""

    present: Annotated[bool | None, Fact("Whether the PCI bus has such a card; null: could not be told.")] = (
        None
    )
    driver_version: Annotated[
        str | None,
        Fact(
            "Version of the driver's module, else what ethtool says of the first card.",
            caveat="In-tree drivers repeat the kernel release; ethtool cuts at 31 characters.",
        ),
    ] = None
    firmware: Annotated[
        str | None,
        Fact(
            "Firmware of the first card by PCI address; of cx7 with its board id, as ethtool prints it.",
            caveat="See firmware_mixed.",
        ),
    ] = None
    firmware_mixed: Annotated[
        bool | None, Fact("Whether the cards differ in firmware; null: not seen of every card.")
    ] = None
    pkg_version: Annotated[
        str | None, Fact("Firmware package of the first card; null also where it repeats the firmware.")
    ] = None
    rdma_devices: Annotated[
        tuple[str, ...] | None, Fact("RDMA devices of these cards; empty: none, which is valid.")
    ] = None
    links: Annotated[tuple[NicLink, ...] | None, Fact("Ports of those RDMA devices.")] = None


@frozen
class NicctlCard:
    """What nicctl says of the first AI NIC; it needs root."""

    asic: Annotated[str | None, Fact("SALINA, …", provenance=TOOLS)] = None
    host_sw: Annotated[str | None, Fact("Version of the host software (nicctl's).", provenance=TOOLS)] = None
    firmware: Annotated[
        str | None, Fact("Firmware of the partition in use, not the CPLD's.", provenance=TOOLS)
    ] = None
    uuid: Annotated[
        str | None,
        Fact("Id of the card.", caveat="It spells the serial number.", provenance=TOOLS),
    ] = None


@frozen
class NicctlProfile:
    """The profile of the first AI NIC; it needs root."""

    device_config: Annotated[str | None, Fact("E.g. device_config_rdma_1x400G.", provenance=TOOLS)] = None
    sriov: Annotated[bool | None, Fact("Whether it has virtual functions.", provenance=TOOLS)] = None


@frozen
class NicctlDcqcn:
    """Congestion control, profile 1 of the first RDMA device; it needs root."""

    enabled: Annotated[bool | None, Fact("Whether it is on.", provenance=TOOLS)] = None
    token_bucket_size: Annotated[int | None, Fact("Token bucket size.", provenance=TOOLS)] = None
    ai_rate: Annotated[int | None, Fact("Rate increase in the AI phase.", provenance=TOOLS)] = None
    hai_rate: Annotated[int | None, Fact("Rate increase in the HAI phase.", provenance=TOOLS)] = None
    cnp_dscp: Annotated[int | None, Fact("DSCP of congestion notifications.", provenance=TOOLS)] = None


@frozen
class AiNic(NicCard):
    """AMD's AI NIC, with what nicctl says."""

    nicctl_version: Annotated[str | None, Fact("Version of nicctl.", provenance=(Provenance.FILESYSTEM,))] = (
        None
    )
    card: Annotated[NicctlCard | None, Fact("The first card.")] = None
    profile: Annotated[NicctlProfile | None, Fact("Its profile.")] = None
    dcqcn: Annotated[NicctlDcqcn | None, Fact("Its congestion control.")] = None


@frozen
class Nics:
    """The three keys of 1.x."""

    ainic: Annotated[AiNic | None, Fact("AMD Pensando 1dd8:1002, driver ionic.")] = None
    broadcom: Annotated[NicCard | None, Fact("Broadcom BCM57608, 14e4:1760, driver bnxt_en.")] = None
    cx7: Annotated[NicCard | None, Fact("NVIDIA ConnectX-7, 15b3:1021, driver mlx5_core.")] = None


@collector(
    section="nics",
    model=Nics,
    provenance=(Provenance.HOST_DEVICE, Provenance.HOST_KERNEL),
    scope=Scope.NAMESPACE,
    needs=(NicInventory,),
    timeout_s=20,
)
def collect(ctx: Context) -> Nics:
    """The three fabric NICs of 1.x: presence, driver, firmware, RDMA devices, links, nicctl."""
    inventory = ctx.need(NicInventory)
    mine = {key: _cards(inventory, key) for key in CARDS}
    present = {key: _present(ctx, inventory, key, cards) for key, cards in mine.items()}
    names = asking.targets(inventory.devices, full=ctx.wants(Detail.FULL))
    wanted = [name for name in names if any(card.netdev == name for cards in mine.values() for card in cards)]
    answers = ctx.commands(*(asking.argv(name) for name in wanted))
    told = {name: asking.read(answer) for name, answer in zip(wanted, answers, strict=True)}
    seen = {name: answer.value for name, answer in told.items() if answer.value is not None}
    blocks: dict[str, dict[str, Any]] = {}
    for key, cards in mine.items():
        devices = asking.enrich(cards, seen)
        blocks[key] = {"present": present[key], **(_block(ctx, key, devices, told) if devices else {})}
    if present["ainic"]:
        blocks["ainic"].update(_nicctl(ctx, mine["ainic"]))
    return Nics(
        ainic=AiNic(**blocks["ainic"]), broadcom=NicCard(**blocks["broadcom"]), cx7=NicCard(**blocks["cx7"])
    )


def _cards(inventory: NicInventory, key: str) -> tuple[NicDevice, ...]:
    """Return the devices of one key: by PCI id, and by driver where an id could not be seen."""
    if inventory.cards.get(key) is False and key not in EXCLUSIVE:
        return tuple(device for device in inventory.devices if card_of(device) == key)
    return tuple(device for device in inventory.devices if key in (card_of(device), card_by_driver(device)))


def _present(ctx: Context, inventory: NicInventory, key: str, cards: tuple[NicDevice, ...]) -> bool | None:
    """Tell whether such a card is there, and note why not."""
    by_driver = [card for card in cards if card_of(card) is None]
    if by_driver:
        name = public(by_driver[0].rdma_device or by_driver[0].netdev or "")
        text = f"no PCI id of {name} was seen: it stands here by its driver {by_driver[0].driver}"
        ctx.note(ReasonKind.UNSUPPORTED, f"{key}.rdma_devices", text, subject=name)
    found = inventory.cards.get(key)
    if found or (by_driver and key in EXCLUSIVE):
        return True
    if found is None:
        why = inventory.unseen
        ctx.note(why.kind or ReasonKind.UNSUPPORTED, f"{key}.present", why.detail, subject=why.subject)
    return found


def _block(
    ctx: Context, key: str, cards: tuple[NicDevice, ...], told: dict[str, Answer[Any]]
) -> dict[str, Any]:
    """Return what 1.x says of the cards of one key."""
    first = next((card for card in cards if card.firmware), cards[0])
    version = next((card.driver_version for card in cards if card.driver_version), None)
    package = next((card.firmware_package for card in cards if card.firmware_package), None)
    rdma = {card.rdma_device: card for card in cards if card.rdma_device}
    values: dict[str, Any] = {"driver_version": version, "firmware": _firmware(first)}
    for field, value in values.items():
        if value is None:
            _note_missing(ctx, f"{key}.{field}", cards, told)
    if package is None and any(card.driver in asking.PACKAGED for card in cards):
        failed = [told[card.netdev] for card in cards if card.netdev in told and not told[card.netdev].ok]
        if failed:
            _take(ctx, failed[0], f"{key}.pkg_version")
    hidden = next((each for each in ctx.need(NicInventory).troubles if each.subject == INFINIBAND), None)
    if hidden is not None and not rdma:
        for field in ("rdma_devices", "links"):
            _take(ctx, hidden, f"{key}.{field}")
        return {**values, "firmware_mixed": _mixed(ctx, key, cards), "pkg_version": package}
    return {
        **values,
        "firmware_mixed": _mixed(ctx, key, cards),
        "pkg_version": package,
        "rdma_devices": tuple(public(name) for name in rdma),
        "links": tuple(
            NicLink(
                device=public(name),
                state=port.state,
                netdev=public(card.netdev) if card.netdev else None,
            )
            for name, card in rdma.items()
            for port in card.ports or ()
        ),
    }


def _firmware(card: NicDevice) -> str | None:
    """Return the firmware as ethtool prints it without a package: mlx5 adds the board id."""
    if card.firmware and card.board_id and card.driver == MLX5:
        return f"{card.firmware} ({card.board_id})"
    return card.firmware


def _note_missing(
    ctx: Context, field: str, cards: tuple[NicDevice, ...], told: dict[str, Answer[Any]]
) -> None:
    asked = [told[card.netdev] for card in cards if card.netdev in told]
    failed = next((answer for answer in asked if not answer.ok), None)
    if failed is not None:
        _take(ctx, failed, field)
        return
    why = "no driver is bound" if all(card.driver_bound is False for card in cards) else "sysfs has none"
    why += ", ethtool named none" if asked else ", and there is no interface to ask ethtool for"
    ctx.note(ReasonKind.UNSUPPORTED, field, why, subject=cards[0].bdf)


def _take(ctx: Context, answer: Answer[Any], field: str) -> None:
    kind = answer.kind or ReasonKind.FAILED
    ctx.note(kind, field, public(answer.detail), subject=public(answer.subject or "") or None)


def _mixed(ctx: Context, key: str, cards: tuple[NicDevice, ...]) -> bool | None:
    """Tell whether the cards differ in firmware, and say how."""
    counts: dict[str, int] = {}
    for card in cards:
        if card.firmware:
            counts[card.firmware] = counts.get(card.firmware, 0) + 1
    if len(counts) > 1:
        shown = ", ".join(f"{count} x {version}" for version, count in sorted(counts.items())[:8])
        text = f"one value cannot say it: the {len(cards)} cards differ ({shown}); nic_devices has each"
        ctx.note(ReasonKind.UNSUPPORTED, f"{key}.firmware", text)
        return True
    if sum(counts.values()) == len(cards):
        return False
    if counts:
        text = f"firmware is known of {sum(counts.values())} of {len(cards)} cards"
        ctx.note(ReasonKind.UNSUPPORTED, f"{key}.firmware_mixed", text)
    return None


# nicctl


def _nicctl(ctx: Context, cards: tuple[NicDevice, ...]) -> dict[str, Any]:
    """Ask nicctl: its version by anybody where it tells, the rest as root and only when that is allowed."""
    # Only hosts with such a card pay for this module.
    from aorta_collectors.nic import nicctl

    device = next((card.rdma_device for card in cards if card.rdma_device), None)
    argvs = [nicctl.VERSION, nicctl.CARD, nicctl.FIRMWARE, nicctl.SOFTWARE, nicctl.PROFILE]
    argvs += [nicctl.dcqcn_argv(device)] if device else []
    plain = None if ctx.request.sudo else ctx.command(nicctl.VERSION)
    if plain is not None and plain.kind is ReasonKind.NO_TOOL:
        for field in ("nicctl_version", "card", "profile", "dcqcn"):
            ctx.note(plain.kind, f"ainic.{field}", plain.detail, subject="nicctl")
        return {}
    answers = ctx.commands(*argvs, sudo=True)
    version = _read(plain if plain is not None and plain.ok else answers[0], nicctl.parse_version)
    card = _read(answers[1], nicctl.parse_card)
    told = card.value or {}
    firmware = _read(answers[2], lambda text: nicctl.parse_firmware(text, told.get("partition")))
    software, profile = _read(answers[3], nicctl.parse_software), _read(answers[4], nicctl.parse_profile)
    dcqcn: Answer[Any] = Answer(
        kind=ReasonKind.ABSENT, subject="dcqcn", detail="no RDMA device to ask nicctl for"
    )
    if device:
        dcqcn = _read(answers[5], nicctl.parse_dcqcn)
    values = {
        "nicctl_version": _value(ctx, version, "nicctl_version"),
        "card": _card(ctx, card, firmware, software),
        "dcqcn": NicctlDcqcn(**dcqcn.value) if dcqcn.value else None,
    }
    config = _value(ctx, profile, "profile")
    if config:
        sriov = nicctl.has_virtual_functions(config)
        values["profile"] = NicctlProfile(device_config=config, sriov=sriov)
    _value(ctx, dcqcn, "dcqcn")
    return values


def _card(ctx: Context, card: Answer[Any], firmware: Answer[str], software: Answer[str]) -> NicctlCard | None:
    told = card.value or {}
    for field in ("asic", "uuid"):
        if card.ok and told.get(field) is None:
            ctx.note(ReasonKind.UNSUPPORTED, f"ainic.card.{field}", f"nicctl names no {field}")
    if not (card.ok or firmware.ok or software.ok):
        _value(ctx, card, "card")
        return None
    if not card.ok:
        _value(ctx, card, "card.asic")
    running = firmware.value or told.get("firmware") or _value(ctx, firmware, "card.firmware")
    return NicctlCard(
        asic=told.get("asic"),
        uuid=told.get("uuid"),
        firmware=running,
        host_sw=_value(ctx, software, "card.host_sw"),
    )


def _read(answer: CommandAnswer, parse: Any) -> Answer[Any]:
    """Read one answer of nicctl; a refusal of sudo is told apart from a failure of the tool."""
    from aorta_collectors.tools.sudo import failure

    refused = failure(answer) if answer.value is not None and answer.value.outcome is not Outcome.OK else None
    if refused is not None:
        return Answer(kind=refused.kind, subject=answer.subject, detail=refused.text)
    return parsed(answer, lambda done: parse(done.stdout))


def _value(ctx: Context, answer: Answer[T], field: str) -> T | None:
    if not answer.ok:
        kind = answer.kind or ReasonKind.FAILED
        ctx.note(kind, f"ainic.{field}", public(answer.detail), subject=public(answer.subject or "") or None)
    return answer.value
