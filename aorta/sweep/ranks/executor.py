"""``RanksExecutor``: runs a plan's trials on all ranks; this is what rank 0 does."""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence

from aorta.instrumentation.process import Stopped
from aorta.launch.tasks import LaunchError
from aorta.model.frozen import evolve
from aorta.sweep.files import TrialFiles
from aorta.sweep.outcome import ERROR, VANISHED, Outcome
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.ranks.ends import RankEnd, from_message, vanished
from aorta.sweep.ranks.follower import ABORT
from aorta.sweep.ranks.hello import Hello
from aorta.sweep.ranks.leader import Leader
from aorta.sweep.ranks.local import keep_logs
from aorta.sweep.ranks.merged import merged
from aorta.sweep.ranks.own import OwnRank
from aorta.sweep.ranks.ports import TrialPorts
from aorta.sweep.variables import RUN
from aorta.workloads.discovery import find

TRIAL, ENDED = "trial", "ended"

#: Seconds that the other ranks get to come to an end by themselves when one is lost: what they tell may be
#: the cause. And after how many seconds a rank that says nothing is lost too.
SETTLE_S, GONE_S = 3.0, 13.0


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
        self._number = 0
        #: A run that goes on in the same job finds nothing of before under the names of its trials.
        self._mark = secrets.token_hex(4)

    def execute(
        self,
        cell: PlannedCell,
        trial: int,
        files: TrialFiles,
        environ: Mapping[str, str],
        overlay: Mapping[str, str | None],
    ) -> Outcome:
        """Run one trial on all ranks and return what became of it."""
        self._number += 1
        try:
            with self._ports.held() as port:
                ends = self._all(cell, trial, files, environ, overlay, port)
        except LaunchError as error:
            why, node = str(error), self._places[0].host
            lost = {
                "rank": 0,
                "node": node,
                "verdict": ERROR,
                "end": VANISHED,
                "elapsed_s": 0.0,
                "reason": why,
            }
            return Outcome(verdict=ERROR, reason=why, lost=lost)
        return merged(ends, self._scope, lambda rank: self._relative(files.of_rank(rank).stderr))

    def close(self) -> None:
        """End what was kept on this rank for more trials; each rank does so by itself."""
        self._own.close()

    def _all(
        self,
        cell: PlannedCell,
        trial: int,
        files: TrialFiles,
        environ: Mapping[str, str],
        overlay: Mapping[str, str | None],
        port: int,
    ) -> list[RankEnd]:
        generation = f"{environ[RUN]}/{self._mark}.{self._number}"
        trials = _Round(self._leader, self._number, self._places, files)
        self._leader.tell_all(
            TRIAL,
            number=self._number,
            cell=cell.name,
            trial=trial,
            stem=files.stem,
            port=port,
            generation=generation,
        )
        try:
            mine = self._own.execute(
                cell, trial, files, environ, overlay, port=port, generation=generation, over=trials.is_over
            )
            trials.add(mine)
            return trials.all()
        except Stopped:
            # A launcher that lost a rank stops all others: the trial that lost it is told, and then this.
            trials.abort()
            if not trials.has_lost():
                raise
            return trials.ended()


class _Round:
    """What is known of the ranks in one trial."""

    def __init__(self, leader: Leader, number: int, places: Sequence[Hello], files: TrialFiles) -> None:
        self._files = files
        self._leader = leader
        self._number = number
        self._places = {place.rank: place for place in places}
        self._ends: dict[int, RankEnd] = {}
        self._lost_at: float | None = None
        self._aborted = False

    def add(self, end: RankEnd) -> None:
        """Take the end of a rank."""
        if end.rank not in self._ends:
            self._ends[end.rank] = end
            if end.is_lost and self._lost_at is None:
                self._lost_at = time.monotonic()

    def has_lost(self) -> bool:
        """Tell whether a rank is known to be lost."""
        self._hear()
        return self._lost_at is not None

    def is_over(self) -> bool:
        """Tell whether what still runs is to be ended."""
        self._hear()
        if self._lost_at is None or time.monotonic() < self._lost_at + SETTLE_S:
            return False
        self.abort()
        return True

    def abort(self) -> None:
        """Tell the ranks that have not ended to do so."""
        if not self._aborted:
            self._aborted = True
            self._leader.tell(
                [rank for rank in self._others() if rank not in self._ends], ABORT, number=self._number
            )

    def all(self) -> list[RankEnd]:
        """Wait for all ranks and return their ends in the order in which they came."""
        self._leader.wait(self._is_complete)
        return self.ended()

    def ended(self) -> list[RankEnd]:
        """Return the ends that are known; a rank without one has not told it."""
        told = list(self._ends.values())
        for rank, place in self._places.items():
            if rank not in self._ends:
                told.append(
                    vanished(rank, place.host, place.local_rank, "it did not say how its trial ended")
                )
        return told

    def _others(self) -> list[int]:
        return [rank for rank in self._places if rank != 0]

    def _is_complete(self) -> bool:
        self.is_over()
        is_late = self._lost_at is not None and time.monotonic() > self._lost_at + GONE_S
        return len(self._ends) == len(self._places) or is_late

    def _hear(self) -> None:
        for rank, message in self._leader.take(ENDED):
            if message["number"] == self._number:
                # Whatever it calls itself: the number is part of the names of files.
                end = evolve(from_message(message["end"]), rank=rank)
                keep_logs(self._files.of_rank(end.rank), message["logs"])
                self.add(end)
        for rank in self._others():
            why = self._leader.members[rank].gone
            if why is not None:
                place = self._places[rank]
                self.add(vanished(rank, place.host, place.local_rank, why))
