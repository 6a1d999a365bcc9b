"""What runs the trials of a plan: a command, or a workload."""

from collections.abc import Mapping
from typing import Protocol

from aorta.sweep.command.execute import CommandRunner
from aorta.sweep.files import TrialFiles
from aorta.sweep.outcome import Outcome
from aorta.sweep.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import COMMAND


class Executor(Protocol):
    """Runs trials one by one."""

    def execute(
        self,
        cell: PlannedCell,
        trial: int,
        files: TrialFiles,
        environ: Mapping[str, str],
        overlay: Mapping[str, str | None],
    ) -> Outcome:
        """Run one trial and return what became of it; a signal to aorta ends it and is raised again."""


class CommandExecutor:
    """Runs the command of a recipe, which is the same in all cells."""

    def __init__(self, plan: Plan) -> None:
        self._runner = CommandRunner(plan.recipe, plan.recipe.command)

    def execute(
        self,
        cell: PlannedCell,
        trial: int,  # noqa: ARG002 - the protocol's signature
        files: TrialFiles,
        environ: Mapping[str, str],
        overlay: Mapping[str, str | None],
    ) -> Outcome:
        """Run the command once."""
        return self._runner.execute(files, environ, overlay=overlay, steps=cell.steps)


def executor_of(plan: Plan) -> Executor:
    """Return what runs a plan's trials."""
    if plan.workload == COMMAND:
        return CommandExecutor(plan)
    from aorta.sweep.workload_trial import WorkloadRunner

    return WorkloadRunner(plan)
