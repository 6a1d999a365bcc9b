"""The nodes of a run: who takes the snapshot of an environment on each. Here there is one."""

from collections.abc import Iterable
from typing import Protocol

from aorta.sweep.planning.plan import PlannedCell
from aorta.sweep.run.captures import Captures, described, environment_file
from aorta.sweep.run.store import RunDirectory


class Nodes(Protocol):
    """All nodes of a run."""

    def describe(self, run: RunDirectory, cell: PlannedCell, captures: Captures) -> Iterable[str]:
        """Leave the snapshots of a cell's environment, and return what sets nodes apart. Raises OSError."""


class OneNode:
    """The node of this process."""

    def describe(self, run: RunDirectory, cell: PlannedCell, captures: Captures) -> Iterable[str]:
        """Leave the snapshot of a cell's environment."""
        run.write(environment_file(cell.environment, "env.json"), described(captures, cell))
        return ()
