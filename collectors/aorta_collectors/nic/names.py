"""Names of devices: PCI addresses, natural order, and hardware addresses inside names."""

import functools
import re


@functools.cache
def _hardware() -> re.Pattern[str]:
    return re.compile(r"(?<![0-9A-Za-z])((?:roce|ib|iw|opa|unk|en|wl|ww)x)[0-9a-f]{12,40}(?![0-9A-Za-z])")


@functools.cache
def _address() -> re.Pattern[str]:
    return re.compile(r"(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])")


def public(text: str) -> str:
    """Return a text with the hardware address in names like ``rocex…`` or ``enx…`` masked."""
    return _hardware().sub(r"\1<redacted>", text)


def pci_address(text: str) -> str | None:
    """Return a PCI address with its domain, in lower case; None for anything else."""
    found = _address().fullmatch(text)
    return f"{(found[1] or '0000').lower()}:{found[2].lower()}" if found else None


def last(target: str | None) -> str | None:
    """Return the last component of a link's text."""
    return (target or "").rstrip("/").rpartition("/")[2] or None


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts ``mlx5_10`` behind ``mlx5_9``."""
    parts = re.split(r"([0-9]{1,9})", name)
    return tuple((1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts)
