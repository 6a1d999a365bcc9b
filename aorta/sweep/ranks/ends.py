"""``RankEnd``: how one rank of a trial ended, and which of several ends was the first cause."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.outcome import (
    ABORTED,
    ERROR,
    EXITED,
    RAISED,
    RETURNED,
    SIGNALLED,
    TIMED_OUT,
    VANISHED,
    Outcome,
)

#: What an exception says that another rank's end has caused, and one of a rank that waited in vain.
_OF_PEERS = re.compile(
    r"closed by peer|[Rr]eset by peer|Broken pipe|[Cc]onnection (?:was |is )?(?:refused|closed|lost)|is gone"
    r"|remote process exited|ncclRemoteError|[Ss]ocket (?:closed|error)|[Hh]eartbeat|recvBytes|sendBytes"
)
_IN_VAIN = re.compile(r"[Tt]imed? ?out|did not come")

#: A frame of code that waits for other ranks.
_WAITING = re.compile(r'File "[^"]*(?:/torch/distributed/|/mpi4py/|aorta/workloads/tcp_store\.py)')


@frozen
class RankEnd:
    """One rank: where it ran, and its outcome.

    ``waits`` tells that it was waiting for other ranks when it was ended. ``log`` is the end of its output.
    """

    rank: int
    host: str
    local_rank: int | None
    outcome: Outcome
    waits: bool = False
    log: str = ""

    @property
    def named(self) -> str:
        """Return how the rank is called in texts."""
        return f"rank {self.rank} on {self.host}"

    @property
    def is_lost(self) -> bool:
        """Tell whether it did not come to the end of its work."""
        return self.outcome.end != RETURNED


def vanished(rank: int, host: str, local_rank: int | None, why: str) -> RankEnd:
    """Return the end of a rank whose aorta is gone."""
    reason = f"its aorta was lost: {why}"
    outcome = Outcome(verdict=ERROR, reason=reason, end=VANISHED)
    return RankEnd(rank=rank, host=host, local_rank=local_rank, outcome=outcome)


def as_message(end: RankEnd) -> dict[str, Any]:
    """Return an end as JSON values."""
    made: Any = end
    return attrs.asdict(made)


def from_message(value: Mapping[str, Any]) -> RankEnd:
    """Return the end that JSON values hold. Raises TypeError for others."""
    given = dict(value["outcome"])
    for name in ("step_times_ms", "failure_details", "notes", "findings", "ranks"):
        given[name] = tuple(given[name])
    return RankEnd(**{**value, "outcome": Outcome(**given)})


def is_waiting(stacks: str) -> bool:
    """Tell whether the main thread waited for other ranks, by what faulthandler wrote of all threads."""
    main = stacks[max(stacks.rfind("\nThread "), stacks.rfind("\nCurrent thread "), 0) :]
    return _WAITING.search(main) is not None


def first_cause(ends: Sequence[RankEnd]) -> RankEnd | None:
    """Return the lost rank whose end caused those of the others; None where no rank was lost.

    ``ends`` are in the order in which they were seen. A process that ended without an answer comes before
    exceptions, since those tell of it; a rank that hung is one that did not wait for others.
    """
    lost = [end for end in ends if end.is_lost]
    if not lost:
        return None
    first = min(lost, key=_order)
    if _waited_in_vain(first):
        hung = [end for end in lost if end.outcome.end in (ABORTED, TIMED_OUT) and not end.waits]
        return hung[0] if hung else first
    return first


def _order(end: RankEnd) -> int:
    how, reason = end.outcome.end, end.outcome.reason or ""
    if how in (SIGNALLED, EXITED):
        # A library that loses a peer may abort its own process.
        return 1 if end.outcome.signal == "SIGABRT" else 0
    if how == VANISHED:
        return 0
    if how == RAISED:
        return 4 if _IN_VAIN.search(reason) else 3 if _OF_PEERS.search(reason) else 2
    if how == TIMED_OUT:
        return 6 if end.waits else 5
    return 7


def _waited_in_vain(end: RankEnd) -> bool:
    is_late = end.outcome.end == RAISED and _IN_VAIN.search(end.outcome.reason or "") is not None
    return is_late or (end.outcome.end == TIMED_OUT and end.waits)
