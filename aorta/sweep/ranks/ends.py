"""``RankEnd``: how one rank of a trial ended, and which of several ends was the first cause."""

import linecache
import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.outcome import (
    ABORTED,
    ERROR,
    EXITED,
    NOT_STARTED,
    RAISED,
    RETURNED,
    SIGNALLED,
    TIMED_OUT,
    VANISHED,
    Outcome,
)

#: What a rank says that another one's end has ended: in its exception, or in its log before it gave up.
_OF_PEERS = re.compile(
    r"closed by peer|[Rr]eset by peer|Broken pipe|[Cc]onnection (?:was |is )?(?:refused|closed|lost)|is gone"
    r"|remote process exited|ncclRemoteError|[Ss]ocket (?:closed|error)|[Hh]eartbeat|recvBytes|sendBytes"
    r"|lost connection to"
)
#: What a rank says that waited in vain, and by what it is known that it waited for other ranks.
_IN_VAIN = re.compile(r"[Tt]imed? ?out|did not come")
_FOR_OTHERS = re.compile(r"gloo|NCCL|nccl|RCCL|ProcessGroup|\bDist\w*Error")

#: Code that waits for other ranks; and how many of the innermost frames may be such, or what that calls.
_WAITING = re.compile(r'File "[^"]*(?:/torch/distributed/|/mpi4py/|aorta/workloads/tcp_store\.py)')
_INNERMOST = 3
#: The same for what may wait for them, for a thread or a GPU that does; and lines of a program that call it.
_MAY_WAIT = re.compile(r'File "[^"]*(?:/torch/(?:cuda|autograd)/|/threading\.py|/concurrent/futures/)')
_CALLS = re.compile(r"\.(?:wait|item|cpu|tolist|numpy|synchronize|backward|join|result)\(")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')

#: Whose end came before those of others, the most certain first. A process that ended without an answer
#: tells nothing itself, and others tell of it, within a second; who waits for others is a victim rather than
#: a cause.
_TOLD_S = 1.0
_DIED, _RAISED, _IN_VAIN_FOR_OTHERS, _LOST_A_PEER, _HUNG, _HUNG_WAITING, _ABORTED = range(7)
#: Ends that others brought about.
_OF_OTHERS = (_IN_VAIN_FOR_OTHERS, _LOST_A_PEER, _HUNG_WAITING, _ABORTED)


@frozen
class RankEnd:
    """One rank: where it ran, and its outcome.

    ``waits`` tells that it was waiting for other ranks when it was ended. ``log`` is the end of its output.
    ``after_s`` are the seconds from the order of the trial, which comes to all at about the same time, until
    it raised, or its processes had ended. ``silent``: its aorta is there, and did not tell its end.
    """

    rank: int
    host: str
    local_rank: int | None
    outcome: Outcome
    waits: bool = False
    log: str = ""
    after_s: float = 0.0
    silent: bool = False

    @property
    def named(self) -> str:
        """Return how the rank is called in texts."""
        return f"rank {self.rank} on {self.host}"

    @property
    def is_lost(self) -> bool:
        """Tell whether it did not come to the end of its work."""
        return self.outcome.end != RETURNED


def vanished(rank: int, host: str, local_rank: int | None, why: str, after_s: float = 0.0) -> RankEnd:
    """Return the end of a rank whose aorta is gone."""
    outcome = Outcome(verdict=ERROR, reason=f"its aorta was lost: {why}", end=VANISHED)
    return RankEnd(rank=rank, host=host, local_rank=local_rank, outcome=outcome, after_s=after_s)


def stopped(rank: int, host: str, local_rank: int | None, why: str) -> RankEnd:
    """Return the end of a rank that was to end because the launcher ends the whole job."""
    outcome = Outcome(verdict=ERROR, reason=f"its trial was under way: {why}", end=ABORTED)
    return RankEnd(rank=rank, host=host, local_rank=local_rank, outcome=outcome)


def as_message(end: RankEnd) -> dict[str, Any]:
    """Return an end as JSON values."""
    made: Any = end
    return attrs.asdict(made)


def from_message(value: Mapping[str, Any]) -> RankEnd:
    """Return the end that JSON values hold. Raises TypeError for others."""
    given = dict(value["outcome"])
    for name in ("step_times_ms", "failure_details", "notes", "findings", "ranks", "env_late"):
        given[name] = tuple(given[name])
    return RankEnd(**{**value, "outcome": Outcome(**given)})


