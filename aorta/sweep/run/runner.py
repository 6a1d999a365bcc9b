"""``Runner``: executes the trials of a plan one after another, and leaves each on disk before the next."""

import contextlib
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from aorta.instrumentation.process import raise_if_stopped
from aorta.model.frozen import frozen
from aorta.sweep.matrix.matrix import Matrix
from aorta.sweep.matrix.run_facts import COMPLETE, INTERRUPTED, RUNNING, STOPPED, State
from aorta.sweep.outcome import FAIL, RAISED, RETURNED, VANISHED
from aorta.sweep.planning.overlay import environ_under, overlay_of
from aorta.sweep.planning.plan import Plan, PlannedCell, sequence
from aorta.sweep.run.captures import Captures
from aorta.sweep.run.executor import Executor
from aorta.sweep.run.late import late_text
from aorta.sweep.run.record import Trial, artifacts_of, summary_of, text_of
from aorta.sweep.run.store import MATRIX_JSON, MATRIX_MD, RunDirectory, write
from aorta.sweep.run.team import Nodes, OneNode
from aorta.sweep.spec import TrialSpec
from aorta.sweep.summary import TrialSummary
from aorta.sweep.variables import ARTIFACTS, CELL, RUN, TRIAL

#: A run that took this many times what a look at the host takes ends with another one.
LOOK_AGAIN = 20.0


class Listener(Protocol):
    """Who is told how a run goes."""

    def starts(self, plan: Plan, recorded: Sequence[TrialSummary]) -> None:
        """Hear what is run, and which trials of it are on disk already."""

    def begins(self, cell: PlannedCell, trial: int) -> None:
        """Hear that a trial begins."""

    def ended(self, summary: TrialSummary) -> None:
        """Hear how it ended."""

    def warns(self, text: str) -> None:
        """Hear what may be wrong with what the run finds."""


@frozen
class Place:
    """What a cell's trials have in common: the variables that are changed, and all that they get."""

    overlay: Mapping[str, str | None]
    environ: Mapping[str, str]


