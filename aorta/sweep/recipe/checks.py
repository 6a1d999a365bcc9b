"""What a value of each key must be beside its type, with what a JSON Schema can say of it."""

import functools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.recipe import model
from aorta.sweep.recipe.condition import ConditionError, compile_condition
from aorta.sweep.recipe.detectors import COLLECTORS, TIERS, detector_fault
from aorta.sweep.recipe.problems import Path, shown

NAME: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*$"
VARIABLE: Final = r"^[A-Za-z_][A-Za-z0-9_]*$"
#: A cell's name is that of a directory, which has 255 bytes in all.
MAX_NAME: Final = 200
#: These stand beside the directories of cells, or are none.
RESERVED: Final = (".", "..", "matrix.md", "matrix.json")

Found = Iterator[tuple[Path, str]]


@frozen
class Check:
    """``test`` yields what is wrong with a value, by path from it; ``schema`` is the same for editors."""

    test: Callable[[Any], Iterable[tuple[Path, str]]]
    schema: Mapping[str, Any] = attrs.field(factory=dict)


def checks_of(cls: type[Any], name: str) -> tuple[Check, ...]:
    """Return the checks of a member of a class."""
    return _table().get((cls, name), ())


def _at_least(least: int) -> Check:
    def test(value: float) -> Found:
        if value < least:
            yield (), f"is {value:g}; the least is {least}"

    return Check(test=test, schema={"minimum": least})


def _above_zero(value: float) -> Found:
    if value <= 0:
        yield (), f"is {value:g}; it must be more than 0"


def _one_of(words: Iterable[str]) -> Check:
    known = tuple(words)

    def test(value: str) -> Found:
        if value not in known:
            yield (), f"is {shown(value)!r}; allowed: {', '.join(known)}"

    return Check(test=test, schema={"enum": list(known)})


def _each(check: Check) -> Check:
    """Return a check of each member of a list."""

    def test(values: Iterable[Any]) -> Found:
        for at, value in enumerate(values):
            for path, text in check.test(value):
                yield (at, *path), text

    return Check(test=test, schema={"items": check.schema})


def _once(values: tuple[str, ...]) -> Found:
    for at, value in enumerate(values):
        if value in values[:at]:
            yield (at,), f"{shown(value)} stands twice"


def _some(values: Any) -> Found:
    if not values:
        yield (), "is empty; at least one is needed"


def _text(value: str) -> Found:
    if not value:
        yield (), "is empty"
    elif "\0" in value:
        yield (), "has a NUL character"


def _line(value: str) -> Found:
    if not value.strip():
        yield (), "is empty"
    elif not value.isprintable() or len(value) > MAX_NAME:
        yield (), f"must be one printable line of at most {MAX_NAME} characters"


def _name(value: str) -> Found:
    if value in RESERVED:
        yield (), f"{value} is reserved"
    elif not re.fullmatch(NAME[1:-1], value):
        yield (), f"{shown(value)!r} is no name: letters, digits, _ . - and none of . - at its beginning"
    elif len(value) > MAX_NAME:
        yield (), f"is longer than {MAX_NAME} characters"


def _names(values: Mapping[str, Any]) -> Found:
    for name in values:
        for _, text in _name(name):
            yield (name,), text


def _environment(value: Any) -> Found:
    if isinstance(value, str):
        yield from _name(value)


def _variables(values: Iterable[str]) -> Found:
    """Check names of variables; of a mapping the values too, which are never shown."""
    named = values if isinstance(values, Mapping) else None
    for at, name in enumerate(values):
        place: Path = (at,) if named is None else (name,)
        if not re.fullmatch(VARIABLE[1:-1], name):
            yield place, f"{shown(name)!r} is no name of a variable: letters, digits and _, no digit first"
        elif named is not None and "\0" in named[name]:
            yield place, "the value has a NUL character"


def _config(values: Mapping[str, Any]) -> Found:
    for name in values:
        if name == "steps":
            yield (name,), "steps is a key of the recipe and of a cell, not of workload_config"
        elif name.startswith("_aorta_"):
            yield (name,), "keys that begin with _aorta_ are aorta's own"


def _regex(value: str) -> Found:
    try:
        compiled(value)
    except ValueError as error:
        yield (), str(error)


def _step_regex(value: str) -> Found:
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


def _condition(value: str) -> Found:
    try:
        compile_condition(value)
    except ConditionError as error:
        yield (), str(error)


def _detectors(values: tuple[str, ...]) -> Found:
    for at, value in enumerate(values):
        fault = detector_fault(value)
        if fault:
            yield (at,), fault


def _collectors(values: Mapping[str, Any]) -> Found:
    for name in values:
        if name not in COLLECTORS:
            yield (name,), f"{shown(name)!r} is no collector; allowed: {', '.join(COLLECTORS)}"


def _command(values: tuple[str, ...]) -> Found:
    for at, value in enumerate(values):
        if "\0" in value:
            yield (at,), "has a NUL character"
        elif at == 0 and not value:
            yield (at,), "is empty; it is the program to be run"
        elif at == 0 and value.startswith("-"):
            yield (at,), f"{shown(value)!r} looks like an option; it is the program to be run"


