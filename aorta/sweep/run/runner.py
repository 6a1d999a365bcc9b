"""``Runner``: executes the trials of a plan one after another, and leaves each on disk before the next."""

import contextlib
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from aorta.instrumentation.series import Taken
from aorta.model.frozen import frozen
from aorta.sweep.matrix.matrix import Matrix
from aorta.sweep.matrix.run_facts import COMPLETE, INTERRUPTED, RUNNING, STOPPED, State
from aorta.sweep.outcome import FAIL
from aorta.sweep.planning.overlay import environ_under, overlay_of
from aorta.sweep.planning.plan import Plan, PlannedCell, sequence
from aorta.sweep.run.captures import Captures, changed, write_environment, write_host
from aorta.sweep.run.executor import Executor
from aorta.sweep.run.record import Trial, artifacts_in, summary_of, text_of
from aorta.sweep.run.store import HOST_AFTER, HOST_ENV, MATRIX_JSON, MATRIX_MD, RunDirectory, write
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


@frozen
class Place:
    """What a cell's trials have in common: the variables that are changed, and all that they get."""

    overlay: Mapping[str, str | None]
    environ: Mapping[str, str]


class Runner:
    """One run. ``recorded`` are the trials that are on disk already: they do not run again.

    ``base`` is the environment that trials start from, ``run_id`` names the run to its trials. ``host`` is
    what the run began with: one that took longer than ``patience_s`` is compared with it at the end.
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
        host: Taken | None = None,
        patience_s: float = 0.0,
    ) -> None:
        self._plan = plan
        self._host = host
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
            with contextlib.suppress(OSError):
                self._write(State(word=INTERRUPTED, why=_why(error), cell=cell, trial=trial, at=now()))
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
            if self._plan.recipe.fail_fast and summary.verdict == FAIL:
                return State(word=STOPPED, why=f"fail_fast: trial {trial} of {cell.name} failed", at=now())
            self._write(State(word=RUNNING, at=now()))
        return State(word=COMPLETE, at=now())

    def _look_again(self) -> None:
        """Warn when the host is another than at the beginning: trials took over what was so then."""
        if self._host is None or time.monotonic() - self._began < self._patience_s:
            return
        after = self._captures.host_again()
        if names := changed(self._host, after):
            write_host(self._run, after, HOST_AFTER)
            self._matrix.warn(
                f"the host changed during the run, in {', '.join(names)}: what differs is told by"
                f" aorta env diff {HOST_ENV} {HOST_AFTER}"
            )

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
        outcome = self._executor.execute(cell, trial, files, {**place.environ, **told}, place.overlay)
        ended = Trial(
            cell=cell.name,
            trial=trial,
            started_at=started,
            overlay=place.overlay,
            outcome=outcome,
            taken=taken,
            artifacts=artifacts_in(files.folder, self._run.path),
        )
        write(files.record, text_of(ended))
        return summary_of(ended, self._run.relative(files.record))

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
            layers = tuple(layer for layer in cell.layers if layer.source == f"environment {name}")
            write_environment(self._run, cell.environment, self._captures.describe(cell.environment, layers))

    def _write(self, state: State) -> None:
        passing = state.word == RUNNING
        self._run.write(MATRIX_JSON, self._matrix.json_text(state), passing=passing)
        self._run.write(MATRIX_MD, self._matrix.markdown(state), passing=passing)


def now() -> str:
    """Return the time in UTC, as it is written."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _why(error: BaseException) -> str:
    return " ".join(f"{error}".split()) or type(error).__name__
