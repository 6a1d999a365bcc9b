"""A machine's fabric NICs: their row of the overview, and what is unusual of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aorta.cli.plain import Document, odd_ones
from aorta.model.text import count_of, listed

Nics = Sequence[Mapping[str, Any]]

#: The most kinds of cards, or devices, that one line names.
SHOWN = 4

#: The cards that 1.x knows, whose documents have no list of devices.
KEYS = {"ainic": "AI NIC", "broadcom": "BCM57608", "cx7": "ConnectX-7"}


def nics_row(known: Document) -> str | None:
    """Return the kinds of NICs; None where there is none, an empty text where that could not be seen."""
    if not known.has("nic_devices"):
        cards = [_card(known, key, name) for key, name in KEYS.items() if known.get(f"nics.{key}.present")]
        return listed(cards, SHOWN) if cards else None
    if known.get("nic_devices") is None:
        return "" if known.ran("nic_devices") else None
    kinds: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for nic in _fabric(known):
        kinds.setdefault((_name(nic), str(nic.get("driver_version"))), []).append(nic)
    texts = [f"{len(alike)} x {name}{_versions(alike)}" for (name, _), alike in kinds.items()]
    usable = _usable(known)
    return ", ".join(text for text in (listed(texts, SHOWN), usable) if text) or None


def nic_notes(known: Document) -> Iterator[str]:
    """Yield the lines."""
    models: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for nic in _fabric(known):
        models.setdefault((nic.get("vendor_id"), nic.get("device_id")), []).append(nic)
    for alike in models.values():
        odd = odd_ones([(str(nic["firmware"]), _place(nic)) for nic in alike if nic.get("firmware")])
        if odd:
            yield f"the firmware of the {_name(alike[0])} NICs differs: {odd}"
    if not known.has("nic_devices"):
        for key, name in KEYS.items():
            if known.get(f"nics.{key}.firmware_mixed") is True:
                yield f"the firmware of the {name} NICs differs"
    rdma = _rdma(known)
    dead: dict[str, list[str]] = {}
    for nic in rdma:
        if nic.get("usable") is False:
            dead.setdefault(_problems(nic), []).append(_place(nic))
    for problems, places in dead.items():
        verb = "is" if len(places) == 1 else "are"
        why = f" ({problems})" if problems else ""
        number = f"{len(places)} of {count_of(len(rdma), 'RDMA device')}"
        yield f"{number} {verb} not usable{why}: {listed(places, SHOWN)}"


def _fabric(known: Document) -> Nics:
    """Return the devices with RDMA, and those of a model that fabrics are made of."""
    return [nic for nic in known.members("nic_devices") if nic.get("rdma_device") or nic.get("model")]


def _rdma(known: Document) -> Nics:
    return [nic for nic in known.members("nic_devices") if nic.get("rdma_device")]


def _usable(known: Document) -> str:
    rdma = _rdma(known)
    if not rdma:
        return ""
    usable = [nic.get("usable") for nic in rdma]
    unknown = usable.count(None)
    if unknown == len(rdma):
        return f"whether the {count_of(unknown, 'RDMA device')} can be used is not known"
    untold = f", {unknown} not known" if unknown else ""
    return f"RDMA usable {usable.count(True)} of {len(rdma)}{untold}"


def _name(nic: Mapping[str, Any]) -> str:
    return " ".join(str(nic[key]) for key in ("model", "driver") if nic.get(key)) or "NIC"


def _versions(alike: Nics) -> str:
    """Return the driver's version and the firmware of NICs of one kind."""
    driver = alike[0].get("driver_version")
    firmware = list(dict.fromkeys(str(nic["firmware"]) for nic in alike if nic.get("firmware")))
    told = f" {driver}" if driver else ""
    if len(firmware) > 1:
        return f"{told} {len(firmware)} versions of firmware"
    return told + "".join(f" firmware {each}" for each in firmware)


def _card(known: Document, key: str, name: str) -> str:
    driver, firmware = known.text(f"nics.{key}.driver_version"), known.text(f"nics.{key}.firmware")
    told = f"{name} {driver}" if driver else name
    return f"{told} firmware {firmware}" if firmware else told


def _place(nic: Mapping[str, Any]) -> str:
    return str(nic.get("rdma_device") or nic.get("bdf") or nic.get("netdev") or "?")


def _problems(nic: Mapping[str, Any]) -> str:
    problems = nic.get("problems")
    return ", ".join(map(str, problems)) if isinstance(problems, list) else ""
