"""Rows about the members of one list, put together: what differs alike is one row, many are counted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aorta.compare.row import Place, Row
from aorta.compare.values import canonical

#: The most members of a large list that have rows; of more one row says how many differ.
MANY = 12
#: The most members of a list that is not large.
BULK = 40
#: The most rows of one field that stand by themselves.
FEW = 2
#: The most names that such a row gives, and the most characters of one.
NAMED, LONG = 5, 40


def merged(found: Sequence[tuple[str, Row]], place: Place, total: int) -> list[Row]:
    """Return the rows of a list; ``found`` are those of its members, each with the member's label.

    ``total`` is the number of members of both sides, those that they share counted once.
    """
    made: list[Row] = []
    for kind in dict.fromkeys(row.kind for _, row in found):
        of_kind = [(name, row) for name, row in found if row.kind == kind]
        differing = {name for name, _ in of_kind}
        if len(differing) > MANY and total > BULK:
            made.append(_counted(of_kind, place, total))
        else:
            made += _by_field(_alike(of_kind, place), place, total)
    return made


def _alike(found: Sequence[tuple[str, Row]], place: Place) -> list[tuple[str, Row]]:
    """Put together what differs alike: the same field, the same values."""
    groups: dict[Any, list[tuple[str, Row]]] = {}
    for name, row in found:
        rest = row.path[len(place.member(name).path) :]
        said = (rest, _text(row.a), _text(row.b), row.why_a, row.why_b, row.note)
        groups.setdefault(said, []).append((name, row))
    return [
        (said[0], rows[0][1])
        if len(rows) == 1 or not said[0]
        else (said[0], _several(rows[0][1], [name for name, _ in rows], place, said[0]))
        for said, rows in groups.items()
    ]


def _by_field(rows: Sequence[tuple[str, Row]], place: Place, total: int) -> list[Row]:
    """Put together rows of one field, where they are many: the values side by side."""
    groups: dict[str, list[Row]] = {}
    for rest, row in rows:
        groups.setdefault(rest, []).append(row)
    made = []
    for rest, alike in groups.items():
        if len(alike) == 1 or (len(alike) <= FEW and not any(row.members for row in alike)):
            made += alike
        else:
            made.append(_side_by_side(alike, place, rest, total))
    return made


def _side_by_side(rows: Sequence[Row], place: Place, rest: str, total: int) -> Row:
    named = [(name, row) for row in rows for name in row.members or (_label(row, place, rest),)]
    a: Any = [row.a for _, row in named]
    b: Any = [row.b for _, row in named]
    note = f"{len(named):,} of {total:,} differ"
    if not rest:
        a = [_named(name) for name, row in named if row.a is not None]
        b = [_named(name) for name, row in named if row.b is not None]
        note = f"{len(named):,} of {total:,} are on one side only"
    return replace(
        _several(rows[0], [name for name, _ in named], place, rest),
        a=None if all(row.a is None for row in rows) else a,
        b=None if all(row.b is None for row in rows) else b,
        why_a=_shared([row.why_a for row in rows]),
        why_b=_shared([row.why_b for row in rows]),
        side=_shared([row.side for row in rows]) or ("both" if rows[0].side else ""),
        note=note,
    )


def _shared(texts: Sequence[str]) -> str:
    """Return the text that all have, an empty one where they differ."""
    return texts[0] if len(set(texts)) == 1 else ""


def _label(row: Row, place: Place, rest: str) -> str:
    return row.path[len(place.path) + 1 : len(row.path) - len(rest) - 1]


def _several(row: Row, names: Sequence[str], place: Place, rest: str) -> Row:
    return replace(row, path=f"{place.path}[*]{rest}", members=tuple(names))


def _counted(found: Sequence[tuple[str, Row]], place: Place, total: int) -> Row:
    """Return one row in the place of many: how many members differ, and the names of some."""
    names = list(dict.fromkeys(name for name, _ in found))
    shown = ", ".join(_named(name)[:LONG] for name in names[:NAMED])
    note = f"{len(names):,} of {total:,} differ: {shown} and {len(names) - NAMED:,} more"
    row = replace(found[0][1], path=place.path, why_a="", why_b="", note=note)
    return replace(row, a=None, b=None, members=tuple(names[:MANY]))


def _named(label: str) -> str:
    """Return the value of a label, without the name of its key."""
    return label.partition("=")[2] or label


def _text(value: Any) -> str:
    return "" if value is None else canonical(value)
