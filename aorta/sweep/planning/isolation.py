"""Whether trials run in this process or each in one of its own."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aorta.sweep.definitions.registry import VENV
from aorta.sweep.recipe.model import AUTO, COMMAND, IN_PROCESS, PROBE, PROCESS, Recipe

if TYPE_CHECKING:
    from aorta.sweep.planning.plan import PlannedCell
    from aorta.workloads.protocol import Workload


def isolation_of(recipe: Recipe, cells: "Sequence[PlannedCell]", problems: list[str]) -> str:
    """Return in_process or process; what the workload does not allow goes to ``problems``.

    ``auto`` is the workload's default. A virtual environment has an interpreter of its own, so it makes a
    process of every trial of the sweep: cells are compared only when all are run alike.
    """
    wanted = recipe.trial_isolation
    if recipe.mode == PROBE or recipe.workload == COMMAND:
        if wanted == IN_PROCESS:
            problems.append("trial_isolation in_process: a command is always a process of its own")
        return PROCESS
    from aorta.workloads.discovery import UnknownWorkloadError, find

    try:
        workload = find(recipe.workload)
    except UnknownWorkloadError as error:
        problems.append(str(error))
        return IN_PROCESS
    default = workload.trial_isolation_default
    isolation = default if wanted == AUTO else wanted
    virtual = next((cell for cell in cells if cell.environment.boundary == VENV), None)
    if virtual is not None and isolation != PROCESS:
        reason = f"cell {virtual.name}: environment {virtual.environment.name} has an interpreter of its own"
        if wanted == IN_PROCESS:
            problems.append(f"{reason}, so trial_isolation cannot be in_process")
        elif PROCESS not in workload.trial_isolation_supported or workload.trial_isolation_required:
            problems.append(f"{reason}, and workload {recipe.workload} runs only in aorta's own process")
        return PROCESS
    problems += _not_allowed(recipe.workload, workload, isolation)
    return isolation


def _not_allowed(name: str, workload: "type[Workload]", isolation: str) -> list[str]:
    default, supported = workload.trial_isolation_default, workload.trial_isolation_supported
    if workload.trial_isolation_required and isolation != default:
        return [f"trial_isolation {isolation}: workload {name} requires {default}; leave the key out"]
    if isolation not in {*supported, default}:
        allowed = " or ".join(sorted({*supported, default}))
        both = ", ".join(f'"{word}"' for word in sorted({*supported, default, isolation}))
        wanted = f"trial_isolation_supported = {{{both}}}"
        way_out = f"to allow it, write {wanted} into its class"
        return [f"trial_isolation {isolation}: workload {name} supports {allowed}; {way_out}"]
    return []
