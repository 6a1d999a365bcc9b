"""``Answer``: a value that was seen, or the typed reason why it was not."""

import errno
import json
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from aorta.host.elf import ElfError
from aorta.host.protocol import Completed, DeadMountError, NotRecordedError
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Outcome, ReasonKind

T = TypeVar("T")


@frozen
class Answer(Generic[T]):
    """What came of one question. ``kind`` is null exactly when ``value`` was seen."""

    value: T | None = None
    kind: ReasonKind | None = None
    subject: str | None = None
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Tell whether the value was seen."""
        return self.kind is None

    @property
    def absent(self) -> bool:
        """Tell whether it is positively not there."""
        return self.kind is ReasonKind.ABSENT

    @property
    def failure(self) -> "Answer[Any]":
        """Return why the value was not seen, as the answer to a question for anything else."""
        return Answer(kind=self.kind, subject=self.subject, detail=self.detail)


_NOT_THERE = {errno.ENOENT, errno.ENOTDIR}
_REFUSED = {errno.EACCES, errno.EPERM}
_NOT_OFFERED = {errno.EOPNOTSUPP, errno.ENODEV, errno.ENXIO, errno.ENOSYS}


def kind_of(error: BaseException) -> ReasonKind:
    """Return the kind of reason that an error of the host stands for."""
    if isinstance(error, NotRecordedError):
        return ReasonKind.NOT_RECORDED
    if isinstance(error, TimeoutError):
        return ReasonKind.TIMED_OUT
    if isinstance(error, (UnicodeError, json.JSONDecodeError, ElfError)):
        return ReasonKind.UNPARSED
    if isinstance(error, OSError):
        if getattr(error, "not_asked", False):
            return ReasonKind.NOT_REQUESTED
        if error.errno in _NOT_THERE:
            return ReasonKind.ABSENT
        if error.errno in _REFUSED:
            return ReasonKind.DENIED
        if error.errno in _NOT_OFFERED:
            return ReasonKind.UNSUPPORTED
    return ReasonKind.FAILED


def asked(subject: str, question: Callable[[], T]) -> Answer[T]:
    """Ask the host and return an answer, whatever happens on the machine."""
    try:
        value = question()
        if isinstance(value, str) and "\0" in value:
            # What a file system leaves of a file that was not written to its end.
            return Answer(kind=ReasonKind.UNPARSED, subject=subject, detail=f"{subject}: it holds NUL bytes")
        return Answer(value=value, subject=subject)
    except Exception as error:
        about = error.mount if isinstance(error, DeadMountError) else subject
        return Answer(kind=kind_of(error), subject=about, detail=_told(error, subject))


def _told(error: BaseException, subject: str) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{subject}: {error.strerror}"
    if isinstance(error, UnicodeError):
        return f"{subject}: not UTF-8"
    if isinstance(error, (OSError, NotRecordedError, ElfError)):
        return f"{subject}: {error}"
    if isinstance(error, RuntimeError) and "thread" in str(error):
        return f"{subject}: no thread could be started to ask"
    return f"{subject}: {type(error).__name__}: {error}"


_KINDS = {
    Outcome.EXIT: ReasonKind.FAILED,
    Outcome.SIGNAL: ReasonKind.FAILED,
    Outcome.NOT_FOUND: ReasonKind.NO_TOOL,
    Outcome.DENIED: ReasonKind.DENIED,
    Outcome.TIMED_OUT: ReasonKind.TIMED_OUT,
    Outcome.ABANDONED: ReasonKind.TIMED_OUT,
}
TAIL = 200

#: The exit status and the words of a program that the dynamic linker could not start.
_NOT_STARTED = 127
_LINKER = re.compile(r"error while loading shared libraries: [^\n]{1,300}")


@frozen
class CommandAnswer(Answer[Completed]):
    """How a command ended; ``value`` is there even when it failed, ``stdout`` only when it ended well."""

    @property
    def stdout(self) -> str:
        """Return what a successful command printed, an empty text otherwise."""
        return self.value.stdout if self.ok and self.value is not None else ""


def command_answer(
    argv: tuple[str, ...], done: Completed, limit: float, *, budget: bool = False
) -> CommandAnswer:
    """Return the answer for a command that ended in any way, waited for ``limit`` seconds at most.

    With ``budget`` that limit was the whole capture's.
    """
    line = " ".join(argv)
    kind, detail = _KINDS.get(done.outcome), _ending(line, argv[0], done, limit)
    if unlinked(done):
        kind = ReasonKind.NO_TOOL
    elif kind is ReasonKind.TIMED_OUT and budget:
        kind, detail = ReasonKind.BUDGET, f"{line}: the capture's time was over before it ended"
    return CommandAnswer(value=done, kind=kind, subject=line, detail=detail)


def unlinked(done: Completed) -> str | None:
    """Return what the dynamic linker said when it could not start a program, None for any other end."""
    if done.outcome is not Outcome.EXIT or done.exit_code != _NOT_STARTED:
        return None
    found = _LINKER.search(done.stderr[:4096])
    return found[0].strip() if found else None


def _ending(line: str, program: str, done: Completed, limit: float) -> str:
    last = last_line(done.stderr) or last_line(done.stdout)
    why = f": {last}" if last else ""
    if done.outcome is Outcome.NOT_FOUND:
        return done.detail or f"{program} is not installed"
    if done.outcome is Outcome.DENIED:
        return done.detail or f"{program} may not be run"
    if done.outcome in (Outcome.TIMED_OUT, Outcome.ABANDONED):
        # A shared command may have ended under the shorter limit of who asked first.
        seconds = min(limit, done.elapsed_s) if done.elapsed_s else limit
        return f"{line}: no end within {round(seconds, 2):g} s"
    if done.outcome is Outcome.SIGNAL:
        return f"{line}: ended by signal {abs(done.exit_code or 0)}{why}"
    if done.outcome is Outcome.EXIT and done.exit_code is None:
        return f"{line}: {done.detail or 'its exit status is not known'}"
    if done.outcome is Outcome.EXIT:
        return f"{line}: exit status {done.exit_code}{why}"
    return ""


def unasked_answer(argv: tuple[str, ...], error: Exception) -> CommandAnswer:
    """Return the answer for a command that the host could not even be asked about."""
    line = " ".join(argv)
    return CommandAnswer(kind=kind_of(error), subject=line, detail=_told(error, line))


def last_line(text: str) -> str:
    """Return the last line that is not blank, at most 200 characters."""
    lines = [line.strip() for line in text[-4096:].splitlines() if line.strip()]
    return lines[-1][-TAIL:] if lines else ""


def parsed(answer: Answer[Any], parse: Callable[[Any], T]) -> Answer[T]:
    """Return the answer with its value parsed; a ValueError of ``parse`` makes it ``unparsed``."""
    if not answer.ok:
        return answer.failure
    try:
        return Answer(value=parse(answer.value), subject=answer.subject)
    except ValueError as error:
        return Answer(kind=ReasonKind.UNPARSED, subject=answer.subject, detail=f"{answer.subject}: {error}")
