"""``Fault``: what is wrong with a value while a recipe is read, and how it is told."""

import math
import typing
from collections.abc import Iterable
from typing import Any, Final

from aorta.sweep.recipe.problems import Path, shown


class Fault(typing.NamedTuple):
    """What is wrong with a value, or with a key. ``wanted`` is set where it is the type."""

    path: Path
    text: str = ""
    key: bool = False
    wanted: str = ""
    got: Any = None

    def below(self, name: str | int) -> "Fault":
        """Return the fault seen from one level higher."""
        return self._replace(path=(name, *self.path))


def unknown(name: str, allowed: Iterable[str]) -> str:
    """Return what is said of a key that is not known."""
    known = list(allowed)
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    return (
        f"is no key here; did you mean {close[0]}?"
        if close
        else f"is no key here; allowed: {', '.join(known)}"
    )


WORDS: Final[dict[type[Any], str]] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
}
_GOT: Final[dict[type[Any], str]] = {
    type(None): "nothing",
    bool: "a boolean",
    list: "a list",
    dict: "a mapping",
    bytes: "binary data",
    **{kind: WORDS[kind] for kind in (int, float, str)},
}


#: Keys that are times, and the seconds of units.
_SECONDS: Final = ("timeout_per_trial", "trial_timeout", "hang_window_sec", "hang_grace_period_at_start")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def told(fault: Fault, spelled: str | None, *, secret: bool) -> str:
    """Return what is wrong in words; ``spelled`` is how the value is written, if it is no text."""
    if not fault.wanted:
        return fault.text
    got = _GOT.get(type(fault.got), "a date")
    text = f"expected {fault.wanted}, got {got}"
    if fault.wanted == WORDS[str] and _names_mitigation(fault.path) and isinstance(fault.got, dict):
        return f"{text}: define it in the recipe's mitigations, under a name, and write the name here"
    if fault.wanted == WORDS[str] and spelled and fault.got is not None:
        if secret:
            return f"{text}: write it in quotes"
        read = str(fault.got).lower() if isinstance(fault.got, bool) else str(fault.got)
        meaning = "" if read == spelled else f" (read as {shown(read)})"
        return f'{text}, {shown(spelled)}{meaning}: write it in quotes: "{shown(spelled)}"'
    if type(fault.got) is not str or secret:
        return text
    if fault.wanted == "a list" and not any(char in fault.got for char in " ,[]"):
        return f"{text}: write [{shown(fault.got)}]"
    if fault.wanted in (WORDS[int], WORDS[float]):
        return f"{text}, {shown(fault.got)!r}{_without_quotes(fault) or _in_seconds(fault)}"
    return f"{text}, {shown(fault.got)!r}"


def _names_mitigation(path: Path) -> bool:
    """Tell whether a value is one of a list of names of mitigations."""
    return path[0] in ("mitigation_axis", "diagnostic_axis") or (path[0] == "cells" and "mitigations" in path)


def _in_seconds(fault: Fault) -> str:
    import re

    if not any(key in _SECONDS for key in fault.path):
        return ""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(s|m|h)[a-z]*", fault.got.strip().lower())
    seconds = f"{float(found[1]) * _UNITS[found[2]]:g}" if found else "600"
    return f": write seconds, as in {seconds}"


def _without_quotes(fault: Fault) -> str:
    try:
        number = float(fault.got)
    except ValueError:
        return ""
    if not math.isfinite(number):
        return ""
    if number.is_integer() and abs(number) < 1e15:
        return f": write {int(number)}"
    return f": write {number}" if fault.wanted == WORDS[float] else ""
