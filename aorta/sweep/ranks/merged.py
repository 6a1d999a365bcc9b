"""One outcome of a trial out of those of its ranks."""

from collections.abc import Callable, Sequence
from typing import Any

from aorta.model.frozen import evolve
from aorta.model.text import listed
from aorta.sweep.outcome import ABORTED, ERROR, EXITED, FAIL, PASS, RAISED, RETURNED, SIGNALLED, Outcome
from aorta.sweep.ranks.ends import RankEnd, first_cause, rivals
from aorta.sweep.ranks.hello import FEW
from aorta.sweep.workload.verdict import one_line, place
from aorta.workloads.body import DETAILS
from aorta.workloads.protocol import RANK_LOCAL
from aorta.workloads.report import CLEANUP


def merged(ends: Sequence[RankEnd], scope: str, log_of: Callable[[int], str]) -> Outcome:
    """Return the trial's outcome. ``log_of`` names a rank's log, relative to the run.

    Without a lost rank it is a failure when one failed, else an error when one has none. With one, it is that
    rank's, but what another found and told is a failure all the same.
    """
    cause = first_cause(ends)
    if cause is not None:
        before, cause = cause, _blamed(cause, ends)
        ends = [cause if end is before else end for end in ends]
    ordered = sorted(ends, key=lambda end: end.rank)
    found = next((end for end in ordered if _found(end)), None)
    telling = found or cause or next((end for end in ordered if end.outcome.verdict == ERROR), ordered[0])
    return evolve(
        _whole(ordered, scope),
        verdict=telling.outcome.verdict,
        reason=_reason(telling, cause, ordered),
        traceback=telling.outcome.traceback or (telling.log or None if telling.is_lost else None),
        exit_code=telling.outcome.exit_code,
        signal=telling.outcome.signal,
        timed_out=any(end.outcome.timed_out for end in ordered),
        end=RETURNED if cause is None else cause.outcome.end,
        phase=telling.outcome.phase,
        ranks=tuple(row(end, log_of(end.rank)) for end in ordered),
        lost=None if cause is None else row(cause, log_of(cause.rank)),
    )


def _found(end: RankEnd) -> bool:
    """Tell whether a rank came to its end with a failure: it stands, whatever befell others later."""
    return end.outcome.verdict == FAIL and not end.is_lost


def _whole(ends: Sequence[RankEnd], scope: str) -> Outcome:
    """Return rank 0's outcome with what all ranks found; its times and metrics stand for all."""
    own = ends[0].outcome
    told = [end for end in ends if not end.is_lost or end.outcome.failure_details]
    counts = {word: sum(end.outcome.verdict == word for end in ends) for word in (PASS, FAIL, ERROR)}
    metrics = {**own.metrics, "rank_outcomes": {**counts, "world_size": len(ends)}}
    if scope != RANK_LOCAL:
        # Any rank's failure is the trial's.
        told = sorted(told, key=lambda end: end.outcome.verdict != FAIL)[:1]
    details = [{"rank": end.rank, **detail} for end in told for detail in end.outcome.failure_details]
    notes = [
        f"{end.named}: {note}" for end in ends for note in end.outcome.notes if not note.startswith(_QUIET)
    ]
    if len(details) > DETAILS:
        notes.append(f"{len(details) - DETAILS} more failure_details left out")
    return evolve(
        own,
        elapsed_s=max(end.outcome.elapsed_s for end in ends),
        failure_details=tuple(details[:DETAILS]),
        metrics=metrics,
        notes=tuple(notes),
        env_late=tuple(sorted({name for end in ends for name in end.outcome.env_late})),
    )


#: Notes that say nothing of one rank among many.
_QUIET = ("the interpreter took",)


def _reason(telling: RankEnd, cause: RankEnd | None, ends: Sequence[RankEnd]) -> str | None:
    if telling.outcome.verdict == PASS:
        return None
    words = f"{telling.named}: {telling.outcome.reason}"
    if cause is not None and cause is not telling:
        words += f"; {cause.named} was lost: {cause.outcome.reason}"
    elif cause is None and len({(end.outcome.verdict, end.outcome.reason) for end in ends}) == 1:
        words = f"all {len(ends)} ranks: {telling.outcome.reason}"
    elif cause is None:
        alike = sum(end.outcome.verdict == telling.outcome.verdict for end in ends)
        word = "failed" if telling.outcome.verdict == FAIL else "have no verdict"
        words += f" ({alike} of {len(ends)} ranks {word})" if alike > 1 else ""
    return one_line(words)


def _blamed(cause: RankEnd, ends: Sequence[RankEnd]) -> RankEnd:
    """Return the cause with a reason that says what it did, where that is only known by the others."""
    if not cause.is_lost and cause.outcome.cleanup is None:
        return _left(cause)
    if not cause.is_lost:
        words, verdict = one_line(str(cause.outcome.cleanup)), cause.outcome.verdict
        verdict = FAIL if verdict == FAIL else ERROR
        outcome = evolve(cause.outcome, end=RAISED, phase=CLEANUP, reason=words, verdict=verdict)
        return evolve(cause, outcome=outcome)
    reason = _hung(cause, ends) or cause.outcome.reason
    if alike := rivals(cause, ends):
        ranks = listed([f"rank {end.rank}" for end in alike], FEW)
        reason = f"{reason}; so it was on {ranks}, and which was first is not known"
    return evolve(cause, outcome=evolve(cause.outcome, reason=one_line(str(reason))))


def _hung(cause: RankEnd, ends: Sequence[RankEnd]) -> str | None:
    """Return what is to be said of a rank that was ended and had hung, as another one tells; else null."""
    found = cause.outcome.verdict == FAIL
    if found or cause.outcome.end != ABORTED or cause.waits:
        return None
    others = [end for end in ends if end is not cause and end.outcome.end in (RAISED, SIGNALLED, EXITED)]
    if not others:
        return None
    victim = min(others, key=lambda end: end.after_s)
    where = f" in {cause.outcome.phase}" if cause.outcome.phase else ""
    words = f"hung{where}{place(cause.outcome.traceback or '')}, and {victim.named} waited for it in vain:"
    return f"{words} {victim.outcome.reason}"


def _left(end: RankEnd) -> RankEnd:
    """Return a rank that left the others alone; what it found stands."""
    outcome = end.outcome
    if outcome.verdict == FAIL:
        return end
    done, asked = outcome.iterations, outcome.configured_iterations
    words = f"it came to its end after {done} of {asked} iterations, and others waited for it in vain"
    return evolve(end, outcome=evolve(outcome, verdict=ERROR, reason=words))


def row(end: RankEnd, log: str | None) -> dict[str, Any]:
    """Return what the record keeps of a rank: all of it where it is not clean. ``log`` names its log."""
    outcome = end.outcome
    told = {
        "rank": end.rank,
        "node": end.host,
        "local_rank": end.local_rank,
        "device": outcome.device,
        "verdict": outcome.verdict,
        "end": outcome.end,
        "elapsed_s": round(outcome.elapsed_s, 6),
    }
    if outcome.verdict == PASS:
        return told
    return {
        **told,
        "phase": outcome.phase,
        "reason": outcome.reason,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "traceback": outcome.traceback,
        "log": end.log or None,
        "stderr": log,
    }
