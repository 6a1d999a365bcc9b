"""How ``sudo -n`` says no, told apart from the tool that failed under it."""

import re

from aorta.collect import CommandAnswer
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Outcome, ReasonKind

_REFUSALS = (
    ("no_new_privs", r'sudo: The "?no new privileges"? flag is set'),
    ("tty", r"sudo: (?:a terminal is required|sorry, you must have a tty|no tty present)"),
    ("password", r"sudo: a password is required"),
    ("not_sudoer", r"\S+ is not in the sudoers file|Sorry, user \S+ (?:may not run sudo|is not allowed to)"),
    ("policy", r"sudo: (?!unable to resolve host|\S+: command not found)\S"),
)
_NOT_FOUND = re.compile(r"^sudo: (\S{1,200}): command not found", re.MULTILINE)


@frozen
class Failure:
    """Why a command under sudo gave nothing. ``word`` is the class: password, tty, tool_error and more."""

    kind: ReasonKind
    word: str
    text: str


def refusal(stderr: str) -> str | None:
    """Return the class of sudo's refusal, None when the text is not sudo's."""
    for word, pattern in _REFUSALS:
        if re.search(rf"^{pattern}", stderr, re.MULTILINE):
            return word
    return None


def failure(answer: CommandAnswer) -> Failure | None:
    """Say why a command that ran under sudo failed; None when it ended well or was not run at all.

    Host names in sudo's own warnings are never quoted.
    """
    done = answer.value
    if answer.kind is None or done is None:
        return None
    if done.outcome is Outcome.NOT_FOUND:
        return Failure(kind=ReasonKind.NO_TOOL, word="missing", text="sudo is not installed (missing)")
    if done.outcome is Outcome.ABANDONED:
        text = f"{answer.detail}; it belongs to root and could not be ended (timeout)"
        return Failure(kind=ReasonKind.TIMED_OUT, word="timeout", text=text)
    if answer.kind is ReasonKind.TIMED_OUT:
        return Failure(kind=ReasonKind.TIMED_OUT, word="timeout", text=f"{answer.detail} (timeout)")
    missing = _NOT_FOUND.search(done.stderr)
    if missing:
        text = f"root does not find {missing[1]} (sudo's secure_path replaces PATH)"
        return Failure(kind=ReasonKind.NO_TOOL, word="missing", text=text)
    word = refusal(done.stderr)
    if word:
        text = f"sudo refused ({word}); allow {answer.subject} without a password or run it as root"
        return Failure(kind=ReasonKind.DENIED, word=word, text=text)
    return Failure(kind=answer.kind, word="tool_error", text=f"tool_error: {answer.detail}")
