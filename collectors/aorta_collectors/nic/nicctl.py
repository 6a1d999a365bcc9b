"""What nicctl, the tool of AMD's AI NICs, prints. Its layouts vary: labels and JSON keys are both read.

Of several cards the first is told, as 1.x does; a card's id spells its serial number.
"""

import functools
import re
from collections.abc import Iterator
from typing import Any

from aorta_collectors.nic.tools import plain, printable
from aorta_collectors.tools.tool_json import decode

_DEPTH = 6
VERSION = ("nicctl", "--version")
CARD = ("nicctl", "show", "card", "--json")
FIRMWARE = ("nicctl", "show", "version", "firmware", "--json")
SOFTWARE = ("nicctl", "show", "version", "host-software", "--json")
PROFILE = ("nicctl", "show", "card", "profile")


def dcqcn_argv(device: str) -> tuple[str, ...]:
    """Return the command line that asks for the congestion control of one RDMA device."""
    return ("nicctl", "show", "dcqcn", "--roce-device", device, "--profile-id", "1")


@functools.cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def parse_version(text: str) -> str:
    """Read ``nicctl version: 1.117.5-a-56``. Raises ValueError."""
    found = _pattern(r"(?<![\w.])[0-9]{1,6}(?:\.[0-9]{1,6}){1,4}(?:-[0-9A-Za-z]{1,20}){0,6}(?![\w.])").search(
        text[:4096]
    )
    if found is None:
        raise ValueError("no version")
    return found[0]


def rows(text: str) -> dict[str, str]:
    """Read the first card of an answer: JSON, or lines ``label : value``; labels as words in lower case.

    Raises ValueError where there is neither.
    """
    found: dict[str, str] = {}
    for label, value in _json_rows(text) or _label_rows(text):
        key = "_".join(_pattern(r"[a-z0-9]+").findall(label.lower()))
        if key == "nic" and "nic" in found:
            break
        if key and value is not None:
            found.setdefault(key, value)
    if not found:
        raise ValueError("neither JSON nor labelled lines")
    return found


def _json_rows(text: str) -> list[tuple[str, str | None]]:
    try:
        documents = decode(text)[0]
    except ValueError:
        return []
    return list(_leaves(documents[0], 0))


def _leaves(value: Any, depth: int) -> Iterator[tuple[str, str | None]]:
    """Yield the named scalars; of a list only the first member, which is the first card."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        yield from _leaves(value[0], depth + 1) if value else ()
        return
    for name, member in value.items() if isinstance(value, dict) else ():
        if isinstance(member, (dict, list)):
            yield from _leaves(member, depth + 1)
        elif member is not None:
            yield str(name), printable(str(member))


def _label_rows(text: str) -> Iterator[tuple[str, str | None]]:
    for line in plain(text)[:4096]:
        found = _pattern(r"\s*([A-Za-z][A-Za-z0-9 _/()-]{0,60}?)\s*:\s+(\S.{0,300})").fullmatch(line.rstrip())
        if found:
            yield found[1], printable(found[2])


def parse_card(text: str) -> dict[str, str | None]:
    """Read ``show card``: asic, uuid, firmware, partition, each may be null. Raises ValueError."""
    found = rows(text)
    asic, identity = found.get("asic", ""), found.get("id") or found.get("nic") or ""
    uuid = _pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").search(identity.lower())
    return {
        "asic": asic.upper() if _pattern(r"[A-Za-z0-9_-]{1,32}").fullmatch(asic) else None,
        "uuid": uuid[0] if uuid else None,
        "firmware": found.get("firmware_version") or found.get("firmware"),
        "partition": (found.get("current_firmware_partition") or "").lower() or None,
    }


def parse_firmware(text: str, partition: str | None) -> str:
    """Read ``show version firmware``: the firmware of the partition in use, never the CPLD's.

    Raises ValueError.
    """
    found = rows(text)
    names = (f"firmware_{partition}",) if partition else ("firmware_a", "firmware_b")
    for name in (*names, "firmware"):
        if name in found:
            return found[name]
    raise ValueError("no firmware version")


def parse_software(text: str) -> str:
    """Read ``show version host-software``: nicctl's own version. Raises ValueError."""
    found = rows(text).get("nicctl")
    if found is None:
        raise ValueError("no nicctl version")
    return found


def parse_profile(text: str) -> str:
    """Read ``show card profile``: the first ``device_config_…``. Raises ValueError."""
    found = _pattern(r"(?<!\w)device_config_\w{1,100}").search(text)
    if found is None:
        raise ValueError("no device_config")
    return found[0]


def has_virtual_functions(device_config: str) -> bool:
    """Tell whether a device configuration has virtual functions (``pf1_vf8``)."""
    return _pattern(r"_vf(?![a-z])").search(device_config) is not None


#: Field -> the labels that show it, and those of older releases.
_DCQCN = {
    "token_bucket_size": ("token_bucket_size",),
    "ai_rate": ("rate_increase_in_ai_phase", "ai_rate"),
    "hai_rate": ("rate_increase_in_hai_phase", "hai_rate"),
    "cnp_dscp": ("dscp_value_used_for_cnp", "cnp_dscp"),
}
_SWITCH = {"enabled": True, "true": True, "disabled": False, "false": False}


def parse_dcqcn(text: str) -> dict[str, int | bool | None]:
    """Read ``show dcqcn``; a value that is missing is null. Raises ValueError where all are."""
    found = rows(text)
    values: dict[str, int | bool | None] = {
        "enabled": _SWITCH.get((found.get("status") or found.get("enabled") or "").lower())
    }
    for field, labels in _DCQCN.items():
        word = next((found[label] for label in labels if label in found), "")
        values[field] = int(word) if _pattern(r"[0-9]{1,12}").fullmatch(word) else None
    if all(value is None for value in values.values()):
        raise ValueError("no congestion control values")
    return values
