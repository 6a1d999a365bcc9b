"""The amdgpu driver's files of one GPU under ``/sys/bus/pci/devices/BDF``."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from aorta.collect import Answer, Context, parsed
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.gpu.model import RasCount
from aorta_collectors.gpu.numbers import hex_id, parse_hex

T = TypeVar("T")

_NOTHING = {"", "n/a", "unknown", "none", "not supported", "not available", "(null)"}
_ALL_ONES = {(1 << 32) - 1, (1 << 64) - 1}
_WORD = re.compile(r"[A-Za-z0-9]{1,16}")
_RAS = re.compile(r"\b(ue|ce|de)[ \t]*:[ \t]*([0-9]{1,19})\b", re.IGNORECASE)
_MICROWATT = 1_000_000
_BLOCK_LIMIT = 64
_LINE_LIMIT = 256


@frozen
class DeviceFiles:
    """What the driver's files say. A field that is null has an entry in ``missing``: field and answer."""

    values: dict[str, Any] = attrs.field(factory=dict)
    missing: tuple[tuple[str, Answer[Any]], ...] = ()


def normal(text: str) -> str | None:
    """Return a driver's or tool's text; None for its ways of saying nothing (N/A, Unknown, …).

    Raises ValueError for what is no line of text.
    """
    text = text.strip()
    if len(text) > _LINE_LIMIT or not text.isprintable():
        raise ValueError(f"no line of text: {text[:40]!a}")
    return None if text.lower() in _NOTHING else text


def number(text: str) -> int | None:
    """Read a decimal or 0x number; None for a way of saying nothing and for all-ones sentinels."""
    plain = normal(text)
    if plain is None:
        return None
    if not re.fullmatch(r"[0-9]{1,20}|0x[0-9a-fA-F]{1,16}", plain):
        raise ValueError(f"no number: {plain[:40]}")
    value = int(plain, 0) if plain.startswith("0x") else int(plain)
    return None if value in _ALL_ONES else value


def partition(text: str) -> str | None:
    """Read a partition mode (``CPX``, ``NPS4``)."""
    plain = normal(text)
    if plain is not None and not _WORD.fullmatch(plain):
        raise ValueError(f"no partition mode: {plain[:40]}")
    return plain


def parse_ras(text: str) -> RasCount:
    """Read the lines ``ue: 0`` and ``ce: 0`` of a block's file."""
    counts = {match[1].lower(): int(match[2]) for match in _RAS.finditer(text)}
    if not counts:
        raise ValueError("no error counts")
    return RasCount(uncorrectable=counts.get("ue"), correctable=counts.get("ce"), deferred=counts.get("de"))


def _padded(digits: int) -> Callable[[str], str]:
    def read(text: str) -> str:
        value = parse_hex(text if text.strip().startswith("0x") else f"0x{text.strip()}")
        if value is None:
            raise ValueError(f"no hexadecimal number: {text.strip()[:40]}")
        return hex_id(value, digits)

    return read


def _numa(text: str) -> int | None:
    return None if text.strip() == "-1" else number(text)


#: Field, file below the device's directory, parser.
FILES: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("subsystem_vendor_id", "subsystem_vendor", _padded(4)),
    ("subsystem_device_id", "subsystem_device", _padded(4)),
    ("revision", "revision", _padded(2)),
    ("vbios_version", "vbios_version", normal),
    ("vram_bytes", "mem_info_vram_total", number),
    ("compute_partition", "current_compute_partition", partition),
    ("memory_partition", "current_memory_partition", partition),
    ("numa_node", "numa_node", _numa),
    ("pcie_link.speed", "current_link_speed", normal),
    ("pcie_link.width", "current_link_width", number),
    ("pcie_link.max_speed", "max_link_speed", normal),
    ("pcie_link.max_width", "max_link_width", number),
)


def read_device(ctx: Context, place: str) -> DeviceFiles:
    """Read the driver's files of one device; ``place`` is its directory in sysfs.

    Where that cannot be seen, one missing entry stands for all fields.
    """
    there = ctx.stat(place)
    if not there.ok:
        return DeviceFiles(missing=(("", there),))
    values: dict[str, Any] = {}
    missing: list[tuple[str, Answer[Any]]] = []
    for field, name, parse in FILES:
        _keep(field, parsed(ctx.text(f"{place}/{name}"), parse), values, missing)
    _keep("firmware_versions", _firmware(ctx, f"{place}/fw_version"), values, missing)
    _keep("ras", _ras(ctx, f"{place}/ras"), values, missing)
    _keep("power_cap_w", _power_cap(ctx, f"{place}/hwmon"), values, missing)
    driver = ctx.link(f"{place}/driver")
    _keep("driver", parsed(driver, lambda text: text.rpartition("/")[2]), values, missing)
    return DeviceFiles(values=values, missing=tuple(missing))


def _keep(
    field: str, answer: Answer[Any], values: dict[str, Any], missing: list[tuple[str, Answer[Any]]]
) -> None:
    if answer.ok:
        values[field] = answer.value
    if answer.value is None:
        missing.append((field, _silent(answer) if answer.ok else answer))


def _silent(answer: Answer[Any]) -> Answer[Any]:
    """Return why a file that was read tells nothing."""
    text = f"{answer.subject}: nothing in it, or a word for nothing"
    return Answer(kind=ReasonKind.UNSUPPORTED, subject=answer.subject, detail=text)


def _members(ctx: Context, place: str, suffix: str, parse: Callable[[str], T | None]) -> Answer[dict[str, T]]:
    """Read each ``NAME + suffix`` file of a directory; one that tells nothing is left out."""
    listing = ctx.scan(place)
    if listing.kind is not None:
        return Answer(kind=listing.kind, subject=place, detail=listing.detail)
    names = [
        entry.name for entry in listing.value or () if entry.name.endswith(suffix) and entry.kind != "dir"
    ]
    read = {name: parsed(ctx.text(f"{place}/{name}"), parse) for name in names[:_BLOCK_LIMIT]}
    refused = [answer for answer in read.values() if answer.kind not in (None, ReasonKind.UNSUPPORTED)]
    if refused:
        return Answer(kind=refused[0].kind, subject=refused[0].subject, detail=refused[0].detail)
    return Answer(
        value={name.removesuffix(suffix): a.value for name, a in read.items() if a.value is not None},
        subject=place,
    )


def _firmware(ctx: Context, place: str) -> Answer[dict[str, str]]:
    return _members(ctx, place, "_fw_version", _firmware_version)


def _firmware_version(text: str) -> str | None:
    plain = normal(text)
    return None if plain is None or number(plain) in (0, None) else plain


def _ras(ctx: Context, place: str) -> Answer[dict[str, RasCount]]:
    return _members(ctx, place, "_err_count", parse_ras)


def _power_cap(ctx: Context, place: str) -> Answer[float | None]:
    listing = ctx.scan(place)
    if listing.kind is not None:
        return Answer(kind=listing.kind, subject=place, detail=listing.detail)
    name = next((entry.name for entry in listing.value or ()), "hwmon0")
    return parsed(ctx.text(f"{place}/{name}/power1_cap"), _watts)


def _watts(text: str) -> float | None:
    value = number(text)
    return None if value is None else value / _MICROWATT
