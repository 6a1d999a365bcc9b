"""How a sweep goes, on standard error: a bar with the time left on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aorta.instrumentation.process import say
from aorta.model.text import count_of
from aorta.sweep.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import INTERLEAVED
from aorta.sweep.summary import TrialSummary

if TYPE_CHECKING:
    from rich.progress import Progress

_PAST = {"pass": "passed", "fail": "FAILED", "error": "ERROR"}


class Lines:
    """Tells of each cell when its last trial has ended; ``verbose`` of each trial."""

    def __init__(self, plan: Plan, recorded: int, *, verbose: bool) -> None:
        self._verbose = verbose
        self._all = sum(cell.trials for cell in plan.cells)
        self._done = recorded
        self._place = {cell.name: number for number, cell in enumerate(plan.cells, 1)}
        self._counts: dict[str, dict[str, int]] = {cell.name: {} for cell in plan.cells}
        self._current: str | None = None
        self._interleaved = plan.recipe.order == INTERLEAVED

    def begins(self, cell: PlannedCell, trial: int) -> None:
        """Tell of a cell that ended before this one."""
        if self._current not in (None, cell.name) and not self._interleaved:
            self._cell_ended(self._current)
        self._current = cell.name
        if self._verbose:
            self._say(f"cell {self._place[cell.name]}/{len(self._place)} {cell.name}: trial {trial} begins")

    def ended(self, summary: TrialSummary) -> None:
        """Count a trial, and tell of it."""
        self._done += 1
        counts = self._counts[summary.cell]
        counts[summary.verdict] = counts.get(summary.verdict, 0) + 1
        if self._verbose:
            why = f": {summary.reason}" if summary.reason else ""
            place = f"cell {self._place[summary.cell]}/{len(self._place)} {summary.cell}"
            told = f"{_PAST[summary.verdict]} in {summary.elapsed_s:.3g} s"
            self._say(f"{self._done}/{self._all} {place}: trial {summary.trial} {told}{why}")

    def close(self) -> None:
        """Tell of the cells that were not told of yet."""
        for cell in self._counts:
            self._cell_ended(cell)

    def _cell_ended(self, cell: str | None) -> None:
        if cell is not None and (counts := self._counts[cell]):
            told = ", ".join(f"{number} {_PAST[verdict]}" for verdict, number in _sorted(counts))
            say(f"aorta: cell {self._place[cell]}/{len(self._place)} {cell}: {told}")
            self._counts[cell] = {}

    @staticmethod
    def _say(text: str) -> None:
        say(f"[{time.strftime('%H:%M:%S')}] {text}")


class Bar:
    """A bar on a terminal: trials done, the cell at work, the counts, the time left."""

    def __init__(self, plan: Plan, recorded: int) -> None:
        self._all = sum(cell.trials for cell in plan.cells)
        self._counts: dict[str, int] = {}
        self._progress = self._made()
        self._task = self._progress.add_task("starting", total=self._all, completed=recorded, counts="")
        self._progress.start()

    def begins(self, cell: PlannedCell, trial: int) -> None:
        """Show what is at work."""
        self._progress.update(self._task, description=f"{cell.name} trial {trial}")

    def ended(self, summary: TrialSummary) -> None:
        """Count a trial."""
        self._counts[summary.verdict] = self._counts.get(summary.verdict, 0) + 1
        told = " ".join(f"{number} {_PAST[verdict]}" for verdict, number in _sorted(self._counts))
        self._progress.update(self._task, advance=1, counts=told)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()

    @staticmethod
    def _made() -> "Progress":
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns: tuple[Any, ...] = (
            MofNCompleteColumn(),
            BarColumn(bar_width=24),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[counts]}", markup=False),
        )
        return Progress(*columns, console=Console(stderr=True), transient=True)


class Shown:
    """Tells how a run goes: on a terminal by a bar, with ``verbose`` and elsewhere by lines."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose
        self._shown: Lines | Bar | None = None

    def starts(self, plan: Plan, recorded: int) -> None:
        """Begin to show a run."""
        say(f"aorta: {announcement(plan, recorded)}")
        terminal = sys.stderr is not None and sys.stderr.isatty()
        if terminal and not self._verbose:
            self._shown = Bar(plan, recorded)
        else:
            self._shown = Lines(plan, recorded, verbose=self._verbose)

    def begins(self, cell: PlannedCell, trial: int) -> None:
        """Show what is at work."""
        if self._shown is not None:
            self._shown.begins(cell, trial)

    def ended(self, summary: TrialSummary) -> None:
        """Count a trial."""
        if self._shown is not None:
            self._shown.ended(summary)

    def close(self) -> None:
        """Show no more."""
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.close()


def announcement(plan: Plan, recorded: int) -> str:
    """Return the line that a run begins with."""
    cells, trials = len(plan.cells), sum(cell.trials for cell in plan.cells)
    most = " at most" if any(cell.stop_after for cell in plan.cells) else ""
    there = f", {recorded} of them there already" if recorded else ""
    return f"{plan.workload}: {count_of(cells, 'cell')}, {count_of(trials, 'trial')}{most}{there}"


def _sorted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(verdict, counts[verdict]) for verdict in _PAST if counts.get(verdict)]
