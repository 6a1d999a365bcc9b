"""Whether the modules that a workload needs are there, for the interpreter that runs its trials."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from aorta.model.text import printable
from aorta.sweep.definitions.registry import CONTAINER, VENV
from aorta.sweep.planning.checking.problem import HERE, Problem, of_cells
from aorta.sweep.planning.overlay import environ_under, overlay_of
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import PROCESS

if TYPE_CHECKING:
    from aorta.workloads.protocol import Workload

#: Seconds in which another interpreter must answer.
LIMIT_S = 10.0
_ASK = """
import importlib.util, sys
for name in sys.argv[1:]:
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        print(name)
"""


def check_modules(
    plan: Plan, environ: Mapping[str, str], workload: "type[Workload] | None"
) -> Iterator[Problem]:
    """Yield the modules that cells lack. They are looked for, not imported."""
    if workload is None or not workload.requires:
        return
    names = tuple(dict.fromkeys(workload.requires))
    known: dict[tuple[str, str], list[str]] = {}

    def told(cell: PlannedCell) -> Iterator[tuple[str, str]]:
        place = cell.environment
        if place.boundary == CONTAINER:
            return
        variables = environ_under(overlay_of(cell.layers, environ), environ)
        key = (place.python or "", variables.get("PYTHONPATH", ""))
        if key not in known:
            is_own = place.boundary != VENV
            more = key[1].split(os.pathsep) if is_own and plan.isolation == PROCESS else []
            known[key] = _lacking_here(names, more) if is_own else _lacking_there(names, key[0], variables)
        where = (
            f"environment {place.name}"
            if place.venv
            else f"the interpreter that runs aorta ({printable(sys.executable)})"
        )
        for name in known[key]:
            yield HERE, f"workload {plan.workload} needs the module {name}, which {where} does not have"

    yield from of_cells(plan.cells, told, all_named=False)


def _lacking_here(names: Sequence[str], more: list[str]) -> list[str]:
    """Return the modules that neither this interpreter nor the folders ``more`` have."""
    from importlib.machinery import PathFinder
    from importlib.util import find_spec

    def is_there(name: str) -> bool:
        try:
            return find_spec(name) is not None
        except (ImportError, ValueError):
            return False

    return [
        name
        for name in names
        if not is_there(name)
        and PathFinder.find_spec(name.partition(".")[0], list(filter(None, more))) is None
    ]


def _lacking_there(names: Sequence[str], python: str, environ: Mapping[str, str]) -> list[str]:
    """Return the modules that an interpreter lacks; one that does not work is told of otherwise."""
    import subprocess

    # What aorta is made of comes with it.
    asked = [name for name in names if name.partition(".")[0] not in ("aorta", "attr", "attrs")]
    try:
        done = subprocess.run(
            [python, "-c", _ASK, *asked],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [name for name in done.stdout.split() if name in asked] if done.returncode == 0 else []
