"""``RanksExecutor``: runs a plan's trials on all ranks; this is what rank 0 does."""

import secrets
from collections.abc import Callable, Sequence

from aorta.instrumentation.process import Stopped
from aorta.launch.tasks import LaunchError
from aorta.model.frozen import evolve
from aorta.sweep.outcome import ERROR, VANISHED, Outcome
from aorta.sweep.planning.plan import Plan
from aorta.sweep.ranks.ends import RankEnd
from aorta.sweep.ranks.hello import Hello
from aorta.sweep.ranks.leader import Leader
from aorta.sweep.ranks.merged import merged, row
from aorta.sweep.ranks.own import OwnRank
from aorta.sweep.ranks.ports import TrialPorts
from aorta.sweep.ranks.round import Round
from aorta.sweep.spec import TrialSpec
from aorta.sweep.variables import RUN
from aorta.workloads.discovery import find


class RanksExecutor:
    """Runs trials. ``places`` are what the ranks agreed on, in their order.

    ``relative`` makes a path one that is relative to the run.
    """

    def __init__(
        self,
        plan: Plan,
        leader: Leader,
        own: OwnRank,
        places: Sequence[Hello],
        ports: TrialPorts,
        relative: Callable[[str], str],
    ) -> None:
        self._relative = relative
        self._leader = leader
        self._own = own
        self._places = places
        self._ports = ports
        self._scope = find(plan.workload).distributed_result_scope
        self._timeout_s = plan.recipe.timeout_s
        self._number = 0
        #: A run that goes on in the same job finds nothing of before under the names of its trials.
        self._mark = secrets.token_hex(4)

    def execute(self, spec: TrialSpec) -> Outcome:
        """Run one trial on all ranks and return what became of it."""
        self._number += 1
        still_s = self._leader.stood_still_s
        try:
            with self._ports.held() as port:
                ends = self._all(spec, port)
        except LaunchError as error:
            return self._without_port(str(error))
        for end in ends:
            if end.outcome.end == VANISHED:
                # Its aorta cannot do so any longer.
                spec.files.of_rank(end.rank).clear()
        outcome = merged(ends, self._scope, lambda rank: self._relative(spec.files.of_rank(rank).stderr))
        if still_s := self._leader.stood_still_s - still_s:
            note = f"{self._places[0].named}: aorta stood still for {still_s:.0f} s, which the times hold"
            outcome = evolve(outcome, notes=(*outcome.notes, note))
        return outcome

    def close(self) -> None:
        """End what this rank's trials left for the next one."""
        self._own.close()

    def _all(self, spec: TrialSpec, port: int) -> list[RankEnd]:
        generation = f"{spec.environ[RUN]}/{self._mark}.{self._number}"
        ranks = Round(self._leader, self._number, self._places, spec.files, self._timeout_s)
        try:
            ranks.begin(cell=spec.cell.name, trial=spec.trial, port=port, generation=generation)
            mine = self._own.execute(spec, port=port, generation=generation, over=ranks.is_over)
            ranks.add(mine)
            return ranks.all()
        except Stopped as error:
            # A launcher that lost a rank ends all others: the trial that lost it is told, and then this.
            ranks.abort()
            if not ranks.lost_before(error.at):
                raise
            return ranks.so_far(f"rank 0 was {error}")

    def _without_port(self, why: str) -> Outcome:
        """Return the outcome of a trial that has no port: there is none for those after it either."""
        outcome = Outcome(verdict=ERROR, reason=why, end=VANISHED)
        place = self._places[0]
        end = RankEnd(rank=place.rank, host=place.host, local_rank=place.local_rank, outcome=outcome)
        return evolve(outcome, lost=row(end, None))
