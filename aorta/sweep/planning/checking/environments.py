"""Environments that nothing here starts, or that do not work.

A label must never stand on what ran in another place.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from aorta.model.text import printable
from aorta.sweep.definitions.registry import CONTAINER, VENV, Environment
from aorta.sweep.planning.checking.problem import Problem, error
from aorta.sweep.planning.overlay import environ_under, overlay_of
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import COMMAND

if TYPE_CHECKING:
    from subprocess import Popen

    from aorta.workloads.protocol import Workload

#: Seconds in which the interpreter of a virtual environment must start.
LIMIT_S = 10.0

#: Fields that nothing here acts on, and what to do in their place.
_NOT_STARTED = (
    ("buck_target", "put buck2 run {value} into your own command, behind --"),
    ("emulator", "start the emulator in your own command, behind --"),
    ("mirage_profile", "start the emulator with this profile in your own command, behind --"),
)


def check_environments(
    plan: Plan, environ: Mapping[str, str], workload: "type[Workload] | None"
) -> Iterator[Problem]:
    """Yield the environments that cells would not really run in; virtual ones are tried."""
    users: dict[str, list[PlannedCell]] = {}
    for cell in plan.cells:
        users.setdefault(cell.environment.name, []).append(cell)
    for cells in users.values():
        environment = cells[0].environment
        names = [cell.name for cell in cells]
        for text in _not_started(plan, environment, workload):
            yield error(f"environment {environment.name}: {text}", *names)
        if environment.boundary == VENV:
            fault = _broken(cells[0], environ)
            if fault is not None:
                yield error(f"environment {environment.name}: {fault}", *names)


def _not_started(plan: Plan, environment: Environment, workload: "type[Workload] | None") -> Iterator[str]:
    launches = workload is not None and workload.launches_container
    if environment.boundary == CONTAINER and not launches:
        image = printable(environment.docker or "")
        if plan.workload == COMMAND:
            yield (
                f"nothing here starts the container {image}: give the cell the environment local, and put "
                f"docker run … {image} in front of your own command, behind --"
            )
        else:
            yield (
                f"workload {plan.workload} does not start the container {image}: start aorta inside the "
                "container with the environment local, or take a workload that does (launches_container)"
            )
    for field, instead in _NOT_STARTED:
        value = getattr(environment, field)
        if value is not None:
            shown = printable(value)
            yield f"nothing here acts on {field} {shown}: {instead.format(value=shown)}"


def _broken(cell: PlannedCell, environ: Mapping[str, str]) -> str | None:
    """Return what is wrong with a virtual environment's interpreter, under the cell's variables."""
    import subprocess
    import tempfile

    folder, python = cell.environment.folder or "", cell.environment.python or ""
    if not os.path.lexists(python):
        return f"{printable(folder)} is no virtual environment: it has no bin/python"
    variables = environ_under(overlay_of(cell.layers, environ), environ)
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                [python, "-c", ""],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )
        except OSError as problem:
            return f"{printable(python)} cannot be started: {problem.strerror}"
        with _ended(process):
            try:
                status = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                return f"{printable(python)} did not start within {LIMIT_S:g} s"
        if status == 0:
            return None
        said.seek(0)
        last = said.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    ended = f"status {status}" if status > 0 else f"signal {-status}"
    return f"{printable(python)} does not work: {printable(last)[:300] or f'it ended with {ended}'}"


@contextlib.contextmanager
def _ended(process: "Popen[bytes]") -> Iterator[None]:
    """Kill a process with all that it started in its session, where it has not ended by itself."""
    from aorta.host.slow import kill_group

    try:
        yield
    finally:
        if process.poll() is None:
            kill_group(process.pid)
            process.wait()
