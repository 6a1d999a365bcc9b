"""Definitions of mitigations and environments as plain mappings: of JSON files, of plugins.

A mitigation is a map of variables to values, or ``{"set": {…}, "unset": […], "prepend": {…}}``; an
environment has ``docker``, ``venv``, ``buck_target``, ``emulator``, ``mirage_profile`` (texts or null) and
``env``, which is written as a mitigation is. Every fault is told with its place, all at once.
"""

from collections.abc import Mapping, Sequence

from aorta.model.text import printable
from aorta.sweep.recipe.model import PLACES, Change, EnvironmentRecipe

PARTS = ("set", "unset", "prepend")


class Faults:
    """Collects what is wrong, each with its place (``mitigations.fast.set.PATH``)."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.told: list[str] = []

    def tell(self, place: str, text: str) -> None:
        """Note a fault."""
        inner = printable(place.lstrip("."))
        where = f"{printable(self._file)}: {inner}" if inner else printable(self._file)
        self.told.append(f"{where}: {text}")


def name_fault(name: str) -> str | None:
    """Return what keeps a recipe from naming a mitigation or environment so."""
    from aorta.sweep.recipe import values

    return next((text for _, text in values.name(name)), None)


def change_of(value: object, place: str, faults: Faults) -> Change:
    """Return the change that a plain value describes; what is wrong with it is told and left out."""
    if not isinstance(value, Mapping):
        faults.tell(place, f"must be an object of variables, not {kind(value)}")
        return Change()
    parts = [name for name in value if name in PARTS]
    # A variable may be called "set"; its value is a text then, and no part is.
    if not parts or all(isinstance(one, str) for one in value.values()):
        meant = {name: near for name, one in value.items() if (near := part_meant(name, one))}
        for name, near in meant.items():
            faults.tell(f"{place}.{name}", f"is none of {', '.join(PARTS)}: did you mean {near}?")
        rest = {name: one for name, one in value.items() if name not in meant}
        return Change(set=_values(rest, place, faults))
    for name in value:
        if name not in PARTS:
            faults.tell(f"{place}.{name}", f"stands beside {parts[0]}, and is none of {', '.join(PARTS)}")
    change = Change(
        set=_values(value.get("set", {}), f"{place}.set", faults),
        unset=_names(value.get("unset", []), f"{place}.unset", faults),
        prepend=_values(value.get("prepend", {}), f"{place}.prepend", faults),
    )
    _tell_doubles(change, place, faults)
    return change


def part_meant(name: str, value: object) -> str | None:
    """Return the part of a change that may be meant by a name; no variable has such a value."""
    if not isinstance(value, (Mapping, list, tuple)):
        return None
    import difflib

    return next(iter(difflib.get_close_matches(name.lower(), PARTS, n=1)), None)


def environment_of(value: object, place: str, faults: Faults) -> EnvironmentRecipe:
    """Return the environment that a plain value describes; what is wrong is told and left out."""
    if not isinstance(value, Mapping):
        faults.tell(place, f"must be an object, not {kind(value)}")
        return EnvironmentRecipe()
    fields: dict[str, str] = {}
    for name, one in value.items():
        if name in PLACES:
            if isinstance(one, str) and one and "\0" not in one:
                fields[name] = one
            elif one is not None:
                faults.tell(f"{place}.{name}", f"must be a text or null, not {kind(one)}")
        elif name != "env":
            faults.tell(f"{place}.{name}", not_known(name, (*PLACES, "env")))
    return EnvironmentRecipe(**fields, env=change_of(value.get("env", {}), f"{place}.env", faults))


def not_known(name: str, known: Sequence[str]) -> str:
    """Return what is said of a key that is not known."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return (
        f"is not known here: did you mean {near[0]}?"
        if near
        else f"is not known here; known are {', '.join(known)}"
    )


def kind(value: object) -> str:
    """Return what a JSON value is, in a word."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a text" if value else "an empty text"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, (list, tuple)) else type(value).__name__


def _values(value: object, place: str, faults: Faults) -> dict[str, str]:
    if not isinstance(value, Mapping):
        faults.tell(place, f"must be an object of variables, not {kind(value)}")
        return {}
    kept: dict[str, str] = {}
    for name, one in value.items():
        if not _is_variable(name):
            faults.tell(f"{place}.{name}", _NO_VARIABLE)
        elif not isinstance(one, str):
            # The value itself may be a secret.
            faults.tell(f"{place}.{name}", f"must be a text, in quotes, not {kind(one)}")
        elif "\0" in one:
            faults.tell(f"{place}.{name}", "holds a NUL character, which no variable can")
        else:
            kept[name] = one
    return kept


def _names(value: object, place: str, faults: Faults) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        faults.tell(place, f"must be a list of variables, not {kind(value)}")
        return ()
    for number, name in enumerate(value):
        if not _is_variable(name):
            faults.tell(f"{place}[{number}]", _NO_VARIABLE if isinstance(name, str) else f"is {kind(name)}")
    return tuple(dict.fromkeys(name for name in value if _is_variable(name)))


_NO_VARIABLE = "is no name of a variable: letters, digits and _, no digit first"


def _is_variable(name: object) -> bool:
    import re

    from aorta.sweep.recipe.values import VARIABLE

    return isinstance(name, str) and re.fullmatch(VARIABLE[1:-1], name) is not None


def _tell_doubles(change: Change, place: str, faults: Faults) -> None:
    from aorta.sweep.recipe.values import doubles

    for part, text in doubles(change):
        faults.tell(f"{place}.{part}", text)
