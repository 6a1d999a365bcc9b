"""What a value must be beside its type: each function yields what is wrong, by path from the value."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from aorta.sweep.recipe.condition import ConditionError, compile_condition
from aorta.sweep.recipe.detectors import COLLECTORS, detector_fault
from aorta.sweep.recipe.model import Change
from aorta.sweep.recipe.problems import Path, shown

NAME: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*$"
VARIABLE: Final = r"^[A-Za-z_][A-Za-z0-9_]*$"
#: A cell's name is that of a directory, which has 255 bytes in all.
MAX_NAME: Final = 200
#: These stand beside the directories of cells, or are none.
RESERVED: Final = (".", "..", "matrix.md", "matrix.json")

Found = Iterator[tuple[Path, str]]


def above_zero(value: float) -> Found:
    """A number is more than zero."""
    if value <= 0:
        yield (), f"is {value:g}; it must be more than 0"


def once(values: tuple[str, ...]) -> Found:
    """Nothing stands twice in a list."""
    for at, value in enumerate(values):
        if value in values[:at]:
            yield (at,), f"{shown(value)} stands twice"


def some(values: Any) -> Found:
    """A list has members."""
    if not values:
        yield (), "is empty; at least one is needed"


def text(value: str) -> Found:
    """A text says something, and a program can be given it."""
    if not value:
        yield (), "is empty"
    elif "\0" in value:
        yield (), "has a NUL character"


def line(value: str) -> Found:
    """A text is one line that can be shown."""
    if not value.strip():
        yield (), "is empty"
    elif not value.isprintable() or len(value) > MAX_NAME:
        yield (), f"must be one printable line of at most {MAX_NAME} characters"


def name(value: str) -> Found:
    """A name can be that of a directory."""
    if value in RESERVED:
        yield (), f"{value} is reserved"
    elif not re.fullmatch(NAME[1:-1], value):
        yield (), f"{shown(value)!r} is no name: letters, digits, _ . - and none of . - at its beginning"
    elif len(value) > MAX_NAME:
        yield (), f"is longer than {MAX_NAME} characters"


def mitigation(value: str) -> Found:
    """A mitigation is named."""
    variable, equals, _ = value.partition("=")
    if equals:
        # What is behind may be a secret.
        yield (), f"{shown(variable)}=… is no name; {defined_as(variable)}"
    else:
        yield from name(value)


def defined_as(variable: str) -> str:
    """Return how a variable is set by a mitigation of the recipe's own."""
    example = f'mitigations: {{NAME: {{{shown(variable)}: "VALUE"}}}}'
    return f"to set a variable, define a mitigation in the recipe, as in {example}"


def names(values: Mapping[str, Any]) -> Found:
    """Each key is a name."""
    for each in values:
        for _, told in name(each):
            yield (each,), told


def environment(value: Any) -> Found:
    """An environment is named or described."""
    if isinstance(value, str):
        yield from name(value)


def variables(values: Iterable[str]) -> Found:
    """Each is the name of a variable; the values of a mapping can be given, and are not shown."""
    named = values if isinstance(values, Mapping) else None
    for at, name in enumerate(values):
        place: Path = (at,) if named is None else (name,)
        if not re.fullmatch(VARIABLE[1:-1], name):
            yield place, f"{shown(name)!r} is no name of a variable: letters, digits and _, no digit first"
        elif named is not None and "\0" in named[name]:
            yield place, "the value has a NUL character"


def doubles(change: Change) -> Iterator[tuple[str, str]]:
    """Yield the parts of a change (``set``) that name a variable which another part has named."""
    first: dict[str, str] = {}
    for part, names in (("set", change.set), ("unset", change.unset), ("prepend", change.prepend)):
        for name in names:
            if first.setdefault(name, part) != part:
                yield part, f"{shown(name)} is in {first[name]} too; only one of them"


def config(values: Mapping[str, Any]) -> Found:
    """No key of a config is one that aorta gives."""
    for name in values:
        if name == "steps":
            yield (name,), "steps is a key of the recipe and of a cell, not of workload_config"
        elif name.startswith("_aorta_"):
            yield (name,), "keys that begin with _aorta_ are aorta's own"


def regex(value: str) -> Found:
    """A text is a regular expression."""
    try:
        compiled(value)
    except ValueError as error:
        yield (), str(error)


def step_regex(value: str) -> Found:
    """A text is a regular expression that says where the time of a step is."""
    try:
        pattern = compiled(value)
    except ValueError as error:
        yield (), str(error)
        return
    named = [name for name in ("ms", "s") if name in pattern.groupindex]
    if pattern.groups != 1 and len(named) != 1:
        yield (
            (),
            (
                "must have exactly one group, the milliseconds of a step, or one that is named ms or s: "
                "step (?P<ms>[0-9.]+) ms"
            ),
        )


def compiled(text: str) -> re.Pattern[str]:
    """Return a regular expression. Raises ValueError with what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(text)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"is no regular expression: {error or 'too large'}") from None


def condition(value: str) -> Found:
    """A text is a condition."""
    try:
        compile_condition(value)
    except ConditionError as error:
        yield (), str(error)


def detectors(values: tuple[str, ...]) -> Found:
    """Each text is the name of a detector."""
    for at, value in enumerate(values):
        fault = detector_fault(value)
        if fault:
            yield (at,), fault


def collectors(values: Mapping[str, Any]) -> Found:
    """Each key is the name of a collector."""
    for name in values:
        if name not in COLLECTORS:
            yield (name,), f"{shown(name)!r} is no collector; allowed: {', '.join(COLLECTORS)}"


def command(values: tuple[str, ...]) -> Found:
    """The words of a command can be run."""
    for at, value in enumerate(values):
        if "\0" in value:
            yield (at,), "has a NUL character"
        elif at == 0 and not value:
            yield (at,), "is empty; it is the program to be run"
        elif at == 0 and value.startswith("-"):
            yield (at,), f"{shown(value)!r} looks like an option; it is the program to be run"