class Runner:
    """One run. ``recorded`` are the trials that are on disk already: they do not run again.

    ``base`` is the environment that trials start from, ``run_id`` names the run to its trials. A run that
    takes longer than ``patience_s`` looks at the hosts again at its end. A lost rank ends the run, unless
    ``after_crash`` and its aorta is there for another trial.
    """

    def __init__(
        self,
        plan: Plan,
        run: RunDirectory,
        captures: Captures,
        executor: Executor,
        matrix: Matrix,
        *,
        base: Mapping[str, str],
        run_id: str,
        recorded: Sequence[TrialSummary] = (),
        listener: Listener | None = None,
        patience_s: float = math.inf,
        nodes: Nodes | None = None,
        after_crash: bool = False,
    ) -> None:
        self._nodes = nodes or OneNode()
        self._after_crash = after_crash
        self._lost: str | None = None
        self._told_of_late = False
        self._plan = plan
        self._patience_s = patience_s
        self._began = time.monotonic()
        self._run = run
        self._captures = captures
        self._executor = executor
        self._matrix = matrix
        self._base = base
        self._run_id = run_id
        self._recorded = {(each.cell, each.trial): each for each in recorded}
        self._listener = listener
        self._places: dict[str, Place] = {}
        self._described: set[str] = set()
        self._events: Counter[str] = Counter()
        self._under_way: tuple[str, int] | None = None

    def go(self) -> State:
        """Run what is missing, and return how the run ended; the matrix on disk says the same.

        Raises what stopped it (a signal, a full disk) after the matrix was written as far as it goes.
        """
        self._matrix.restore(self._recorded.values())
        for summary in self._recorded.values():
            self._count(summary)
        try:
            state = self._trials()
            self._look_again()
        except BaseException as error:
            cell, trial = self._under_way or (None, None)
            why, lost = self._lost or _why(error), self._lost is not None
            with contextlib.suppress(OSError):
                self._write(State(word=INTERRUPTED, why=why, cell=cell, trial=trial, at=now(), lost=lost))
            raise
        self._write(state)
        return state

    def _trials(self) -> State:
        self._write(State(word=RUNNING, at=now()))
        for cell, trial in sequence(self._plan):
            if (cell.name, trial) in self._recorded or self._is_over(cell):
                continue
            self._under_way = (cell.name, trial)
            summary = self._trial(cell, trial)
            self._under_way = None
            self._matrix.add(summary)
            self._count(summary)
            if self._listener is not None:
                self._listener.ended(summary)
            # A signal came in the trial, whose end was known all the same.
            raise_if_stopped()
            if self._lost is not None:
                return State(word=STOPPED, why=self._lost, at=now(), lost=True)
            if self._plan.recipe.fail_fast and summary.verdict == FAIL:
                return State(word=STOPPED, why=f"fail_fast: trial {trial} of {cell.name} failed", at=now())
            self._write(State(word=RUNNING, at=now()))
        return State(word=COMPLETE, at=now())

    def _look_again(self) -> None:
        """Warn when a host is another than at the beginning: trials took over what was so then."""
        if time.monotonic() - self._began >= self._patience_s:
            for warning in self._nodes.look_again(self._run, self._captures):
                self._matrix.warn(warning)

    def _is_over(self, cell: PlannedCell) -> bool:
        """Tell whether a cell had all the events that it waits for."""
        rule = cell.stop_after
        return rule is not None and self._events[cell.name] >= rule.events

    def _count(self, summary: TrialSummary) -> None:
        rule = self._plan.recipe.stop_after
        if rule is not None and summary.verdict == rule.event_verdict:
            self._events[summary.cell] += 1

    def _trial(self, cell: PlannedCell, trial: int) -> TrialSummary:
        if self._listener is not None:
            self._listener.begins(cell, trial)
        place = self._place(cell)
        taken = self._captures.trial(cell.environment, place.environ)
        files = self._run.files(cell.name, trial)
        told = {CELL: cell.name, TRIAL: str(trial), RUN: self._run_id, ARTIFACTS: files.folder}
        started = now()
        outcome = self._executor.execute(
            TrialSpec(
                cell=cell,
                trial=trial,
                files=files,
                environ={**place.environ, **told},
                overlay=place.overlay,
            )
        )
        ended = Trial(
            cell=cell.name,
            trial=trial,
            started_at=started,
            overlay=place.overlay,
            outcome=outcome,
            taken=taken,
            artifacts=artifacts_of(files, self._run.path, len(outcome.ranks)),
        )
        write(files.record, text_of(ended))
        self._note_loss(ended)
        self._note_late(cell, outcome.env_late)
        return summary_of(ended, self._run.relative(files.record))

    def _note_late(self, cell: PlannedCell, names: Sequence[str]) -> None:
        """Warn of variables that came too late: of each cell in the matrix, once where the run is shown."""
        if not names:
            return
        text = late_text(cell.name, names)
        self._matrix.warn(text)
        if self._listener is not None and not self._told_of_late:
            self._listener.warns(text)
        self._told_of_late = True

    def _note_loss(self, trial: Trial) -> None:
        lost = trial.outcome.lost
        if lost is not None and (self._after_crash or _is_result(lost)):
            # Without its aorta a rank has no further trial; the one that was the cause need not be it.
            lost = next((one for one in (lost, *trial.outcome.ranks) if one["end"] == VANISHED), None)
        if lost is None:
            return
        where = f"rank {lost['rank']} on {lost['node']} was lost in trial {trial.trial} of {trial.cell}"
        self._lost = f"{where}: {lost['reason']}"

    def _place(self, cell: PlannedCell) -> Place:
        if cell.name not in self._places:
            overlay = overlay_of(cell.layers, self._base)
            self._places[cell.name] = Place(overlay=overlay, environ=environ_under(overlay, self._base))
            self._describe(cell)
        return self._places[cell.name]

    def _describe(self, cell: PlannedCell) -> None:
        """Leave the snapshot of a cell's environment, once each."""
        name = cell.environment.name
        if name not in self._described:
            self._described.add(name)
            for warning in self._nodes.describe(self._run, cell, self._captures):
                self._matrix.warn(warning)

    def _write(self, state: State) -> None:
        passing = state.word == RUNNING
        self._run.write(MATRIX_JSON, self._matrix.json_text(state), passing=passing)
        self._run.write(MATRIX_MD, self._matrix.markdown(state), passing=passing)


def _is_result(lost: Mapping[str, Any]) -> bool:
    """Tell whether a rank did not vanish but found a failure: that is what a trial is for."""
    return bool(lost["verdict"] == FAIL and lost["end"] in (RAISED, RETURNED))


def now() -> str:
    """Return the time in UTC, as it is written."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _why(error: BaseException) -> str:
    return " ".join(f"{error}".split()) or type(error).__name__
