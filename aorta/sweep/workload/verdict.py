"""Verdicts on workloads: from the report of a trial's body, or from an end without one."""

import math
import re

from aorta.model.frozen import evolve
from aorta.sweep.command.exits import CRASHES, signal_name
from aorta.sweep.outcome import (
    ABORTED,
    ERROR,
    EXITED,
    FAIL,
    NO_SOURCE,
    NOT_STARTED,
    PASS,
    PER_ITERATION,
    PER_STEP,
    RAISED,
    RETURNED,
    SIGNALLED,
    TIMED_OUT,
    WALL_CLOCK,
    Outcome,
)
from aorta.sweep.workload.gpu_faults import gpu_fault
from aorta.workloads.report import CLEANUP, RUN, Raised, Report, bounded

_REASON = 400


def outcome_of(report: Report, steps: int) -> Outcome:
    """Return the outcome that a report says; ``steps`` are what the cell asked for."""
    verdict, reason = _judged(report)
    raised = report.raised or report.cleanup
    notes = report.notes
    if report.cleanup is not None:
        notes = (*notes, f"cleanup raised: {one_line(report.cleanup.told())}")
    times, source = _times(report, steps, verdict)
    return Outcome(
        verdict=verdict,
        reason=reason and one_line(reason),
        traceback=raised.traceback if raised is not None else None,
        elapsed_s=report.elapsed_s,
        step_times_ms=times,
        step_time_source=source,
        iterations=_iterations(report),
        configured_iterations=report.configured_iterations,
        failure_details=report.failure_details,
        metrics=report.metrics,
        notes=notes,
        end=RAISED if report.raised is not None or report.wrong is not None else RETURNED,
        phase=report.raised.phase if report.raised is not None else RUN,
        raised_at=report.raised.at if report.raised is not None else None,
        device=report.device,
        cleanup=report.cleanup.told() if report.cleanup is not None else None,
    )


def _judged(report: Report) -> tuple[str, str | None]:
    if report.raised is not None:
        return _of_exception(report.raised)
    if report.wrong is not None:
        return ERROR, report.wrong
    if report.executed_iterations == 0 and report.configured_iterations:
        return ERROR, f"did not run: 0 of {report.configured_iterations} iterations were done"
    if report.main_work_started is False:
        return ERROR, "did not run: its main work was never started"
    if not report.passed:
        return FAIL, _failure(report)
    fault = gpu_fault(report.cleanup.text) if report.cleanup is not None else None
    return (FAIL, f"{fault} (in {CLEANUP})") if fault is not None else (PASS, None)


def _of_exception(raised: Raised) -> tuple[str, str]:
    """A failure is what the work itself ran into; before it nothing was found out about the subject."""
    if raised.phase == RUN and (raised.assertion or gpu_fault(f"{raised.type}: {raised.text}")):
        return FAIL, raised.told()
    return ERROR, raised.told()


def _failure(report: Report) -> str:
    words = [f"{report.failure_count} failures" if report.failure_count != 1 else "1 failure"]
    if report.first_failure_iteration is not None:
        words.append(f"the first in iteration {report.first_failure_iteration}")
    told = ", ".join(words) if report.failure_count else "the workload says that it did not pass"
    details = report.failure_details
    hints = [str(detail[key]) for detail in details for key in ("hint", "error", "text") if detail.get(key)]
    return f"{told}: {hints[0]}" if hints else told


def _iterations(report: Report) -> int | None:
    if report.executed_iterations is not None:
        return report.executed_iterations
    return report.total_iterations or None


def _times(report: Report, steps: int, verdict: str) -> tuple[tuple[float, ...], str]:
    if report.step_times_ms:
        return report.step_times_ms, PER_STEP
    done = _iterations(report)
    each = report.work_s * 1000 / done if done else 0.0
    if 0 < each < math.inf:
        return (each,), PER_ITERATION
    if verdict != ERROR and steps > 0 and report.elapsed_s > 0:
        return (report.elapsed_s * 1000 / steps,), WALL_CLOCK
    return (), NO_SOURCE


def not_started(reason: str) -> Outcome:
    """Return the outcome of a trial whose body could not be begun."""
    return Outcome(verdict=ERROR, reason=one_line(reason), end=NOT_STARTED)