@functools.cache
def _table() -> Mapping[tuple[type[Any], str], tuple[Check, ...]]:
    seconds = Check(test=_above_zero, schema={"exclusiveMinimum": 0})
    count, not_negative = _at_least(1), _at_least(0)
    name = Check(test=_name, schema={"pattern": NAME, "maxLength": MAX_NAME})
    some, once = Check(test=_some, schema={"minItems": 1}), Check(test=_once, schema={"uniqueItems": True})
    text = Check(test=_text, schema={"minLength": 1})
    line = Check(test=_line, schema={"minLength": 1, "maxLength": MAX_NAME})
    names = Check(test=_names, schema={"propertyNames": name.schema})
    variables = Check(test=_variables, schema={"propertyNames": {"pattern": VARIABLE}})
    config = Check(test=_config, schema={"propertyNames": {"not": {"pattern": r"^(steps$|_aorta_)"}}})
    collectors = Check(test=_collectors)
    axis, retained, fields = (some, once, _each(name)), _one_of(model.RETAINED), (text,)
    return {
        (model.Recipe, "schema_version"): (_version(),),
        (model.Recipe, "mode"): (_one_of(model.MODES),),
        (model.Recipe, "ticket"): (line,),
        (model.Recipe, "workload"): (line,),
        (model.Recipe, "trials"): (count,),
        (model.Recipe, "steps"): (count,),
        (model.Recipe, "cells"): (Check(test=_some, schema={"minItems": 1}),),
        (model.Recipe, "workload_config"): (config,),
        (model.Recipe, "collect"): (collectors,),
        (model.Recipe, "extra_env"): (variables,),
        (model.Recipe, "trial_isolation"): (_one_of(model.ISOLATIONS),),
        (model.Recipe, "trial_timeout"): (seconds,),
        (model.Recipe, "mitigation_axis"): axis,
        (model.Recipe, "diagnostic_axis"): axis,
        (model.Recipe, "command"): (some, Check(test=_command)),
        (model.Recipe, "timeout_per_trial"): (seconds,),
        (model.Recipe, "env_passthrough_mode"): (_one_of(model.PASSTHROUGHS),),
        (model.Recipe, "step_time_regex"): (Check(test=_step_regex, schema={"format": "regex"}),),
        (model.Recipe, "collect_paths"): (_each(text),),
        (model.Recipe, "custom_patterns"): (some,),
        (model.Recipe, "hang_window_sec"): (seconds,),
        (model.Recipe, "hang_grace_period_at_start"): (not_negative,),
        (model.Recipe, "disable_detectors"): (Check(test=_detectors),),
        (model.Recipe, "disable_detector_tiers"): (_each(_one_of(TIERS)),),
        (model.Recipe, "only"): (once,),
        (model.Recipe, "skip"): (once,),
        (model.Recipe, "order"): (_one_of(model.ORDERS),),
        (model.Recipe, "warmup_steps"): (not_negative,),
        (model.Recipe, "mitigations"): (names,),
        (model.Recipe, "environments"): (names,),
        (model.Confound, "threshold"): (seconds,),
        (model.StopAfter, "events"): (count,),
        (model.StopAfter, "max_trials"): (count,),
        (model.StopAfter, "event_verdict"): (_one_of(model.VERDICTS),),
        (model.CellRecipe, "name"): (name,),
        (model.CellRecipe, "mitigations"): axis,
        (model.CellRecipe, "environment"): (Check(test=_environment),),
        (model.CellRecipe, "extra_env"): (variables,),
        (model.CellRecipe, "trials"): (count,),
        (model.CellRecipe, "steps"): (count,),
        (model.CellRecipe, "workload_config"): (config,),
        (model.CellRecipe, "collect"): (collectors,),
        (model.InlineEnvironment, "docker"): (text,),
        (model.InlineEnvironment, "env"): (variables,),
        **{
            (model.EnvironmentRecipe, field): fields
            for field in ("docker", "venv", "buck_target", "emulator", "mirage_profile")
        },
        (model.Change, "set"): (variables,),
        (model.Change, "unset"): (Check(test=_variables, schema={"items": {"pattern": VARIABLE}}), once),
        (model.Change, "prepend"): (variables,),
        (model.Match, "regex"): (Check(test=_regex, schema={"format": "regex"}),),
        (model.Match, "condition"): (Check(test=_condition, schema={"maxLength": 256}),),
        (model.CustomPattern, "id"): (name,),
        (model.CustomPattern, "on_match"): (_one_of(model.ON_MATCH),),
        **{(model.Retain, field): (retained,) for field in ("on_fail", "on_pass", "on_error")},
        (model.Redaction, "scrub_env_keys"): (_each(text),),
    }


def _version() -> Check:
    def test(value: int) -> Found:
        if value != model.SCHEMA_VERSION:
            yield (), f"is {value}; this aorta reads {model.SCHEMA_VERSION}"

    return Check(test=test, schema={"const": model.SCHEMA_VERSION})
