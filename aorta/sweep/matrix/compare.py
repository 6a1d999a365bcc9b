"""Cells against the baseline: whether they fail more or less, and whether they are slower or faster."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aorta.model.frozen import frozen
from aorta.sweep.matrix.statistics import ALPHA, DIRECTIONS, Tails, detectable, fisher, holm
from aorta.sweep.outcome import FAIL, NO_SOURCE, PASS, WALL_CLOCK

if TYPE_CHECKING:
    from aorta.sweep.matrix.tally import Tally

BASELINE, WORSE, BETTER, NO_DIFFERENCE, TOO_FEW, NOT_COMPARABLE = CALLS = (
    "baseline",
    "worse",
    "better",
    "no_difference",
    "too_few",
    "not_comparable",
)
SLOWER, FASTER, SAME, UNKNOWN = ("slower", "faster", "none", "n/a")
#: Milliseconds below which a whole trial is no measure of a step.
SHORT_MS = 1000.0

#: Why nothing is compared where no cell of the plan is a baseline.
NO_BASELINE = "no cell that runs is a baseline"

CONFOUNDS = (BASELINE, SLOWER, FASTER, SAME, UNKNOWN)


@frozen
class Comparison:
    """A cell's failures against the baseline's.

    ``p_value`` is Fisher's exact test in the direction that was seen, ``adjusted_p`` the same after Holm's
    correction. ``worse_from`` and ``better_to`` are the failure rates from which on, and up to which, the
    cell's number of trials is called worse and better; null for never.
    """

    call: str
    p_value: float | None = None
    adjusted_p: float | None = None
    worse_from: float | None = None
    better_to: float | None = None
    why: str | None = None


@frozen
class Pace:
    """A cell's mean step against the baseline's: ``ratio`` above 1 is slower.

    ``percent`` is how much slower or faster, ``why`` the reason why it is not known.
    """

    tag: str
    ratio: float | None = None
    percent: int | None = None
    why: str | None = None


def compared(tallies: "Mapping[str, Tally]", baseline: str | None) -> dict[str, Comparison]:
    """Return how the cells' failures compare with those of the baseline, at 5 % over all of them.

    Both directions of all cells of the plan but the baseline are one family of hypotheses, from the first
    trial on: what was called does not wait for cells that are still to come.
    """
    base = None if baseline is None else tallies.get(baseline)
    if baseline is None or base is None or not base.judged:
        why = NO_BASELINE if baseline is None else f"the baseline {baseline} has no judged trial"
        return {
            name: Comparison(call=BASELINE) if name == baseline else Comparison(call=NOT_COMPARABLE, why=why)
            for name in tallies
        }
    others = [name for name in tallies if name != baseline and tallies[name].judged]
    tests = [_test(tallies[name], base) for name in others]
    family = len(tallies) - 1
    adjusted = holm([p for tails in tests for p in tails], DIRECTIONS * family)
    made = dict.fromkeys(tallies, Comparison(call=NOT_COMPARABLE, why="it has no judged trial"))
    made[baseline] = Comparison(call=BASELINE)
    for index, (name, tails) in enumerate(zip(others, tests, strict=True)):
        more, fewer = adjusted[DIRECTIONS * index : DIRECTIONS * (index + 1)]
        made[name] = _called(tallies[name], base, tails, Tails(more, fewer), family)
    return made


def _test(cell: "Tally", base: "Tally") -> Tails:
    return fisher(cell.verdicts[FAIL], cell.verdicts[PASS], base.verdicts[FAIL], base.verdicts[PASS])


def _called(cell: "Tally", base: "Tally", tails: Tails, adjusted: Tails, family: int) -> Comparison:
    worse_from, better_to = detectable(base.verdicts[FAIL], base.judged, cell.judged, family)
    direction = 0 if tails.more <= tails.fewer else 1
    if adjusted[direction] <= ALPHA:
        call = (WORSE, BETTER)[direction]
    else:
        call = TOO_FEW if worse_from is None and better_to is None else NO_DIFFERENCE
    return Comparison(
        call=call,
        p_value=tails[direction],
        adjusted_p=adjusted[direction],
        worse_from=worse_from,
        better_to=better_to,
    )


def paced(name: str, cell: "Tally", baseline: str | None, base: "Tally | None", threshold: float) -> Pace:
    """Return how a cell's mean step compares with the baseline's, slower from ``threshold`` times on.

    Times are compared between equal sources alone: a step that was timed has nothing else in it, a trial
    divided by its steps has all of its start.
    """
    if name == baseline:
        return Pace(tag=BASELINE)
    if baseline is None:
        return Pace(tag=UNKNOWN, why=NO_BASELINE)
    if base is None or base.source == NO_SOURCE:
        return Pace(tag=UNKNOWN, why="the baseline has no step times")
    if cell.source == NO_SOURCE:
        return Pace(tag=UNKNOWN, why="it has no step times")
    if cell.source != base.source:
        return Pace(tag=UNKNOWN, why=f"its step times are {cell.source}, the baseline's {base.source}")
    mean, of_base = cell.samples.mean, base.samples.mean
    if not mean or not of_base:
        return Pace(tag=UNKNOWN, why="a mean step took no time")
    if cell.source == WALL_CLOCK and min(mean, of_base) < SHORT_MS:
        return Pace(tag=UNKNOWN, why="a whole trial takes less than a second: most of it may be its start")
    ratio = mean / of_base
    if ratio >= threshold:
        return Pace(tag=SLOWER, ratio=ratio, percent=round((ratio - 1) * 100))
    if ratio <= 1 / threshold:
        return Pace(tag=FASTER, ratio=ratio, percent=round((1 - ratio) * 100))
    return Pace(tag=SAME, ratio=ratio)
