"""Rows that say one fact: a copy of a field stands in another section, with the same values on both sides."""

from collections.abc import Sequence
from typing import Any

from aorta.compare.row import Row
from aorta.compare.tables import COPIES
from aorta.compare.values import canonical

#: The fewest characters of a text that two fields hardly share by chance.
TELLING = 5


def folded(rows: Sequence[Row]) -> list[tuple[Row, list[str]]]:
    """Return the rows without copies, each with the paths of those that say the same as it.

    A copy is one by declaration (``COPIES``), or has the same two values, which are no everyday ones. Rows
    that differ in anything else than their place stand by themselves.
    """
    kept: list[tuple[Row, list[str]]] = []
    of_pair: dict[Any, list[tuple[Row, list[str]]]] = {}
    for row in rows:
        pair = _pair(row)
        alike = of_pair.setdefault(pair, []) if pair is not None else []
        first = next((one for one in alike if _is_copy(one[0], row)), None)
        if first is not None and COPIES.get(first[0].path) == row.path:
            kept[kept.index(first)] = alike[alike.index(first)] = (row, [first[0].path, *first[1]])
            continue
        if first is not None:
            first[1].append(row.path)
            continue
        kept.append((row, []))
        alike.append(kept[-1])
    return kept


def _pair(row: Row) -> Any:
    if row.a is None or row.b is None or row.section == "env_vars":
        return None
    try:
        return canonical(row.a), canonical(row.b), row.note, len(row.members)
    except RecursionError:
        return None


def _is_copy(one: Row, other: Row) -> bool:
    declared = other.path == COPIES.get(one.path) or one.path == COPIES.get(other.path)
    return declared or (_telling(one.a) and _telling(one.b))


def _telling(value: Any) -> bool:
    """Tell whether a value is so much its own that an equal one elsewhere is of the same fact."""
    if isinstance(value, list):
        return bool(value) and all(map(_telling, value))
    return isinstance(value, str) and len(value) >= TELLING and any(one.isdigit() for one in value)
