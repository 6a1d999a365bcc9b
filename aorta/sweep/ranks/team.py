"""``Team``: all ranks of a job, as rank 0 has them; and how another rank joins it."""

import contextlib
from collections.abc import Callable, Mapping, Sequence

from aorta.launch.identity import Identity
from aorta.launch.tasks import starts_of_all
from aorta.sweep.planning.plan import Plan
from aorta.sweep.ranks.executor import RanksExecutor
from aorta.sweep.ranks.hello import Hello, placed, same_places
from aorta.sweep.ranks.meeting import follow, lead
from aorta.sweep.ranks.messages import END
from aorta.sweep.ranks.nodes import SeveralNodes
from aorta.sweep.ranks.own import OwnRank
from aorta.sweep.ranks.ports import TrialPorts
from aorta.sweep.ranks.serving import serve
from aorta.sweep.run.team import Nodes


class Team:
    """The ranks. They wait for what ``end`` says. Raises RefusedError when they cannot run together.

    ``join_s`` is how long they wait for each other, in seconds.
    """

    def __init__(
        self,
        plan: Plan,
        identity: Identity,
        environ: Mapping[str, str],
        own: Hello,
        join_s: float,
    ) -> None:
        self._plan = plan
        self._identity = identity
        self._leader = lead(identity, environ, own, join_s)
        self._ports = TrialPorts(environ, identity)
        self._places = placed([own, *(member.hello for member in self._leader.members.values())])
        self.nodes: Nodes = SeveralNodes(self._leader, self._places)
        self.launcher: str | None = identity.launcher
        self.size = identity.size
        self.starts: Mapping[str, int] = starts_of_all(
            place.starts for place in self._places if place.local_rank == 0
        )
        self.warnings: Sequence[str] = tuple(same_places(self._places))
        self._leader.welcome(self._places)

    def executor(self, relative: Callable[[str], str]) -> RanksExecutor:
        """Return what runs trials on all ranks; ``relative`` makes paths relative to the run."""
        own = OwnRank(self._plan, self._identity, self._places[0])
        return RanksExecutor(self._plan, self._leader, own, self._places, self._ports, relative)

    def end(self, code: int) -> None:
        """Let all other ranks end with an exit status."""
        self._leader.tell_all(END, code=code)
        self._leader.close()


def join(plan: Plan, identity: Identity, environ: Mapping[str, str], own: Hello, join_s: float) -> int:
    """Be another rank of a team until its end, and return its exit status.

    Raises RefusedError, LostLeaderError when rank 0 is gone, and what a signal raises.
    """
    follower, place = follow(identity, environ, own, join_s)
    try:
        with contextlib.closing(OwnRank(plan, identity, place)) as rank:
            return serve(plan, follower, rank, environ)
    finally:
        follower.close()
