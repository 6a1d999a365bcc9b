"""The ranks of a run and their nodes, as the run sees them. Here there is one rank, in this process."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from aorta.launch.tasks import starts_of
from aorta.sweep.matrix.run_facts import NodeFacts
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.run.captures import Captures, HostChange, described, environment_file
from aorta.sweep.run.executor import Executor, executor_of
from aorta.sweep.run.leftovers import end_leftovers
from aorta.sweep.run.store import HOST_AFTER, HOST_ENV, RunDirectory


class Nodes(Protocol):
    """All nodes of a run; this process's is the first."""

    def ask_for_hosts(self) -> None:
        """Let the other nodes begin with their snapshots."""

    def hosts(self, own_digest: str) -> tuple[NodeFacts, ...]:
        """Return the nodes with the digests of their hosts' snapshots; null where one did not tell it."""

    def describe(self, run: RunDirectory, cell: PlannedCell, captures: Captures) -> Iterable[str]:
        """Leave the snapshots of a cell's environment, and return what sets nodes apart. Raises OSError."""

    def look_again(self, run: RunDirectory, captures: Captures) -> Iterable[str]:
        """Look at the hosts anew: return what is not as it was, leaving snapshots of it. Raises OSError."""

    def end_leftovers(self, run_id: str) -> Sequence[str]:
        """End what an aorta that was killed left of a run; return lines that say so."""


class Team(Protocol):
    """The ranks of a run: how many, on which nodes, and what started them, null for one by itself.

    ``warnings`` are what is odd about them, ``starts`` the jobs that they are of, and how often each
    began again.
    """

    starts: Mapping[str, int]
    launcher: str | None
    size: int
    warnings: Sequence[str]

    @property
    def nodes(self) -> Nodes:
        """Return their nodes."""

    def executor(self, relative: Callable[[str], str]) -> Executor:
        """Return what runs trials on all ranks; ``relative`` makes paths relative to the run."""


class OneNode:
    """The node of this process."""

    def ask_for_hosts(self) -> None:
        """Do nothing: there is no other."""

    def hosts(self, own_digest: str) -> tuple[NodeFacts, ...]:
        """Return this node."""
        return (NodeFacts(node=os.uname().nodename, host_digest=own_digest),)

    def describe(self, run: RunDirectory, cell: PlannedCell, captures: Captures) -> Iterable[str]:
        """Leave the snapshot of a cell's environment."""
        run.write(environment_file(cell.environment, "env.json"), described(captures, cell))
        return ()

    def look_again(self, run: RunDirectory, captures: Captures) -> Iterable[str]:
        """Look at this node's host."""
        if change := captures.host_change():
            yield left_by(run, "the host", change, HOST_ENV, HOST_AFTER)

    def end_leftovers(self, run_id: str) -> Sequence[str]:
        """End what is left here."""
        return end_leftovers(run_id)


def left_by(run: RunDirectory, host: str, change: HostChange, before: str, after: str) -> str:
    """Leave the snapshot ``after`` a change beside the one ``before``, and return the line that says so.

    Raises OSError.
    """
    run.write(after, change.after)
    return (
        f"{host} changed during the run, in {', '.join(change.sections)}: what differs is told by"
        f" aorta env diff {before} {after}"
    )


class OneRank:
    """This process alone."""

    launcher: str | None = None
    size = 1
    warnings: Sequence[str] = ()

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.nodes: Nodes = OneNode()
        self.starts: Mapping[str, int] = starts_of(os.environ)

    def executor(self, _relative: Callable[[str], str]) -> Executor:
        """Return what runs trials here."""
        return executor_of(self._plan)