def outcome_without(status: int | None, phase: str | None, stacks: str, log: str) -> Outcome:
    """Return the outcome of a worker that ended without an answer.

    ``status`` is its exit status, negative for a signal; ``phase`` the last it came to, ``stacks`` what
    faulthandler wrote, ``log`` the end of its standard error.
    """
    where = f"in {phase}" if phase else "before its code began"
    last = next((line.strip() for line in reversed(log.splitlines()) if line.strip()), "")
    kept = bounded(stacks or log) or None
    name = signal_in(status)
    if name is not None:
        crash = name in CRASHES
        reason = f"the process was ended by {name} {where}"
        if name == "SIGKILL":
            reason += ": by somebody else, or because memory ran out"
        elif crash:
            reason += place(stacks)
        fault = gpu_fault(log)
        verdict = FAIL if crash or fault is not None else ERROR
        return Outcome(
            verdict=verdict,
            reason=one_line(f"{reason}; {fault}" if fault else reason),
            traceback=kept,
            signal=name,
            end=SIGNALLED,
            phase=phase,
        )
    fault = gpu_fault(log) if phase == RUN else None
    ended = f"exit status {status}" if status is not None else "an exit status that nobody knows"
    told = f"the process ended with {ended} {where}, without an answer"
    return Outcome(
        verdict=FAIL if fault else ERROR,
        reason=one_line(f"{told}: {fault or last}" if fault or last else told),
        traceback=kept,
        exit_code=status,
        end=EXITED,
        phase=phase,
    )


def timed_out(limit_s: float | None, elapsed_s: float, phase: str | None, stacks: str) -> Outcome:
    """Return the outcome of a trial whose time was over."""
    where = f"in {phase}" if phase else "before its code began"
    return Outcome(
        verdict=ERROR,
        reason=one_line(f"timed out after {limit_s or elapsed_s:g} s {where}{place(stacks)}"),
        traceback=bounded(stacks) or None,
        timed_out=True,
        elapsed_s=elapsed_s,
        end=TIMED_OUT,
        phase=phase,
    )


def aborted(elapsed_s: float, phase: str | None, stacks: str) -> Outcome:
    """Return the outcome of a rank that was ended because another was lost."""
    where = f"in {phase}" if phase else "before its code began"
    return Outcome(
        verdict=ERROR,
        reason=one_line(f"ended {where}{place(stacks)}, since another rank was lost"),
        traceback=bounded(stacks) or None,
        elapsed_s=elapsed_s,
        end=ABORTED,
        phase=phase,
    )


def crashed_after(outcome: Outcome, name: str) -> Outcome:
    """Return what a crash makes of an outcome that was told before it."""
    note = f"its process was ended by {name} after its answer"
    if outcome.verdict == PASS and name in CRASHES:
        reason = f"the process was ended by {name} after run() had passed"
        return evolve(outcome, verdict=FAIL, reason=reason, signal=name, end=SIGNALLED)
    return evolve(outcome, notes=(*outcome.notes, note), signal=name)


def with_what_was_found(found: Outcome, ended: Outcome) -> Outcome:
    """Return the outcome of a worker that told what ``run`` came to, and did not end well after that."""
    raised = found.end == RAISED
    return evolve(
        found,
        verdict=FAIL if FAIL in (found.verdict, ended.verdict) else ERROR,
        reason=one_line(f"{found.reason}; then {ended.reason}"),
        traceback=found.traceback or ended.traceback,
        exit_code=ended.exit_code,
        signal=ended.signal,
        timed_out=ended.timed_out,
        elapsed_s=ended.elapsed_s or found.elapsed_s,
        notes=(*found.notes, *ended.notes),
        end=found.end if raised else ended.end,
        phase=found.phase if raised else ended.phase,
        env_late=ended.env_late,
    )


def signal_in(status: int | None) -> str | None:
    """Return the name of the signal that a negative exit status stands for; None for another status."""
    return None if status is None or status >= 0 else signal_name(-status)


def place(stacks: str) -> str:
    """Return where the thread was that crashed, else the main one, by what faulthandler wrote.

    It is the innermost line that is no library's: what a trial is about is not in there.
    """
    if not stacks:
        return ""
    from aorta.host.interpreter import place_in

    current = stacks.find("\nCurrent thread")
    if current >= 0:
        stacks = stacks[current:]
        following = stacks.find("\n\nThread")
        stacks = stacks[:following] if following > 0 else stacks
    stacks = stacks[max(stacks.rfind(_FIRST_LAST), 0) :]
    lines = [line for line in stacks.splitlines() if not _OF_A_LIBRARY.search(line)]
    return place_in("\n".join(lines)) or place_in(stacks)


#: How faulthandler begins a stack; and frames of Python's own modules, of what is installed, and of aorta.
_FIRST_LAST = "(most recent call first):"
_OF_A_LIBRARY = re.compile(
    r'File "(?:<frozen |[^"]*(?:/lib(?:64)?/python3[^/]*/|/dist-packages/|/aorta/workloads/))'
)


def one_line(text: str) -> str:
    """Return a reason in one line that is not too long."""
    text = " ".join(text.split())
    return text if len(text) <= _REASON else f"{text[: _REASON - 1]}…"
