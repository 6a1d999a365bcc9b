"""Whether there is a cell to compare with."""

from collections.abc import Iterator

from aorta.sweep.planning.checking.problem import Problem, warning
from aorta.sweep.planning.plan import Plan


def check_baseline(plan: Plan) -> Iterator[Problem]:
    """Yield a warning where no cell that runs is a baseline."""
    if plan.baseline is None:
        yield warning(
            "none of the cells that run is a baseline, so nothing is compared (--fail-on worse is 1); take"
            " the baseline in with --only, or name a cell in confound.baseline_cell"
        )
