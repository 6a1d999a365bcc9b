"""Trials that were under way when aorta ended: what they left is kept, and that they were cut off is told."""

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from aorta.sweep.matrix.run_facts import INTERRUPTED, RUNNING
from aorta.sweep.planning.plan import Plan
from aorta.sweep.run.store import RunDirectory
from aorta.sweep.summary import TrialSummary

_LOG = re.compile(r"(trial_([0-9]+))\.((?:rank[0-9]+\.)?(?:stdout|stderr|stacks)\.log)")
#: What is to be said of a trial that has logs and no record, by how far its run was.
_HOW = {
    RUNNING: "was under way when aorta was killed",
    INTERRUPTED: "was under way when aorta was ended",
}


def set_aside(
    run: RunDirectory, plan: Plan, matrix: Mapping[str, Any], recorded: Iterable[TrialSummary]
) -> list[str]:
    """Keep the logs of trials without a record under other names, for they run again; return a line for each.

    ``matrix`` is the run's as it was left.
    """
    known = {(each.cell, each.trial) for each in recorded}
    how = _HOW.get(matrix["state"], "has no record any more")
    lines = []
    for cell in plan.cells:
        folder = os.path.dirname(run.files(cell.name, 0).stem)
        for stem, trial, names in _logs_in(folder):
            # A record that cannot be read is told by itself.
            if (cell.name, trial) not in known and not os.path.exists(run.files(cell.name, trial).record):
                kept = _kept(folder, stem, names)
                where = f"; its logs are kept as {run.relative(kept)}.*" if kept else ""
                lines.append(f"trial {trial} of {cell.name} {how}, and is run again{where}")
    return lines


def _logs_in(folder: str) -> list[tuple[str, int, list[str]]]:
    """Return trials that have logs: the beginning of their names, the number, and the rest of the names."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found: dict[tuple[str, int], list[str]] = {}
    for name in sorted(names):
        if match := _LOG.fullmatch(name):
            found.setdefault((match[1], int(match[2])), []).append(match[3])
    return [(stem, trial, rest) for (stem, trial), rest in found.items()]


def _kept(folder: str, stem: str, names: Iterable[str]) -> str | None:
    """Rename the logs that have something in them, and return the beginning of their new names."""
    number = 1
    while any(name.startswith(f"{stem}.cut-{number}.") for name in os.listdir(folder)):
        number += 1
    kept = os.path.join(folder, f"{stem}.cut-{number}")
    some = False
    for name in names:
        path = os.path.join(folder, f"{stem}.{name}")
        with contextlib.suppress(OSError):
            if os.stat(path).st_size:
                os.rename(path, f"{kept}.{name}")
                some = True
    return kept if some else None
