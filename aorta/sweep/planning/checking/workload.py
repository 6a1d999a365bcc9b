"""Whether the workload takes its config, and whether this job is one that it can run in."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from aorta.model.text import printable
from aorta.sweep.planning.checking.identity import PORT_BASE
from aorta.sweep.planning.checking.problem import ERROR, Problem, error, of_cells
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import COMMAND

if TYPE_CHECKING:
    from aorta.workloads.protocol import Workload

#: How many ports from the base on belong to the trials.
PORTS = 1000


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
    """Yield what is wrong with the size of the job, and with the ports that trials meet at."""
    yield from _port_base(environ.get(PORT_BASE))
    text = environ.get("WORLD_SIZE", "1")
    size = _number(text)
    if size is None or size < 1:
        yield error(f"WORLD_SIZE is {printable(text)!r}, not a whole number from 1")
        return
    if workload is None:
        if plan.workload == COMMAND and size > 1:
            yield error(
                f"WORLD_SIZE is {size}, but a command is started by one aorta: run aorta once, and put the "
                "launcher behind --, as in -- torchrun --nproc-per-node=8 train.py"
            )
        return
    from aorta.workloads.protocol import SINGLE_PROCESS

    least = workload.min_world_size
    if workload.launch_mode == SINGLE_PROCESS and size > 1:
        yield error(
            f"WORLD_SIZE is {size}, but workload {plan.workload} is for a single process: start aorta "
            "without a launcher"
        )
    elif workload.launch_mode != SINGLE_PROCESS and size < least:
        yield error(
            f"WORLD_SIZE is {size}, but workload {plan.workload} needs {least} ranks or more, and in "
            "this version a sweep is one task"
        )


def _number(text: str) -> int | None:
    try:
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
    except ValueError:
        return None


def _port_base(text: str | None) -> Iterator[Problem]:
    if text is None:
        return
    base = _number(text)
    most = 65535 - PORTS + 1
    if base is None or not 1024 <= base <= most:
        yield error(
            f"{PORT_BASE} is {printable(text)!r}, not a number from 1024 to {most}: the {PORTS} ports from "
            "it on are the trials'"
        )
