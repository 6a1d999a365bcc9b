"""``compare``: what two documents say differently, sorted by weight."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from aorta.compare.knowledge import Knowledge
from aorta.compare.row import DIFFERENCE, INFORMATIONAL, UNKNOWN, Row
from aorta.compare.side import Side, mapping
from aorta.compare.tables import GROUPS, TRIAGE
from aorta.compare.walk import Walk
from aorta.model.vocabulary import WORKLOADS

SAME, DIFFERENT = "same", "different"
CLIENT, WORKLOAD, DIRECT = "client", "workload", "direct"


@dataclass(frozen=True)
class Looked:
    """A row of the triage: always there. ``verdict`` is same, different or unknown."""

    path: str
    a: Any
    b: Any
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Views:
    """Whose view either document is: client (asked Buck), workload (says so) or direct."""

    a: str
    b: str

    @property
    def differ(self) -> bool:
        """Tell whether only one of them is a workload's: then a difference proves nothing about the job."""
        return self.a != self.b and WORKLOAD in (self.a, self.b)


@dataclass(frozen=True)
class Comparison:
    """What two documents say differently, each list with the weightiest first."""

    triage: tuple[Looked, ...]
    differences: tuple[Row, ...]
    informational: tuple[Row, ...]
    unknown: tuple[Row, ...]
    views: Views


def compare(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    knowledge: Knowledge,
    sections: Collection[str] | None = None,
) -> Comparison:
    """Compare two documents, whatever they hold; ``sections`` limits it to these."""
    sides = Side(a), Side(b)
    rows = _rows(sides, knowledge, sections)
    found = {kind: [row for row in rows if row.kind == kind] for kind in (DIFFERENCE, INFORMATIONAL, UNKNOWN)}
    looked = {path.partition(".")[0] for path in TRIAGE}
    triage = rows if sections is None or looked <= set(sections) else _rows(sides, knowledge, looked)
    return Comparison(
        triage=tuple(_looked(path, sides, triage) for path in TRIAGE),
        differences=tuple(found[DIFFERENCE]),
        informational=tuple(found[INFORMATIONAL]),
        unknown=tuple(found[UNKNOWN]),
        views=Views(_view(sides[0]), _view(sides[1])),
    )


def _rows(sides: tuple[Side, Side], knowledge: Knowledge, wanted: Collection[str] | None) -> list[Row]:
    walk = Walk(*sides, knowledge)
    names = {name for side in sides for name in side.sections() if wanted is None or name in wanted}
    for name in sorted(names, key=knowledge.rank):
        start = len(walk.rows)
        walk.section(name)
        walk.rows[start:] = sorted(walk.rows[start:], key=lambda row: row.path)
    groups = [name for name, _ in GROUPS]
    return sorted(
        walk.rows, key=lambda row: groups.index(row.weight) if row.weight in groups else len(groups)
    )


def _looked(path: str, sides: tuple[Side, Side], rows: list[Row]) -> Looked:
    a, b = (side.at(path) for side in sides)
    section = path.partition(".")[0]
    mine = next((row for row in rows if row.path in (path, section)), None)
    if mine is None:
        known = a is not None and b is not None
        return Looked(path, a, b, SAME if known else UNKNOWN, "" if known else "neither side says it")
    why = mine.why_a or mine.why_b or mine.note
    return Looked(path, a, b, UNKNOWN if mine.kind == UNKNOWN else DIFFERENT, why)


def _view(side: Side) -> str:
    if side.at("execution_context.probe_invocation") in WORKLOADS:
        return WORKLOAD
    status = mapping(side.at("buck_invocation")).get("status")
    return DIRECT if status in (None, "not_requested") else CLIENT
