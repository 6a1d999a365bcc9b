"""``Matrix``: the document of a run, made anew after every trial at little cost."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from aorta.model.redact import redact_argv
from aorta.sweep.matrix import cells
from aorta.sweep.matrix.compare import Comparison, Pace, compared, paced
from aorta.sweep.matrix.markdown import Page
from aorta.sweep.matrix.ranks import FITS, other_topology
from aorta.sweep.matrix.run_facts import COMPLETE, RunFacts, State
from aorta.sweep.matrix.schema import SCHEMA_VERSION
from aorta.sweep.matrix.statistics import ALPHA, DIRECTIONS
from aorta.sweep.matrix.tally import Tally
from aorta.sweep.outcome import ERROR, FAIL, PASS
from aorta.sweep.planning.overlay import overlay_of
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.summary import TrialSummary

#: What a trial of several ranks has beside.
_OF_RANKS = ("rank", "node", "stderr", "log")


class Matrix:
    """What a run has found so far.

    ``add`` takes each trial once. What it does not change of the document is kept as text, so that making
    the files again costs as much as a cell, not as a run. ``environ`` is what overlays are laid on.
    """

    def __init__(self, plan: Plan, run: RunFacts, environ: Mapping[str, str] | None = None) -> None:
        base = os.environ if environ is None else environ
        self._plan = plan
        self._cells = {cell.name: _Cell(cell, base, plan.recipe.warmup_steps) for cell in plan.cells}
        self._facts = _facts(plan, run)
        self._folder = run.folder
        self._facts_text = _members(self._facts)
        self._warnings = list(dict.fromkeys(run.warnings))
        self._page = Page()
        self._is_stale = True

    def add(self, summary: TrialSummary) -> None:
        """Count a trial. Raises KeyError for a cell that is not planned, ValueError for a trial twice."""
        cell = self._cells[summary.cell]
        cell.add(summary, self._folder)
        self._is_stale = True
        if summary.metrics.get(FITS) is False:
            self.warn(other_topology(cell.planned, summary.metrics))

    def restore(self, summaries: Iterable[TrialSummary]) -> None:
        """Count the trials of a run that is gone on with."""
        for summary in summaries:
            self.add(summary)

    def warn(self, text: str) -> None:
        """Note a warning of the whole run, once."""
        if text not in self._warnings:
            self._warnings.append(text)

    def json_text(self, state: State) -> str:
        """Return matrix.json."""
        self._refresh()
        parts = (_members(self._head(state)), self._facts_text)
        listed = ",".join(cell.text for cell in self._cells.values())
        return f'{{{",".join(parts)},\n "cells": [{listed}\n ]\n}}\n'

    def markdown(self, state: State) -> str:
        """Return matrix.md."""
        self._refresh()
        head = {**self._head(state), **self._facts}
        return self._page.text(head, [cell.document for cell in self._cells.values()])

    def document(self, state: State) -> dict[str, Any]:
        """Return matrix.json as JSON values."""
        document: dict[str, Any] = json.loads(self.json_text(state))
        return document

    def _head(self, state: State) -> dict[str, Any]:
        """Return what changes while the run goes on."""
        tallies = [cell.tally for cell in self._cells.values()]
        counts = {word: sum(tally.verdicts[word] for tally in tallies) for word in (PASS, FAIL, ERROR)}
        return {
            "schema_version": SCHEMA_VERSION,
            "state": state.word,
            "complete": state.word == COMPLETE,
            "why": state.why,
            "lost_rank": state.lost,
            "in_flight": None if state.cell is None else {"cell": state.cell, "trial": state.trial},
            "updated_at": state.at,
            "totals": {
                "planned": sum(cell.planned["trials"] for cell in self._cells.values()),
                "done": sum(counts.values()),
                "passed": counts[PASS],
                "failed": counts[FAIL],
                "errors": counts[ERROR],
            },
            "warnings": self._warnings,
        }

    def _refresh(self) -> None:
        if not self._is_stale:
            return
        baseline, threshold = self._plan.baseline, self._plan.recipe.confound.threshold
        tallies = {name: cell.tally for name, cell in self._cells.items()}
        base = None if baseline is None else tallies.get(baseline)
        for name, comparison in compared(tallies, baseline).items():
            pace = paced(name, tallies[name], baseline, base, threshold)
            self._cells[name].refresh(comparison, pace)
        self._is_stale = False


class _Cell:
    """A cell with its texts. ``document`` is without the list of trials, which ``text`` has."""

    def __init__(self, cell: PlannedCell, environ: Mapping[str, str], warmup_steps: int) -> None:
        overlay = overlay_of(cell.layers, environ) if cell.layers else {}
        self.planned = cells.planned(cell, overlay)
        self.tally = Tally(warmup_steps)
        self.document: dict[str, Any] = {}
        self.text = ""
        self._planned_text = _members(self.planned, 3)
        self._trials: dict[int, tuple[str, str]] = {}
        self._trials_text = ""
        self._first: dict[str, dict[str, Any]] = {}
        self._seen: tuple[int, Comparison, Pace] | None = None

    def add(self, summary: TrialSummary, folder: str | None) -> None:
        if summary.trial in self._trials:
            raise ValueError(f"trial {summary.trial} of cell {summary.cell} is there already")
        self.tally.add(summary)
        made = cells.trial(summary, folder)
        self._trials[summary.trial] = (_encoded(summary.path), _encoded(made))
        first = self._first.get(summary.verdict)
        if first is None or summary.trial < first["trial"]:
            kept = {name: made.get(name) for name in ("trial", "path", "reason")}
            kept |= {name: made[name] for name in _OF_RANKS if name in made}
            self._first[summary.verdict] = kept

    def refresh(self, comparison: Comparison, pace: Pace) -> None:
        """Make the document and the text again if anything that stands in them has changed."""
        seen = (len(self._trials), comparison, pace)
        if seen == self._seen:
            return
        if self._seen is None or self._seen[0] != seen[0]:
            listed = [self._trials[number] for number in sorted(self._trials)]
            paths, results = (_lines([pair[which] for pair in listed]) for which in (0, 1))
            self._trials_text = f'\n   "trial_paths": {paths},\n   "trial_results": {results}'
        counted = {
            **cells.counted(self.tally, comparison, pace),
            "first_failure": self._first.get(FAIL),
            "first_error": self._first.get(ERROR),
        }
        self.document = {**self.planned, **counted}
        self.text = f"\n  {{{self._planned_text},{_members(counted, 3)},{self._trials_text}\n  }}"
        self._seen = seen


def _facts(plan: Plan, run: RunFacts) -> dict[str, Any]:
    """Return what stays as it is."""
    recipe = plan.recipe
    others = 0 if plan.baseline is None else len(plan.cells) - 1
    return {
        "run_id": run.run_id,
        "run_timestamp": run.started_at,
        "resumed_at": list(run.resumed_at),
        "workload": plan.workload,
        "mode": recipe.mode,
        "trial_isolation": plan.isolation,
        "order": recipe.order,
        "ticket": recipe.ticket,
        "trials_per_cell": max((cell.trials for cell in plan.cells), default=0),
        "steps_per_trial": max((cell.steps for cell in plan.cells), default=0),
        "warmup_steps": recipe.warmup_steps,
        "baseline_cell": plan.baseline,
        "confound": {
            "threshold": recipe.confound.threshold,
            "baseline_cell_configured": recipe.confound.baseline_cell,
        },
        "significance": {"alpha": ALPHA, "hypotheses": DIRECTIONS * others},
        "stop_after": cells.stop_after(recipe.stop_after),
        "recipe_source": {
            "path": recipe.source,
            "sha256": recipe.sha256,
            "fingerprint": run.fingerprint,
        },
        "runtime_provenance": {"package_version": run.version, "git_sha": run.revision},
        "command": list(redact_argv(recipe.command)),
        "argv": list(redact_argv(run.argv)),
        "node": run.node,
        "cwd": run.cwd,
        "host_digest": run.host_digest,
        "launcher": run.launcher,
        "starts": dict(run.starts),
        "world_size": sum(len(node.ranks) for node in run.nodes) or 1,
        "nodes": [
            {"node": node.node, "ranks": list(node.ranks), "host_digest": node.host_digest}
            for node in run.nodes
        ],
    }


#: Strict: what is no JSON number raises ValueError.
_encoded = json.JSONEncoder(allow_nan=False).encode


def _members(values: Mapping[str, Any], depth: int = 1) -> str:
    """Return the members of an object, one a line."""
    indent = " " * depth
    return ",".join(f"\n{indent}{_encoded(name)}: {_encoded(value)}" for name, value in values.items())


def _lines(texts: list[str]) -> str:
    """Return a list, one member a line."""
    joined = ",\n    ".join(texts)
    return f"[\n    {joined}\n   ]" if texts else "[]"
