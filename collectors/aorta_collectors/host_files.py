"""What the kernel's and the distribution's files about a machine say. All functions are pure."""

import re
from typing import Any

from aorta.model.frozen import frozen

#: More than any kernel takes as its command line.
_LINE_LIMIT = 1 << 16
_CPUINFO = re.compile(r"^(processor|model name|physical id|core id)[ \t]*:(.*)$", re.MULTILINE)
_MEMINFO = re.compile(
    r"^(?:Node [0-9]{1,5} )?([A-Za-z_()0-9]{1,40}):[ \t]*([0-9]{1,18})(?: (kB))?[ \t\r]*$", re.MULTILINE
)
_STATUS = re.compile(r"^(Cpus_allowed_list|Mems_allowed_list):[ \t]*([0-9,-]{1,4096})[ \t\r]*$", re.MULTILINE)
_OS_RELEASE = re.compile(r"^[ \t]*([A-Z][A-Z0-9_]{0,63})=(.*)$", re.MULTILINE)


@frozen
class Processors:
    """What ``/proc/cpuinfo`` tells; null where this architecture does not tell it."""

    model: str | None = None
    sockets: int | None = None
    cores: int | None = None
    logical: int | None = None


def parse_cpuinfo(text: str) -> Processors:
    """Count processors, cores and sockets. Raises ValueError for a text without any processor."""
    blocks: list[dict[str, str]] = []
    for name, value in _CPUINFO.findall(text):
        if name == "processor":
            blocks.append({})
        if blocks:
            blocks[-1].setdefault(name, value.strip())
    if not blocks:
        raise ValueError("no processor in it")
    sockets = {block.get("physical id") for block in blocks}
    cores = {(block.get("physical id"), block.get("core id")) for block in blocks}
    told = None not in sockets
    return Processors(
        model=blocks[0].get("model name") or None,
        sockets=len(sockets) if told else None,
        cores=len(cores) if told and all(core is not None for _, core in cores) else None,
        logical=len(blocks),
    )


def parse_meminfo(text: str) -> dict[str, int]:
    """Return the lines of ``/proc/meminfo`` or a node's ``meminfo``: amounts in bytes, counts as they are.

    Raises ValueError for a text without MemTotal.
    """
    found = {name: int(value) * (1024 if unit else 1) for name, value, unit in _MEMINFO.findall(text)}
    if "MemTotal" not in found:
        raise ValueError("no MemTotal in it")
    return found


def parse_status(text: str) -> dict[str, str]:
    """Return the lists of allowed processors and memory nodes. Raises ValueError for a text without them."""
    found = dict(_STATUS.findall(text))
    if not found:
        raise ValueError("no Cpus_allowed_list in it")
    return found


def parse_os_release(text: str) -> dict[str, str]:
    """Return the assignments of ``os-release`` without their shell quotes. Raises ValueError for none."""
    found = {name: _unquoted(value.strip()) for name, value in _OS_RELEASE.findall(text)}
    if not found:
        raise ValueError("no assignment in it")
    return {name: value for name, value in found.items() if value}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1]
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return re.sub(r"\\([\"$`\\'])", r"\1", value)


def parse_glibc(text: Any) -> str:
    """Return ``2.35`` of ``glibc 2.35``. Raises ValueError."""
    if not isinstance(text, str):
        raise ValueError("not a text")  # noqa: TRY004  (what ``parsed`` understands)
    match = re.fullmatch(r"(?:glibc[ ])?([0-9]{1,4}(?:\.[0-9]{1,6}){1,3}[\w.+~-]{0,40})", text.strip())
    if match is None:
        raise ValueError(f"{text[:60]!a} is no version of glibc")
    return match[1]


def parse_boot_id(text: str) -> str:
    """Return the UUID of this boot. Raises ValueError."""
    match = re.fullmatch(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", text.strip())
    if match is None:
        raise ValueError(f"{text.strip()[:60]!a} is no id of a boot")
    return match[0]


def parse_digest(told: Any) -> str:
    """Return a digest of 16 hexadecimal digits. Raises ValueError."""
    if not isinstance(told, str) or not re.fullmatch(r"[0-9a-f]{16}", told):
        raise ValueError("not 16 hexadecimal digits")
    return told


def chosen(text: str) -> str:
    """Return the word in brackets of ``always [madvise] never``. Raises ValueError."""
    match = re.search(r"\[([a-z+_]{1,40})\]", text)
    if match is None:
        raise ValueError(f"no choice marked in {text.strip()[:60]!a}")
    return match[1]


def parse_small_number(text: str) -> int:
    """Return a number from 0 on. Raises ValueError."""
    if not re.fullmatch(r"[0-9]{1,9}", text.strip()):
        raise ValueError(f"{text.strip()[:60]!a} is no number")
    return int(text)


def parse_cmdline(text: str) -> list[str]:
    """Split a kernel command line at blanks outside of double quotes. Raises ValueError for what is none."""
    if len(text) > _LINE_LIMIT or not text.strip().isprintable():
        raise ValueError(f"no line of text: {text[:40]!a}")
    return re.findall(r"(?:[^\s\"]|\"[^\"]*(?:\"|$))+", text)


_LIMITS = {
    "memlock": "memlock",
    "nofile": "nofile",
    "nproc": "nproc",
    "stack": "stack",
    "core": "core",
    "as": "address_space",
}


def parse_cpulist(text: str) -> str:
    """Return a list of processors such as ``0-63,128-191``, empty for a node without. Raises ValueError."""
    match = re.fullmatch(r"(?:(?:^|,)[0-9]{1,6}(?:-[0-9]{1,6})?){0,4096}", text.strip())
    if match is None:
        raise ValueError(f"{text.strip()[:60]!a} is no list of processors")
    return match[0]


def parse_governor(text: str) -> str:
    """Return the name of a frequency governor. Raises ValueError."""
    match = re.fullmatch(r"[a-z0-9_-]{1,40}", text.strip())
    if match is None:
        raise ValueError(f"{text.strip()[:60]!a} is no governor")
    return match[0]


def parse_limits(told: Any) -> dict[str, tuple[int | str, int | str]]:
    """Return soft and hard limits by name, null being ``unlimited``. Raises ValueError."""
    if not isinstance(told, dict):
        raise ValueError("not a mapping of limits")  # noqa: TRY004  (what ``parsed`` understands)
    return {_LIMITS[name]: _limits(pair) for name, pair in told.items() if name in _LIMITS}


def _limits(pair: Any) -> tuple[int | str, int | str]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise ValueError("a limit is not a pair")
    soft, hard = (_limit(value) for value in pair)
    return soft, hard


def _limit(value: Any) -> int | str:
    if value is None:
        return "unlimited"
    if type(value) is not int or value < 0:
        raise ValueError("what is no number from 0 on is no limit")
    return value
