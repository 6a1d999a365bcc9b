"""``Outcome``: what became of one trial, whatever executed it."""

from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.frozen import frozen

PASS, FAIL, ERROR = VERDICTS = ("pass", "fail", "error")

#: Where step times come from, best first: each step was timed; the elapsed time was divided by the
#: iterations; by the steps that were asked for; or there are none.
PER_STEP, PER_ITERATION, WALL_CLOCK, NO_SOURCE = SOURCES = (
    "per_step",
    "elapsed_per_iteration",
    "wall_clock",
    "none",
)

#: How a workload's body ended: ``run`` returned; it was not started; an exception; the process without an
#: answer, by an exit status or a signal; its time was over; it was ended because another rank was lost; its
#: rank was lost.
RETURNED, NOT_STARTED, RAISED, EXITED, SIGNALLED, TIMED_OUT, ABORTED, VANISHED = ENDS = (
    "returned",
    "not_started",
    "raised",
    "exited",
    "signalled",
    "timed_out",
    "aborted",
    "vanished",
)
#: Of a process that did not tell its end itself.
LOST = (EXITED, SIGNALLED, TIMED_OUT, ABORTED)


@frozen
class Finding:
    """One detector that fired.

    ``id`` is ``tier4:python_traceback`` or ``custom:NAME``; ``effect`` is what it means: fail, error, warn
    or info. ``where`` names the place (``stderr:120``), ``text`` is the line, cut off at 300 characters;
    ``traceback`` is the whole of one that was seen.
    """

    id: str
    effect: str
    where: str | None = None
    text: str | None = None
    traceback: str | None = None
    captured: Mapping[str, str] = attrs.field(factory=dict)


@frozen
class Outcome:
    """A trial's end. ``elapsed_s`` is the trial alone, by the monotonic clock.

    ``reason`` is one line that says why it is no pass. ``exit_code`` is the command's, null where a
    ``signal`` (``SIGSEGV``) ended it. ``iterations`` were done of ``configured_iterations``.

    Of a workload ``end`` is one of ``ENDS``, ``phase`` the last that its body came to, ``device`` what the
    rank was bound to, ``cleanup`` what that raised; ``raised_at`` is when ``run`` did, by the monotonic clock
    of its machine. Of several ranks ``ranks`` has a mapping each, and
    ``lost`` is that of the one whose end was the trial's; null where all came to the end of their work.
    ``env_late`` are variables that were set after what reads them in that process had done so.
    """

    verdict: str
    reason: str | None = None
    traceback: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    elapsed_s: float = 0.0
    step_times_ms: tuple[float, ...] = ()
    step_time_source: str = NO_SOURCE
    iterations: int | None = None
    configured_iterations: int | None = None
    findings: tuple[Finding, ...] = ()
    failure_details: tuple[Mapping[str, Any], ...] = ()
    metrics: Mapping[str, Any] = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()
    end: str = RETURNED
    phase: str | None = None
    device: str | None = None
    cleanup: str | None = None
    raised_at: float | None = None
    ranks: tuple[Mapping[str, Any], ...] = ()
    lost: Mapping[str, Any] | None = None
    env_late: tuple[str, ...] = ()
