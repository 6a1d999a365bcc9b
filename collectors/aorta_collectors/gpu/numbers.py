"""Numbers as the kernel writes them into sysfs."""

import re


def parse_hex(text: str | None) -> int | None:
    """Read ``0x1002``; None for anything else."""
    found = re.fullmatch(r"0x([0-9a-fA-F]{1,16})", (text or "").strip())
    return int(found[1], 16) if found else None


def hex_id(value: int, digits: int = 4) -> str:
    """Write an id as 0x and lower-case hexadecimal digits, padded."""
    return f"0x{value:0{digits}x}"
