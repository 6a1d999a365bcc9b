"""How a sweep goes, on standard error: a bar with the time left on a terminal, plain lines elsewhere."""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aorta.instrumentation.process import say
from aorta.model.text import count_of
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import INTERLEAVED
from aorta.sweep.summary import TrialSummary

if TYPE_CHECKING:
    from rich.progress import Progress

_PAST = {"pass": "passed", "fail": "FAILED", "error": "ERROR"}


class Lines:
    """Tells of each cell when its last trial has ended; ``verbose`` of each trial."""

    def __init__(self, plan: Plan, recorded: Sequence[TrialSummary], *, verbose: bool) -> None:
        self._verbose = verbose
        self._all = sum(cell.trials for cell in plan.cells)
        self._done = len(recorded)
        self._place = {cell.name: number for number, cell in enumerate(plan.cells, 1)}
        self._counts: dict[str, Counter[str]] = {cell.name: Counter() for cell in plan.cells}
        self._before = Counter(summary.cell for summary in recorded)
        self._changed: set[str] = set()
        for summary in recorded:
            self._counts[summary.cell][summary.verdict] += 1
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
        self._counts[summary.cell][summary.verdict] += 1
        self._changed.add(summary.cell)
        if self._verbose:
            why = f": {summary.reason}" if summary.reason else ""
            place = f"cell {self._place[summary.cell]}/{len(self._place)} {summary.cell}"
            told = f"{_PAST[summary.verdict]} in {summary.elapsed_s:.3g} s"
            self._say(f"{self._done}/{self._all} {place}: trial {summary.trial} {told}{why}")

    def warns(self, text: str) -> None:
        """Tell of what may be wrong."""
        say(f"aorta: warning: {text}")

    def close(self) -> None:
        """Tell of the cells that were not told of yet, but for those that had nothing to run."""
        for cell in self._counts:
            self._cell_ended(cell)

    def _cell_ended(self, cell: str | None) -> None:
        if cell in self._changed and cell is not None:
            before = f" ({self._before[cell]} of them there already)" if self._before[cell] else ""
            place = f"cell {self._place[cell]}/{len(self._place)} {cell}"
            say(f"aorta: {place}: {_told(self._counts[cell])}{before}")
            self._changed.discard(cell)

    @staticmethod
    def _say(text: str) -> None:
        say(f"[{time.strftime('%H:%M:%S')}] {text}")


class Bar:
    """A bar on a terminal: trials done, the cell at work, the counts, the time left."""

    def __init__(self, plan: Plan, recorded: Sequence[TrialSummary]) -> None:
        self._counts = Counter(summary.verdict for summary in recorded)
        self._progress = self._made()
        self._task = self._progress.add_task(
            "starting",
            total=sum(cell.trials for cell in plan.cells),
            completed=len(recorded),
            counts=_after_bar(self._counts),
        )
        self._progress.start()

    def begins(self, cell: PlannedCell, trial: int) -> None:
        """Show what is at work."""
        self._progress.update(self._task, description=f"{cell.name} trial {trial}")

    def ended(self, summary: TrialSummary) -> None:
        """Count a trial."""
        self._counts[summary.verdict] += 1
        self._progress.update(self._task, advance=1, counts=_after_bar(self._counts))

    def warns(self, text: str) -> None:
        """Tell of what may be wrong, above the bar."""
        self._progress.console.print(f"aorta: warning: {text}", markup=False, highlight=False)

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

    def __init__(self, *, verbose: bool, ranks: int = 1) -> None:
        self._verbose = verbose
        self._ranks = ranks
        self._shown: Lines | Bar | None = None

    def starts(self, plan: Plan, recorded: Sequence[TrialSummary]) -> None:
        """Begin to show a run."""
        say(f"aorta: {announcement(plan, len(recorded), self._ranks)}")
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

    def warns(self, text: str) -> None:
        """Tell of what may be wrong."""
        if self._shown is not None:
            self._shown.warns(text)

    def close(self) -> None:
        """Show no more."""
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.close()


def announcement(plan: Plan, recorded: int, ranks: int = 1) -> str:
    """Return the line that a run begins with."""
    cells, trials = len(plan.cells), sum(cell.trials for cell in plan.cells)
    most = " at most" if any(cell.stop_after for cell in plan.cells) else ""
    there = f", {recorded} of them there already" if recorded else ""
    several = f" on {ranks} ranks" if ranks > 1 else ""
    return f"{plan.workload}: {count_of(cells, 'cell')}, {count_of(trials, 'trial')}{most}{several}{there}"


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in _PAST.items() if counts.get(verdict))


def _after_bar(counts: Mapping[str, int]) -> str:
    """Return the counts of the whole run, apart from the trial that stands before them."""
    return f"| so far {_told(counts)}" if counts else ""
