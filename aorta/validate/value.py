"""Whether a value says anything, in words that tell the ways apart in which it may not.

A document may be anybody's: every value may be of every type. Nothing is printed unescaped or at length.
"""

import enum
from typing import Any

from aorta.model.text import printable

#: The most characters of a document's text that a line repeats.
SHOWN = 120

#: Texts that stand for a value that is not known. Compared in lower case, without the blanks around.
PLACEHOLDERS = frozenset(
    (
        *(
            "unknown",
            "n/a",
            "na",
            "n.a.",
            "none",
            "(none)",
            "null",
            "nil",
            "nan",
            "-",
            "--",
            "?",
            "undefined",
        ),
        *(
            "unset",
            "not set",
            "not available",
            "unavailable",
            "not found",
            "tbd",
            "todo",
            "placeholder",
            "<unknown>",
        ),
    )
)


class State(enum.Enum):
    """What a value is for a rule that asks for one."""

    KNOWN = "known"
    MISSING = "missing"
    NULL = "null"
    EMPTY = "empty"
    PLACEHOLDER = "a placeholder"
    WRONG = "of a wrong type"


class Missing:
    """The type of what stands where a document has no such key."""


MISSING = Missing()


def state(value: Any) -> State:
    """Tell whether a text, or a list of texts, is known. A number, a truth or an object is no text."""
    if value is MISSING:
        return State.MISSING
    if value is None:
        return State.NULL
    if isinstance(value, str):
        return _state_of_text(value)
    if isinstance(value, (list, dict)) and not value:
        return State.EMPTY
    if isinstance(value, list):
        states = [state(member) if isinstance(member, str) else State.WRONG for member in value]
        return State.KNOWN if State.KNOWN in states else states[0]
    return State.WRONG


def _state_of_text(text: str) -> State:
    word = text.strip()
    if not word:
        return State.EMPTY
    return State.PLACEHOLDER if word.casefold() in PLACEHOLDERS else State.KNOWN


def known(value: Any) -> bool:
    """Tell whether a value is a text, or a list with a text, that says something."""
    return state(value) is State.KNOWN


def told(value: Any) -> str:
    """Return what a value is, after the name of its field: ``is null``, ``is missing``, ``is "x"``."""
    seen = state(value)
    if seen is State.MISSING:
        return "is missing"
    if seen is State.NULL:
        return "is null"
    if seen is State.EMPTY:
        return f"is empty ({shown(value)})"
    if seen is State.PLACEHOLDER:
        return f"is a placeholder ({shown(value)})"
    if seen is State.WRONG:
        return f"is {shown(value)}: a wrong type"
    return f"is {shown(value)}"


def shown(value: Any) -> str:
    """Return a value in one bounded line of printable characters."""
    if value is MISSING:
        return "missing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{plain(value)}"'
    if isinstance(value, (list, dict)):
        return _shown_members(value)
    return plain(repr(value))


def _shown_members(value: list[Any] | dict[str, Any]) -> str:
    kind = "list" if isinstance(value, list) else "object"
    if not value:
        return "[]" if kind == "list" else "{}"
    if isinstance(value, list) and all(isinstance(member, str) for member in value) and len(value) <= 4:
        return f"[{', '.join(shown(member) for member in value)}]"
    return f"a{'n' * (kind == 'object')} {kind} of {len(value)}"


def plain(text: str, most: int = SHOWN) -> str:
    """Return a text in one line: what does not print is escaped, what is long is cut."""
    cut = printable(text[:most])
    return f"{cut}..." if len(text) > most else cut