def is_waiting(stacks: str) -> bool:
    """Tell whether the main thread waited for other ranks or may have, by what faulthandler wrote of all.

    It writes the main thread last, and of each the innermost frame first. What waits below the code of a
    workload is its own: hooks of torch.distributed call it, too. The lines of its program are read here.
    """
    main = stacks[max(stacks.rfind("\nThread "), stacks.rfind("\nCurrent thread "), 0) :]
    frames = [line for line in main.splitlines() if line.lstrip().startswith("File ")]
    innermost = frames[:_INNERMOST]
    return any(_WAITING.search(frame) or _MAY_WAIT.search(frame) for frame in innermost) or any(
        _CALLS.search(linecache.getline(match[1], int(match[2])))
        for match in filter(None, map(_FRAME.search, innermost[:1]))
    )


def first_cause(ends: Sequence[RankEnd]) -> RankEnd | None:
    """Return the lost rank whose end caused those of the others; None where no rank was lost.

    Of ends of one kind it is the earliest. A rank that came to its end and raised in ``cleanup``, where
    others waited for it, is one too. Where all that is known is that ranks waited in vain, it is one
    that they waited for: which hung and did not wait itself, or came to its end before its steps were done.
    Where none could be started, nobody waited.
    """
    lost = [end for end in ends if end.is_lost]
    if not lost or all(end.outcome.end == NOT_STARTED for end in ends):
        return None
    first = min(lost, key=_place)
    kind = _kind(first)
    hung = [end for end in lost if end.outcome.end in (ABORTED, TIMED_OUT) and not end.waits]
    if kind in (_IN_VAIN_FOR_OTHERS, _HUNG_WAITING) and hung:
        return hung[0]
    if kind in _OF_OTHERS:
        cleaning = [end for end in ends if end.outcome.cleanup is not None and not end.is_lost]
        early = [end for end in ends if left_early(end) and end.after_s < first.after_s]
        return min(cleaning or early, key=lambda end: end.after_s, default=first)
    return first


def rivals(cause: RankEnd, ends: Sequence[RankEnd]) -> list[RankEnd]:
    """Return the other ranks that hung as the cause did: which of them was first is not known."""
    if _kind(cause) not in (_HUNG, _HUNG_WAITING, _ABORTED):
        return []
    return [
        end
        for end in ends
        if end is not cause and end.outcome.end in (ABORTED, TIMED_OUT) and end.waits == cause.waits
    ]


def left_early(end: RankEnd) -> bool:
    """Tell whether a rank came to its end, and by its own count before all its steps were done."""
    done, asked = end.outcome.iterations, end.outcome.configured_iterations
    return not end.is_lost and done is not None and asked is not None and done < asked


def _place(end: RankEnd) -> tuple[int, float]:
    """Return what to sort by: an exception long before a death is not told because of it."""
    kind = _kind(end)
    if kind in (_DIED, _RAISED):
        return _DIED, end.after_s + (_TOLD_S if kind == _RAISED else 0.0)
    return kind, end.after_s


def is_of_a_peer(end: RankEnd) -> bool:
    """Tell whether an end only tells of the end of another rank."""
    return _kind(end) == _LOST_A_PEER


def _kind(end: RankEnd) -> int:
    how = end.outcome.end
    if how == VANISHED:
        return _HUNG if end.silent else _DIED
    if how == NOT_STARTED:
        return _DIED
    if how in (SIGNALLED, EXITED):
        return _kind_of_dead(end)
    if how == RAISED:
        return _kind_of_words(end.outcome.reason or "", end.outcome.traceback or "", _RAISED)
    if how == TIMED_OUT:
        return _HUNG_WAITING if end.waits else _HUNG
    return _ABORTED


def _kind_of_dead(end: RankEnd) -> int:
    """A library that loses a peer may end its own process, and says why."""
    may_be_secondary = end.outcome.signal == "SIGABRT" or bool(end.outcome.exit_code)
    return _kind_of_words(end.log, end.log, _DIED) if may_be_secondary else _DIED


def _kind_of_words(words: str, around: str, otherwise: int) -> int:
    if _IN_VAIN.search(words) and (_FOR_OTHERS.search(words) or _WAITING.search(around)):
        return _IN_VAIN_FOR_OTHERS
    return _LOST_A_PEER if _OF_PEERS.search(words) else otherwise
