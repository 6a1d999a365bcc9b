"""Slurm's lists of hosts: ``n[01-03,7],gpu-a`` are n01, n02, n03, n7 and gpu-a."""

import itertools
import re
from collections.abc import Iterator

#: A range has no more members than this, and a list no more hosts.
MOST = 65536

_NAME = re.compile(r"[^\s,\[\]]+")
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")


def hosts_in(text: str) -> Iterator[str]:
    """Yield the hosts of a list in its order. Raises ValueError for what is no such list."""
    count = 0
    for item in _items(text):
        for host in _expanded(item):
            count += 1
            if count > MOST:
                raise ValueError("a list of hosts without end")
            yield host


def first_host(text: str) -> str | None:
    """Return the first host of a list; None for what is no such list."""
    try:
        return next(hosts_in(text.strip()), None)
    except ValueError:
        return None


def _items(text: str) -> Iterator[str]:
    """Yield what stands between the commas that are in no brackets."""
    start = depth = 0
    for place, letter in enumerate(f"{text},"):
        depth += (letter == "[") - (letter == "]")
        if not 0 <= depth <= 1:
            raise ValueError("brackets that do not match")
        if letter == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if depth:
        raise ValueError("brackets that do not match")


def _expanded(item: str) -> Iterator[str]:
    """Yield the hosts of a name with any number of brackets, the last of which changes fastest."""
    parts = re.split(r"\[([^\]]*)\]", item)
    if not item or any(part and not _NAME.fullmatch(part) for part in parts[::2]):
        raise ValueError("a name is missing, or none")
    choices = [_numbers(part) if place % 2 else [part] for place, part in enumerate(parts)]
    return ("".join(chosen) for chosen in itertools.product(*choices))


def _numbers(text: str) -> list[str]:
    """Return the numbers of ``01-03,7``, with their leading zeros."""
    found: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is no range")
        first, last = match[1], match[2] or match[1]
        numbers = range(int(first), int(last) + 1)
        if not 0 < len(numbers) <= MOST:
            raise ValueError(f"{part!r} is no range")
        found += [f"{number:0{len(first)}d}" for number in numbers]
    return found
