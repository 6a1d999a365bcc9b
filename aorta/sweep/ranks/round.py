"""``Round``: one trial of all ranks, as rank 0 follows it."""

import time
from collections.abc import Sequence
from typing import Any

from aorta.model.frozen import evolve
from aorta.sweep.files import TrialFiles
from aorta.sweep.outcome import ABORTED
from aorta.sweep.ranks.ends import RankEnd, from_message, is_of_a_peer, stopped, vanished
from aorta.sweep.ranks.hello import Hello
from aorta.sweep.ranks.leader import Leader
from aorta.sweep.ranks.local import end_of_log, keep_logs
from aorta.sweep.ranks.messages import ABORT, ENDED, STOPPED, TRIAL
from aorta.sweep.workload.watching import phase_in

#: Seconds for the end of a rank to be heard of, when a launcher ends the others because of it.
_HEARD_S = 0.25
#: Seconds that the other ranks get to come to an end by themselves when one is lost: what they tell may be
#: the cause. And after how many seconds a rank that says nothing is lost too.
SETTLE_S, GONE_S = 3.0, 13.0
#: Seconds after the time of a trial in which every rank has told its end.
LATE_S = 30.0

#: What a launcher sends to all processes of a job that is to end, workers among them.
_ENDING = ("SIGTERM", "SIGINT", "SIGHUP")


class Round:
    """What is known of the ranks in the trial with a ``number``; ``files`` are the trial's."""

    def __init__(
        self,
        leader: Leader,
        number: int,
        places: Sequence[Hello],
        files: TrialFiles,
        timeout_s: float | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._files = files
        self._leader = leader
        self._number = number
        self._places = {place.rank: place for place in places}
        self._ends: dict[int, RankEnd] = {}
        self._stopped: set[int] = set()
        self._began = time.monotonic()
        self._lost_at: float | None = None
        self._aborted = False

    def begin(self, **told: Any) -> None:
        """Order the trial from all other ranks."""
        self._began = time.monotonic()
        self._leader.tell_all(TRIAL, number=self._number, stem=self._files.stem, **told)

    def add(self, end: RankEnd) -> None:
        """Take the end of a rank; the first one counts."""
        if end.rank not in self._ends:
            self._ends[end.rank] = end
            if end.is_lost and self._lost_at is None:
                self._lost_at = time.monotonic()

    def is_over(self) -> bool:
        """Tell whether what still runs is to be ended, here and on the other ranks, which are told so."""
        self._hear()
        if self._lost_at is None or time.monotonic() < self._lost_at + SETTLE_S:
            return False
        self.abort()
        return True

    def abort(self) -> None:
        """Tell the ranks that have not ended to do so, once."""
        if not self._aborted:
            self._aborted = True
            ranks = [rank for rank in self._places if rank != 0 and rank not in self._ends]
            self._leader.tell(ranks, ABORT, number=self._number)

    def lost_before(self, at: float) -> bool:
        """Tell whether a rank was lost before this one was stopped, then by the monotonic clock.

        One that ended later, or because it was stopped as well, is not lost: the whole job is ended.
        """
        until = at + _HEARD_S

        def is_known() -> bool:
            self._hear()
            return any(
                self._is_loss(end) and self._began + end.after_s <= until for end in self._ends.values()
            )

        return self._leader.wait(is_known, until)

    def all(self) -> list[RankEnd]:
        """Wait for all ranks and return their ends; a rank that does not tell its own is gone."""
        self._leader.wait(self._is_complete)
        why = "it did not say how its trial ended"
        return [
            self._ends.get(rank)
            or evolve(vanished(rank, place.host, place.local_rank, why, self._seconds()), silent=True)
            for rank, place in self._places.items()
        ]

    def so_far(self, why: str) -> list[RankEnd]:
        """Return the ends of all ranks without waiting; one that still runs is to end, and ``why``."""
        return [
            self._ends.get(rank) or stopped(rank, place.host, place.local_rank, why)
            for rank, place in self._places.items()
        ]

    def _is_loss(self, end: RankEnd) -> bool:
        """Tell whether a rank ended otherwise than by what ends all of a job."""
        asked = end.outcome.end == ABORTED or end.outcome.signal in _ENDING or end.rank in self._stopped
        # When this rank's work is stopped, others lose it as a peer; of a lost one they are not the cause.
        return end.is_lost and not asked and not is_of_a_peer(end)

    def _is_complete(self) -> bool:
        self.is_over()
        is_late = self._lost_at is not None and time.monotonic() > self._lost_at + GONE_S
        # Each rank ends its own trial in time; one whose aorta cannot, as where a file system hangs, is lost.
        is_late = is_late or (self._timeout_s is not None and self._seconds() > self._timeout_s + LATE_S)
        return len(self._ends) == len(self._places) or is_late

    def _hear(self) -> None:
        for rank, message in self._leader.take(ENDED):
            # One that ended late is of a trial before.
            if message["number"] == self._number:
                # Whatever it calls itself: the number is part of the names of files.
                end = evolve(from_message(message["end"]), rank=rank)
                keep_logs(self._files.of_rank(end.rank), message["logs"])
                self.add(end)
        for rank, message in self._leader.take(STOPPED):
            self._stopped.add(rank)
            self._vanish(rank, message["why"])
        for rank, member in self._leader.members.items():
            if member.gone is not None:
                self._vanish(rank, member.gone, member.gone_at)

    def _vanish(self, rank: int, why: str, at: float | None = None) -> None:
        if rank in self._ends:
            return
        place, files = self._places[rank], self._files.of_rank(rank)
        end = vanished(rank, place.host, place.local_rank, why, self._seconds(at))
        # What its processes wrote, where this host sees it.
        outcome = evolve(end.outcome, elapsed_s=end.after_s, phase=phase_in(files.working()["trace"]))
        self.add(evolve(end, outcome=outcome, log=end_of_log(files)))

    def _seconds(self, at: float | None = None) -> float:
        """Return the seconds from the order of the trial until then, or now."""
        return max((time.monotonic() if at is None else at) - self._began, 0.0)
