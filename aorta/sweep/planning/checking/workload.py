"""Whether the workload takes its config, and whether this job is one that it can run in."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from aorta.launch.identity import identity_of
from aorta.launch.ports import MEETING, PORT_BASE, PORTS, meeting_ports, told_base
from aorta.launch.tasks import LaunchError, tasks_of
from aorta.model.text import printable
from aorta.sweep.planning.checking.problem import ERROR, HERE, Problem, error, of_cells
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import COMMAND

if TYPE_CHECKING:
    from aorta.workloads.protocol import Workload


def check_config(plan: Plan, workload: "type[Workload] | None") -> Iterator[Problem]:
    """Yield what of each cell's ``workload_config`` the workload does not take."""
    if workload is None:
        if plan.workload == COMMAND and any(cell.workload_config for cell in plan.cells):
            yield error("workload_config: a command takes none; give it options in its own words")
        return

    def told(cell: PlannedCell) -> Iterator[tuple[str, str]]:
        from aorta.workloads.config import ConfigError, make_config

        try:
            make_config(workload, cell.workload_config, cell.steps)
        except ConfigError as problem:
            yield from ((ERROR, text) for text in problem.problems)
        else:
            yield from ((ERROR, text) for text in _not_json(cell.workload_config, "workload_config"))

    yield from of_cells(plan.cells, told, all_named=False)


def _not_json(value: object, place: str) -> Iterator[str]:
    """Yield the places of values that a process of its own could not be told."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _not_json(one, f"{place}.{printable(str(name))}")
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from _not_json(one, f"{place}[{number}]")
    elif isinstance(value, float):
        if value - value != 0:
            yield f"{place}: {value} is no number that JSON has"
    elif value is not None and not isinstance(value, (bool, int, str)):
        yield f"{place}: {type(value).__name__} is no value that JSON has; write it as a text"


def check_launch(
    plan: Plan, environ: Mapping[str, str], workload: "type[Workload] | None"
) -> Iterator[Problem]:
    """Yield what is wrong with the size of the job, and with the ports that it meets at.

    That there are too few ranks is so here: the plan may be in order.
    """
    from aorta.workloads.protocol import SINGLE_PROCESS

    base = None
    try:
        base = told_base(environ)
    except LaunchError as wrong:
        yield error(str(wrong))
    try:
        if workload is None or workload.launch_mode == SINGLE_PROCESS:
            if (size := tasks_of(environ).size) > 1:
                yield from _single(plan, size, workload)
            return
        identity = identity_of(environ)
        if not identity.alone and (base is not None or PORT_BASE not in environ):
            meeting_ports(environ, identity)
    except LaunchError as wrong:
        yield error(str(wrong))
        return
    if identity.size < workload.min_world_size:
        yield _too_few(plan, identity.size, workload.min_world_size)
    elif not identity.alone and base is not None:
        yield from _enough_ports(plan, base)


def _single(plan: Plan, size: int, workload: "type[Workload] | None") -> Iterator[Problem]:
    if plan.workload == COMMAND:
        yield error(
            f"this is one of {size} tasks, but a command is started by one aorta: run aorta once, and put"
            " the launcher behind --, as in -- torchrun --nproc-per-node=8 train.py"
        )
    elif workload is not None:
        yield error(
            f"this is one of {size} tasks, but workload {plan.workload} is for a single process: start"
            " aorta without a launcher"
        )


def _too_few(plan: Plan, size: int, least: int) -> Problem:
    text = (
        f"workload {plan.workload} needs {least} ranks or more, and there is {size}: start aorta on each, as"
        f" in torchrun --standalone --nproc-per-node={least} -m aorta sweep run …, or"
        f" srun --ntasks={least} aorta sweep run …"
    )
    return Problem(severity=HERE, text=text)


def _enough_ports(plan: Plan, base: int) -> Iterator[Problem]:
    trials = sum(cell.trials for cell in plan.cells)
    if trials > PORTS - MEETING:
        yield error(
            f"{trials} trials of several ranks are planned, and {PORT_BASE}={base} has {PORTS - MEETING}"
            f" ports for them ({MEETING} of its {PORTS} are for the ranks to meet), each of which is used"
            " once: leave the variable out, or run fewer trials"
        )
