"""Which ranks of a trial are to blame for it, by what its record keeps of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aorta.sweep.outcome import ERROR, FAIL, RETURNED
from aorta.sweep.summary import Blamed

#: The most ranks of a trial that are kept: with more of them it is no rank in particular.
MOST = 64


def blamed(ranks: Sequence[Mapping[str, Any]], lost: Mapping[str, Any] | None) -> tuple[Blamed, ...]:
    """Return the ranks that found a failure, and the one that was lost; else those without a verdict.

    The first is the one that the trial's reason is of. Of a rank that was ended because another was lost
    nothing follows.
    """
    found: dict[int, Blamed] = {}
    for row in _rows(ranks, lost):
        if row["rank"] not in found and len(found) < MOST:
            found[row["rank"]] = Blamed(rank=row["rank"], node=row["node"], stderr=row.get("stderr"))
    return tuple(found.values())


def _rows(ranks: Sequence[Mapping[str, Any]], lost: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    yield from (row for row in ranks if row["verdict"] == FAIL and row["end"] == RETURNED)
    if lost is not None:
        yield lost
    else:
        yield from (row for row in ranks if row["verdict"] == ERROR)
