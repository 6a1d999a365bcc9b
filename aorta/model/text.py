"""Words for a reader: names in a row, numbers of things, texts that anybody may have written."""

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names in a row, the first of them if there are many, and how many there are beyond."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def count_of(number: int, what: str) -> str:
    """Return ``3 reasons``."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def explained(kind: str, detail: str, subject: str) -> str:
    """Return the words of a reason: its sentence, else its kind, and what it is about."""
    about = f" ({subject})" if subject and subject not in detail else ""
    return f"{detail or kind}{about}"


def printable(text: str) -> str:
    """Return a text in one line: what does not print, and may steer a terminal, is escaped."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def _escaped(one: str) -> str:
    return one.encode("unicode_escape", "backslashreplace").decode("ascii")
