"""What findings, the end and the steps of a trial make of it: pass, fail or error, and why.

A failure wins over an error and an error over a pass, with two exceptions. What only follows from an error
(a Python program that could not import a module prints a traceback and exits with 1) is part of it. And a
trial that is known not to have reached its first step is an error, it did not run, unless something that no
broken start explains says that it failed.
"""

from collections.abc import Sequence

from aorta.sweep.command.catalogue import TELLS_LESS, Enabled
from aorta.sweep.command.exits import CRASHES, End, id_of
from aorta.sweep.command.waiting import EXITED, Status
from aorta.sweep.outcome import ERROR, FAIL, PASS, Finding

#: Failures that may be no more than how a program reacts to an error.
_REACTIONS = frozenset({"tier1:exit_nonzero", "tier4:python_traceback"})
#: Errors that explain those.
_EXPLAINS = frozenset(
    {"tier1:exec_failed", "tier3:oom_kill", "tier4:import_error", "tier4:out_of_memory", "tier4:oom_kill"}
)
#: Errors that explain SIGABRT too, by which C++ ends what it has no memory for.
_EXPLAINS_ABORT = frozenset({"tier4:out_of_memory"})
_ABORT = "tier1:sigabrt"
_MISSING = "meta:missing_pass_signal"
_CRASH_IDS = frozenset(f"tier1:{name.lower()}" for name in CRASHES)

NO_STEP = "did not reach a step"


def judge(
    findings: Sequence[Finding], end: End, steps: int | None, enabled: Enabled, *, confirmed: bool = False
) -> tuple[str, str | None]:
    """Return the verdict and, for anything but a pass, one line that says why.

    ``steps`` is how many were seen, None where nothing tells. ``confirmed``: a signal that the trial passed
    was seen, which lets a recipe disable what an exit status other than 0 means.
    """
    failures = [one for one in findings if one.effect == FAIL]
    errors = [one for one in findings if one.effect == ERROR]
    ids = {one.id for one in errors}
    excused: set[str] = {_MISSING} if errors else set()
    if ids & _EXPLAINS:
        excused |= _REACTIONS
    if ids & _EXPLAINS_ABORT:
        excused.add(_ABORT)
    failures = [one for one in failures if one.id not in excused]
    if steps == 0 and not any(map(_is_strong, failures)):
        return ERROR, _line(f"{NO_STEP}: {_why(errors or failures, end)}")
    if failures:
        return FAIL, _line(_reason(failures))
    if errors:
        return ERROR, _line(_reason(errors))
    unjudged = _unjudged(end, enabled, confirmed=confirmed)
    return (PASS, None) if unjudged is None else (ERROR, _line(unjudged))


def _is_strong(failure: Finding) -> bool:
    """Tell whether a failure is one even of a trial that did not get to its first step."""
    if failure.id in _CRASH_IDS:
        return True
    return failure.id not in _REACTIONS and not failure.id.startswith(("tier1:", "meta:"))


def _unjudged(end: End, enabled: Enabled, *, confirmed: bool) -> str | None:
    """Return why an end that no detector may judge is no pass."""
    if end.clean:
        return None
    if end.how == EXITED and end.status == Status():
        return end.text
    id_ = id_of(end) or "tier2:hang"
    if confirmed and end.how == EXITED and enabled.tier("tier1") and end.signal is None:
        return None
    return f"{end.text}, and {id_} is disabled, so that this cannot be judged"


def _why(findings: Sequence[Finding], end: End) -> str:
    return _reason(findings) if findings else end.text


def _reason(findings: Sequence[Finding]) -> str:
    """Return the text of the finding that tells most: the output and the kernel say more than the exit."""
    best = min(findings, key=lambda one: TELLS_LESS.get(one.id, 0))
    if best.id.startswith(("tier1:", "tier2:", "meta:")):
        return best.text or best.id
    return f"{best.id}: {best.text}" if best.text else best.id


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 300 else f"{words[:297]}..."
