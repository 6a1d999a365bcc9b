"""Which members of two lists stand for one another."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aorta.compare.tables import NAMED_BY_FILE
from aorta.compare.values import canonical, unconfigured

Members = list[Any]
_NUMBERS = re.compile(r"([0-9]+)")


def labels(
    members: Sequence[Any], keys: Sequence[str], pattern: str, *, configured: bool
) -> list[str] | None:
    """Return what each member is known by; None unless all are objects and say it.

    With one key a label is ``key=value``. Of several members with one name the second is ``name 2``, so
    that each label stands for one.
    """
    names = []
    for member in members:
        if not isinstance(member, Mapping):
            return None
        parts = [_part(member.get(key), by_file=pattern in NAMED_BY_FILE and key == "path") for key in keys]
        name = " ".join(part for part in parts if part)
        if not name:
            return None
        name = unconfigured(name) if configured else name
        names.append(f"{keys[0]}={name}" if len(keys) == 1 else name)
    return _numbered(names)


def _part(value: Any, *, by_file: bool) -> str:
    if value is None or isinstance(value, (dict, list)):
        return ""
    if by_file:
        stem, dot_so, _ = str(value).rpartition("/")[2].partition(".so")
        return stem + dot_so
    return str(value)


def _numbered(names: Sequence[str]) -> list[str]:
    seen: Counter[str] = Counter()
    made = []
    for name in names:
        seen[name] += 1
        made.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    if len(set(made)) == len(made):
        return made
    # "x 2" is a name itself.
    return [f"{number} {name}" for number, name in enumerate(names)]


def by_number(label: str) -> list[tuple[int, str]]:
    """Return what sorts labels so that ``x2`` comes before ``x10``."""
    return [
        (int(part), "") if part.isdecimal() and len(part) < 19 else (0, part)
        for part in _NUMBERS.split(label)
    ]


def left_over(one: Sequence[Any], other: Sequence[Any], *, configured: bool) -> tuple[Members, Members]:
    """Return what only the one and only the other list holds, whatever the order."""
    texts = [[canonical(member, configured=configured) for member in each] for each in (one, other)]
    counts = [Counter(each) for each in texts]
    only = (counts[0] - counts[1], counts[1] - counts[0])
    return _picked(one, texts[0], only[0]), _picked(other, texts[1], only[1])


def _picked(members: Sequence[Any], texts: Sequence[str], wanted: Counter[str]) -> Members:
    left, picked = Counter(wanted), []
    for member, text in zip(members, texts, strict=True):
        if left[text] > 0:
            left[text] -= 1
            picked.append(member)
    return picked
