"""What the network tools print, as values: ethtool, rdma, lspci, ibv_devices."""

import functools
import re
from typing import NamedTuple

from aorta_collectors.nic.names import pci_address

_LIMIT = 4096
_NOTHING = {"", "n/a", "none", "unknown"}
_RULE = "------"


class Ethtool(NamedTuple):
    """The answer of ``ethtool -i``; ``package`` is null where it repeats the firmware."""

    driver: str | None = None
    version: str | None = None
    firmware: str | None = None
    board_id: str | None = None
    package: str | None = None
    bus_info: str | None = None


class Link(NamedTuple):
    """A row of ``rdma link``."""

    device: str
    port: int
    state: str | None = None
    physical_state: str | None = None
    netdev: str | None = None


class Verbs(NamedTuple):
    """The answer of ibv_devices: listed names, and libibverbs's complaints by the device they name.

    ``mismatches`` maps an RDMA or uverbs device to driver, kernel ABI and supported ABIs, ``unserved``
    names devices that no provider serves, ``unloaded`` drivers whose library would not load.
    """

    names: tuple[str, ...]
    mismatches: dict[str, tuple[str, str, str]]
    unserved: frozenset[str]
    unloaded: tuple[str, ...]


@functools.cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def plain(text: str) -> list[str]:
    """Return a tool's lines without terminal colours."""
    return _pattern(r"\x1b\[[0-9;]{0,16}[A-Za-z]").sub("", text).splitlines()


def printable(text: str) -> str | None:
    """Return one line of a driver or tool, at most 200 characters; None for a way of saying nothing."""
    word = text.strip()
    if word.lower() in _NOTHING or not word.isprintable():
        return None
    return word[:200]


def parse_ethtool(text: str) -> Ethtool:
    """Read ``key: value`` lines. Raises ValueError where there is no driver line."""
    fields: dict[str, str] = {}
    for line in plain(text)[:200]:
        key, mark, value = line.partition(":")
        if mark:
            fields.setdefault(key.strip(), value)
    driver = printable(fields.get("driver", ""))
    if driver is None:
        raise ValueError("no driver line")
    firmware, package = split_package(fields.get("firmware-version", ""))
    firmware, board = split_board(firmware or "")
    return Ethtool(
        driver=driver,
        version=printable(fields.get("version", "")),
        firmware=firmware,
        board_id=board,
        package=package,
        bus_info=printable(fields.get("bus-info", "")),
    )


def split_package(text: str) -> tuple[str | None, str | None]:
    """Split ``232.0.213.0/pkg 232.1.190.0``; a package that repeats the firmware is dropped."""
    before, mark, after = text.partition("/pkg")
    firmware, package = printable(before), printable(after) if mark else None
    return firmware, None if package == firmware else package


def split_board(text: str) -> tuple[str | None, str | None]:
    """Split ``28.39.3560 (MT_0000000838)``; other text in brackets belongs to the version."""
    found = _pattern(r"(\S{1,100}) \(([A-Z]{2,4}_?[0-9A-Z]{4,20})\)").fullmatch(text.strip())
    return (found[1], found[2]) if found else (printable(text), None)


def parse_links(text: str) -> tuple[Link, ...]:
    """Read ``rdma link``: key and value pairs behind ``link DEVICE/PORT``; other lines are left out.

    Raises ValueError where something was printed and nothing of it is a link.
    """
    lines = [line for line in plain(text)[:_LIMIT] if line.strip()]
    links = []
    for line in lines:
        words = line.split()
        found = _pattern(r"([^/\s]{1,64})/([0-9]{1,3})").fullmatch(words[1]) if len(words) > 1 else None
        if words[0] != "link" or found is None:
            continue
        pairs: dict[str, str] = {}
        for key, value in zip(words[2::2], words[3::2], strict=False):
            pairs.setdefault(key, value)
        links.append(
            Link(
                device=found[1],
                port=int(found[2]),
                state=pairs.get("state"),
                physical_state=pairs.get("physical_state"),
                netdev=pairs.get("netdev"),
            )
        )
    if lines and not links:
        raise ValueError(f"no link line: {lines[0].strip()[:80]}")
    return tuple(links)


def parse_lspci(text: str) -> dict[str, tuple[str, str, str]]:
    """Read ``lspci -D -n``: address to class, vendor and device, each as ``0x…``.

    Raises ValueError where something was printed and nothing of it is a device.
    """
    lines = [line for line in plain(text) if line.strip()]
    row = _pattern(r"(\S{1,24}) (?:Class )?([0-9a-fA-F]{4}): ([0-9a-fA-F]{4}):([0-9a-fA-F]{4})(?: .{0,200})?")
    devices = {}
    for line in lines:
        found = row.fullmatch(line.strip())
        bdf = pci_address(found[1]) if found else None
        if found and bdf:
            devices[bdf] = (f"0x{found[2].lower()}", f"0x{found[3].lower()}", f"0x{found[4].lower()}")
    if lines and not devices:
        raise ValueError(f"no device line: {lines[0].strip()[:80]}")
    return devices


def parse_verbs(stdout: str, stderr: str) -> Verbs:
    """Read ibv_devices. Raises ValueError where its header is missing; no row is a plain answer."""
    lines = plain(stdout)
    start = next((at for at, line in enumerate(lines) if line.strip().startswith(_RULE)), None)
    if start is None:
        raise ValueError("no header")
    rows = (
        _pattern(r"\s*(\S{1,64})\s+[0-9a-fA-F:]{16,23}\s*").fullmatch(line) for line in lines[start + 1 :]
    )
    complaints = "\n".join(line for line in plain(stderr)[:_LIMIT] if "libibverbs: Warning" in line)
    mismatch = _pattern(
        r"[Dd]river (\S{1,64}) does not support the kernel ABI of (\d{1,9})"
        r" \(supports (\d{1,9} to \d{1,9})\) for device (\S{1,256})"
    )
    return Verbs(
        names=tuple(row[1] for row in rows if row),
        mismatches={
            _base(found[4]): (found[1], found[2], found[3]) for found in mismatch.finditer(complaints)
        },
        unserved=frozenset(
            _base(found[1])
            for found in _pattern(r"no userspace device-specific driver found for (\S{1,256})").finditer(
                complaints
            )
        ),
        unloaded=tuple(
            sorted(
                {
                    found[1]
                    for found in _pattern(r"couldn't load driver '?([^\s':]{1,200})").finditer(complaints)
                }
            )
        ),
    )


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
