"""Which interfaces ethtool is asked for, and what its answers add to the devices."""

from collections.abc import Mapping, Sequence

from aorta.collect import Answer, CommandAnswer, Masked, parsed
from aorta.model.frozen import evolve
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.nic.ids import card_by_driver, card_of
from aorta_collectors.nic.model import NicDevice
from aorta_collectors.nic.names import public
from aorta_collectors.nic.tools import Ethtool, parse_ethtool

#: The most interfaces asked for in a compact and in a full snapshot: each costs a process.
FEW, MANY = 3, 64

#: Drivers whose firmware has a package version, which only ethtool tells.
PACKAGED = frozenset({"bnxt_en"})

#: What ethtool says of an interface that is not in this network namespace, or whose driver tells nothing.
NOT_OFFERED = ("No such device", "Operation not supported")


def targets(devices: Sequence[NicDevice], *, full: bool) -> tuple[str, ...]:
    """Return the interfaces to ask for, those that ``nics`` needs first.

    Asked is only what sysfs does not tell: a firmware without fw_ver, a driver without a module version
    (once a driver), a firmware package (once a driver, each in a full snapshot).
    """
    wanted: list[tuple[int, str]] = []
    seen: set[tuple[str, str | None]] = set()
    for device in devices:
        if device.netdev is None:
            continue
        card = card_of(device) or card_by_driver(device)
        lacks = {
            "firmware": device.firmware is None,
            "version": device.driver_version is None and ("version", device.driver) not in seen,
            "package": device.driver in PACKAGED and (full or ("package", device.driver) not in seen),
        }
        first = ("card", card) not in seen
        seen |= {(name, device.driver) for name in ("version", "package")} | {("card", card)}
        if any(lacks.values()):
            rank = 0 if card and first else 1 if lacks["firmware"] else 2
            wanted.append((rank, device.netdev))
    wanted.sort(key=lambda pair: pair[0])
    return tuple(dict.fromkeys(name for _, name in wanted))[: MANY if full else FEW]


def argv(interface: str) -> tuple[str | Masked, ...]:
    """Return the command line that asks for one interface."""
    shown = public(interface)
    return ("ethtool", "-i", interface if shown == interface else Masked(value=interface, shown=shown))


def read(answer: CommandAnswer) -> Answer[Ethtool]:
    """Read ethtool's answer.

    sysfs may show interfaces of another network namespace, and a driver may have nothing to tell: both
    are what this machine offers, not a failure of it.
    """
    stderr = answer.value.stderr if answer.value is not None else ""
    if not answer.ok and any(words in stderr for words in NOT_OFFERED):
        return Answer(kind=ReasonKind.UNSUPPORTED, subject=answer.subject, detail=answer.detail)
    return parsed(answer, lambda done: parse_ethtool(done.stdout))


def enrich(devices: Sequence[NicDevice], told: Mapping[str, Ethtool]) -> tuple[NicDevice, ...]:
    """Add what ethtool said; a driver's version holds for every device of that driver."""
    versions: dict[str | None, str | None] = {}
    for device in devices:
        if device.netdev in told and device.driver is not None:
            versions.setdefault(device.driver, told[device.netdev or ""].version)
    return tuple(_enriched(device, told.get(device.netdev or ""), versions) for device in devices)


def _enriched(
    device: NicDevice, told: Ethtool | None, versions: Mapping[str | None, str | None]
) -> NicDevice:
    version = device.driver_version or (told.version if told else None) or versions.get(device.driver)
    if told is None:
        return evolve(device, driver_version=version)
    firmware = device.firmware or told.firmware
    # IPoIB interfaces name their driver "mlx5_core[ib_ipoib]".
    driver = device.driver or (told.driver or "").partition("[")[0] or None
    return evolve(
        device,
        driver=driver,
        driver_bound=device.driver_bound or driver is not None,
        driver_version=version,
        firmware=firmware,
        firmware_package=told.package,
        board_id=device.board_id or told.board_id,
    )
