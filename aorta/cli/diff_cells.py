"""The cells of a comparison's rows: values as text, no wider than what they are for."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from aorta.cli.plain import clean
from aorta.compare import Row
from aorta.model.text import listed

#: The most characters that two values keep of what they begin with alike.
LEAD = 12
#: The most members that are named.
NAMED = 3
#: The most characters of a value that are looked at.
MOST = 2000
#: Marks a row of what only one of two lists holds.
LISTS = "*"
_DIGEST = re.compile(r"\b([a-z0-9-]+:[0-9a-f]{16})[0-9a-f]{16,}")


class Cells(NamedTuple):
    """A row: the path, both values, what it rests on (of the triage: the verdict) and what is to be said."""

    path: str
    a: str
    b: str
    evidence: str
    note: str


HEADINGS = Cells("path", "A", "B", "evidence", "note")


def cells(row: Row, width: int, *, mark: str = "", also: Sequence[str] = (), lists: bool = False) -> Cells:
    """Return the cells of a row; ``also`` are paths that say the same, ``lists`` that it holds leftovers."""
    a, b = pair(row.a, row.b, width)
    if row.a is None:
        a = _nothing(row, row.why_a, width, unknown=row.side in ("a", "both"))
    if row.b is None:
        b = _nothing(row, row.why_b, width, unknown=row.side in ("b", "both"))
    said = LISTS if lists else row.note or _members(row.members)
    note = "; ".join(filter(None, (said, f"also {listed(also)}" if also else "")))
    return Cells(f"{mark}{clean(row.path)}", a, b, clean(", ".join(row.provenance)), clean(note))


def pair(a: Any, b: Any, width: int) -> tuple[str, str]:
    """Return two values as texts; of two long ones what they differ in."""
    one, other = (_DIGEST.sub(r"\1…", _text(value)) for value in (a, b))
    if one == other:
        one, other = _text(a), _text(b)
    if max(len(one), len(other)) > width:
        pairs = enumerate(zip(one, other, strict=False))
        alike = next((place for place, (left, right) in pairs if left != right), 0)
        if alike > LEAD:
            one, other = (f"…{text[alike - LEAD // 2 :]}" for text in (one, other))
    return _short(one, width), _short(other, width)


def _members(labels: Sequence[str]) -> str:
    if len(labels) > NAMED:
        return f"{len(labels):,} members"
    return ", ".join(label.partition("=")[2] or label for label in labels)


def _nothing(row: Row, why: str, width: int, *, unknown: bool) -> str:
    if row.note and not why and not unknown:
        return "-"
    if unknown:
        return _short(f"? {why}", width) if why else "?"
    if row.section == "env_vars" and not why:
        return "not set"
    return _short(f"({why})", width) if why else "none"


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(_text(member) for member in value[:20]) if value else "[]"
    if isinstance(value, dict):
        told = [(name, member) for name, member in value.items() if member is not None]
        return ", ".join(f"{name} {_text(member)}" for name, member in told[:20])
    return clean(str(value)[:MOST]) if value != "" else '""'


def _short(text: str, width: int) -> str:
    text = clean(text)
    return text if len(text) <= width else f"{text[: width - 1]}…"
