"""What runs the trials of a plan: a command, or a workload."""

import os
from typing import Protocol

from aorta.model.text import printable
from aorta.sweep.command.execute import CommandRunner
from aorta.sweep.outcome import ERROR, Outcome
from aorta.sweep.planning.plan import Plan
from aorta.sweep.recipe.model import COMMAND
from aorta.sweep.spec import TrialSpec


class Executor(Protocol):
    """Runs trials one by one."""

    def execute(self, spec: TrialSpec) -> Outcome:
        """Run one trial and return what became of it; a signal to aorta ends it and is raised again."""

    def close(self) -> None:
        """End what was kept for more trials."""


class CommandExecutor:
    """Runs the command of a recipe, which is the same in all cells."""

    def __init__(self, plan: Plan) -> None:
        self._runner = CommandRunner(plan.recipe, plan.recipe.command)

    def execute(self, spec: TrialSpec) -> Outcome:
        """Run the command once; without its virtual environment it would run in aorta's own."""
        gone = _gone(spec.cell.environment.python)
        if gone is not None:
            return Outcome(verdict=ERROR, reason=gone)
        return self._runner.execute(spec.files, spec.environ, overlay=spec.overlay, steps=spec.cell.steps)

    def close(self) -> None:
        """Do nothing: each trial has ended whole."""


def _gone(python: str | None) -> str | None:
    """Return what is to be said of an interpreter that is not there any more."""
    if python is None:
        return None
    return None if os.access(python, os.X_OK) else f"{printable(python)} is gone or cannot be executed"


def executor_of(plan: Plan) -> Executor:
    """Return what runs a plan's trials."""
    if plan.workload == COMMAND:
        return CommandExecutor(plan)
    from aorta.sweep.workload.trial import WorkloadRunner

    return WorkloadRunner(plan)
