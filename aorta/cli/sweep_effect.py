"""How large an effect must be for a plan to see it, in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aorta.sweep.planning.plan import Plan


def effect(plan: "Plan") -> Iterator[str]:
    """Yield what the comparison with the baseline can show; nothing where there is nothing to compare."""
    from aorta.sweep.matrix.statistics import smallest_effect

    others = [cell.trials for cell in plan.cells if cell.name != plan.baseline]
    if not others or plan.baseline is None:
        return
    baseline = next((cell.trials for cell in plan.cells if cell.name == plan.baseline), 0)
    early = "; less where cells end early" if any(cell.stop_after for cell in plan.cells) else ""
    # Where cells differ in their number of trials, each number has sentences of its own.
    for trials in dict.fromkeys(others):
        alike = trials == baseline
        numbers = f"{baseline} a cell" if alike else f"{baseline} of the baseline and {trials} of a cell"
        worse = smallest_effect(baseline, trials, len(others))
        better = smallest_effect(trials, baseline, len(others))
        if worse is None and better is None:
            yield f"nothing: trials as few as {numbers} cannot tell a difference from chance"
        elif alike and worse is not None:
            yield f"{numbers}: one that never fails from one that fails in {worse:.0%} of its trials{early}"
        else:
            yield from _of_one_way(numbers, worse, better, early)


def _of_one_way(numbers: str, worse: float | None, better: float | None, early: str) -> Iterator[str]:
    for rate, never, other in ((better, "cell", "baseline"), (worse, "baseline", "cell")):
        if rate is not None:
            yield f"{numbers}: a {never} that never fails from a {other} that fails in {rate:.0%}{early}"
