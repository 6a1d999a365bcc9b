"""How large an effect must be for a plan to see it, in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aorta.model.text import count_of

if TYPE_CHECKING:
    from aorta.sweep.plan import Plan


def effect(plan: "Plan") -> Iterator[str]:
    """Yield what the comparison with the baseline can show; nothing where there is nothing to compare."""
    from aorta.sweep.matrix.statistics import smallest_effect

    others = [cell.trials for cell in plan.cells if cell.name != plan.baseline]
    if not others:
        return
    baseline = next((cell.trials for cell in plan.cells if cell.name == plan.baseline), 0)
    # Where cells differ in their number of trials, each number has sentences of its own.
    for trials in dict.fromkeys(others):
        about = f"with {count_of(baseline, 'trial')} of the baseline and {trials} of a cell, "
        if trials == baseline:
            about = f"with {count_of(trials, 'trial')} a cell, "
        worse = smallest_effect(baseline, trials, len(others))
        better = smallest_effect(trials, baseline, len(others))
        if worse is None and better is None:
            yield f"{about}no difference can be told from chance: raise the number of trials"
            continue
        if better is not None:
            yield (
                f"{about}a cell that never fails is told from a baseline that fails in at least {better:.0%} "
                "of its trials"
            )
        if worse is not None:
            yield (
                f"{about}a baseline that never fails is told from a cell that fails in at least {worse:.0%} "
                "of its trials"
            )
