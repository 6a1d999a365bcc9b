"""Why a question to buck2 has no answer, in one bounded sentence."""

from collections.abc import Callable
from typing import TypeVar

from aorta.collect import CommandAnswer
from aorta.model.vocabulary import Outcome, ReasonKind
from aorta_collectors.providers.gap import Gap

T = TypeVar("T")

#: The longest part of what buck2 said that is told.
TOLD = 400

FAILED = "Command failed:"

#: What buck2's exit statuses mean, where they are no error of the question.
MEANINGS = {
    2: "of its environment",
    4: "since its daemon is busy",
    5: "since another command took its daemon",
    6: "since its own time was over",
    11: "since it cannot reach its daemon",
    12: "for want of memory",
}


def read(answer: CommandAnswer, parse: Callable[[str], T], what: str) -> tuple[T | None, Gap | None]:
    """Return what a question's answer says, or why it says nothing."""
    subject = answer.subject or "buck2"
    if not answer.ok:
        return None, _failed(answer, parse, what, subject)
    if answer.value is not None and answer.value.truncated:
        detail = f"{what} answered more than is read"
        return None, Gap(kind=ReasonKind.UNPARSED, subject=subject, detail=detail)
    try:
        return parse(answer.stdout), None
    except ValueError as error:
        kind = ReasonKind.FAILED if type(error) is not ValueError else ReasonKind.UNPARSED
        return None, Gap(kind=kind, subject=subject, detail=f"{what}: {error}")


def _failed(answer: CommandAnswer, parse: Callable[[str], T], what: str, subject: str) -> Gap:
    done = answer.value
    if answer.kind is ReasonKind.TIMED_OUT:
        detail = f"{answer.detail}; a cold daemon may need more: --buck-timeout SECONDS"
        return Gap(kind=ReasonKind.TIMED_OUT, subject=subject, detail=detail)
    if done is None or done.outcome is not Outcome.EXIT:
        return Gap.of(answer, subject)
    meaning = MEANINGS.get(done.exit_code or 0, "")
    said = complaint(done.stderr) or _own_error(parse, done.stdout)
    text = " ".join(filter(None, (f"{what} ended with exit status {done.exit_code}", meaning)))
    return Gap(kind=ReasonKind.FAILED, subject=subject, detail=f"{text}: {said}" if said else text)


def complaint(stderr: str) -> str:
    """Return what buck2 complained of in one line: what follows ``Command failed:``, else the last line."""
    head, found, tail = stderr[-(1 << 16) :].rpartition(FAILED)
    lines = [line.strip() for line in (tail if found else head or tail).splitlines() if line.strip()]
    return " ".join(lines)[:TOLD] if found else (lines[-1][:TOLD] if lines else "")


def _own_error(parse: Callable[[str], T], stdout: str) -> str:
    """Return the error that an answer itself holds."""
    try:
        parse(stdout)
    except ValueError as error:
        # Of a failed command only an answer that was meant to be one is worth telling.
        return "" if type(error) is ValueError else str(error)[:TOLD]
    return ""
