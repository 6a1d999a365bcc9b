"""Which rows of an answer are the target that was asked for: found by its label."""

from collections.abc import Collection, Mapping, Sequence

from aorta.buck.labels import Configured, Label, parse_configured, parse_label

_UNBOUND = "<unbound>"


def roots_of(rows: Sequence[Configured], target: str) -> list[Configured]:
    """Return the rows of the target, one a configuration; none where its label may mean several.

    A literal without a cell, or with an alias of one, is told from others by the rest of its label, and among
    namesakes by its place: the answer ends with what was asked for. A transition gives a target two rows.
    """
    literal = parse_label(target)
    found = [row for row in rows if row.configuration != _UNBOUND and literal.may_mean(row.label)]
    label = _chosen(found, literal, rows)
    return [row for row in found if row.label == label]


def _chosen(found: Sequence[Configured], literal: Label, rows: Sequence[Configured]) -> Label | None:
    labels = list(dict.fromkeys(row.label for row in found))
    exact = [label for label in labels if label.cell == literal.cell and literal.cell is not None]
    if len(labels) == 1 or exact:
        return (exact or labels)[0]
    # All else is a dependency, and buck2 lists those first; it promises no order.
    return rows[-1].label if rows and rows[-1].label in labels else None


def platforms_of(named: Mapping[str, str], roots: Collection[str], target: str) -> set[str]:
    """Return the platforms of a target's rows; of what its label may mean where none of them is known."""
    own = {platform for row, platform in named.items() if row in roots}
    return own or {platform for row, platform in named.items() if _may_be(row, target)}


def _may_be(row: str, target: str) -> bool:
    try:
        return parse_label(target).may_mean(parse_configured(row).label)
    except ValueError:
        return False
