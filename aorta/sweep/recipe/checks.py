"""What a value of each key must be beside its type, with what a JSON Schema can say of it."""

import functools
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from aorta.sweep.command.catalogue import TIERS
from aorta.sweep.outcome import VERDICTS
from aorta.sweep.recipe import model
from aorta.sweep.recipe import values as of
from aorta.sweep.recipe.problems import Path, shown
from aorta.sweep.recipe.values import MAX_NAME, NAME, VARIABLE, Found

Members = Mapping[tuple[type[Any], str], tuple["Check", ...]]


class Check(NamedTuple):
    """``test`` yields what is wrong with a value, by path from it; ``schema`` is the same for editors."""

    test: Callable[[Any], Iterable[tuple[Path, str]]]
    schema: Mapping[str, Any] = MappingProxyType({})


def checks_of(cls: type[Any], name: str) -> tuple[Check, ...]:
    """Return the checks of a member of a class."""
    return _table().get((cls, name), ())


def _at_least(least: int) -> Check:
    def test(value: float) -> Found:
        if value < least:
            yield (), f"is {value:g}; the least is {least}"

    return Check(test=test, schema={"minimum": least})


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


def _version() -> Check:
    def test(value: int) -> Found:
        if value != model.SCHEMA_VERSION:
            yield (), f"is {value}; this aorta reads {model.SCHEMA_VERSION}"

    return Check(test=test, schema={"const": model.SCHEMA_VERSION})


_SECONDS = Check(test=of.above_zero, schema={"exclusiveMinimum": 0})
_COUNT, _NOT_NEGATIVE = _at_least(1), _at_least(0)
_NAME = Check(test=of.name, schema={"pattern": NAME, "maxLength": MAX_NAME})
_SOME = Check(test=of.some, schema={"minItems": 1})
_ONCE = Check(test=of.once, schema={"uniqueItems": True})
_TEXT = Check(test=of.text, schema={"minLength": 1})
_LINE = Check(test=of.line, schema={"minLength": 1, "maxLength": MAX_NAME})
_NAMES = Check(test=of.names, schema={"propertyNames": _NAME.schema})
_VARIABLES = Check(test=of.variables, schema={"propertyNames": {"pattern": VARIABLE}})
_CONFIG = Check(test=of.config, schema={"propertyNames": {"not": {"pattern": r"^(steps$|_aorta_)"}}})
_COLLECTORS = Check(test=of.collectors)
_AXIS = (_SOME, _ONCE, _each(Check(test=of.mitigation, schema=_NAME.schema)))


@functools.cache
def _table() -> Members:
    return {**_of_either(), **_of_triage(), **_of_commands(), **_of_definitions()}


def _of_either() -> Members:
    return {
        (model.Recipe, "schema_version"): (_version(),),
        (model.Recipe, "mode"): (_one_of(model.MODES),),
        (model.Recipe, "ticket"): (_LINE,),
        (model.Recipe, "trials"): (_COUNT,),
        (model.Recipe, "collect"): (_COLLECTORS,),
        (model.Recipe, "only"): (_ONCE,),
        (model.Recipe, "skip"): (_ONCE,),
        (model.Recipe, "order"): (_one_of(model.ORDERS),),
        (model.Recipe, "warmup_steps"): (_NOT_NEGATIVE,),
        (model.Confound, "threshold"): (_SECONDS,),
        (model.StopAfter, "events"): (_COUNT,),
        (model.StopAfter, "max_trials"): (_COUNT,),
        (model.StopAfter, "event_verdict"): (_one_of(VERDICTS),),
    }


def _of_triage() -> Members:
    return {
        (model.Recipe, "workload"): (_LINE,),
        (model.Recipe, "steps"): (_COUNT,),
        (model.Recipe, "cells"): (_SOME,),
        (model.Recipe, "workload_config"): (_CONFIG,),
        (model.Recipe, "extra_env"): (_VARIABLES,),
        (model.Recipe, "trial_isolation"): (_one_of(model.ISOLATIONS),),
        (model.Recipe, "trial_timeout"): (_SECONDS,),
        (model.CellRecipe, "name"): (_NAME,),
        (model.CellRecipe, "mitigations"): _AXIS,
        (model.CellRecipe, "environment"): (Check(test=of.environment),),
        (model.CellRecipe, "extra_env"): (_VARIABLES,),
        (model.CellRecipe, "trials"): (_COUNT,),
        (model.CellRecipe, "steps"): (_COUNT,),
        (model.CellRecipe, "workload_config"): (_CONFIG,),
        (model.CellRecipe, "collect"): (_COLLECTORS,),
        (model.InlineEnvironment, "docker"): (_TEXT,),
        (model.InlineEnvironment, "env"): (_VARIABLES,),
    }


def _of_commands() -> Members:
    retained = (_one_of(model.RETAINED),)
    return {
        (model.Recipe, "mitigation_axis"): _AXIS,
        (model.Recipe, "diagnostic_axis"): _AXIS,
        (model.Recipe, "command"): (_SOME, Check(test=of.command)),
        (model.Recipe, "timeout_per_trial"): (_SECONDS,),
        (model.Recipe, "env_passthrough_mode"): (_one_of(model.PASSTHROUGHS),),
        (model.Recipe, "step_time_regex"): (Check(test=of.step_regex, schema={"format": "regex"}),),
        (model.Recipe, "collect_paths"): (_each(_TEXT),),
        (model.Recipe, "custom_patterns"): (_SOME,),
        (model.Recipe, "hang_window_sec"): (_SECONDS,),
        (model.Recipe, "hang_grace_period_at_start"): (_NOT_NEGATIVE,),
        (model.Recipe, "disable_detectors"): (Check(test=of.detectors),),
        (model.Recipe, "disable_detector_tiers"): (_each(_one_of(TIERS)),),
        (model.Match, "regex"): (Check(test=of.regex, schema={"format": "regex"}),),
        (model.Match, "condition"): (Check(test=of.condition, schema={"maxLength": 256}),),
        (model.CustomPattern, "id"): (_NAME,),
        (model.CustomPattern, "on_match"): (_one_of(model.ON_MATCH),),
        **{(model.Retain, field): retained for field in ("on_fail", "on_pass", "on_error")},
        (model.Redaction, "scrub_env_keys"): (_each(_TEXT),),
    }


def _of_definitions() -> Members:
    return {
        (model.Recipe, "mitigations"): (_NAMES,),
        (model.Recipe, "environments"): (_NAMES,),
        **{(model.EnvironmentRecipe, field): (_TEXT,) for field in model.PLACES},
        (model.Change, "set"): (_VARIABLES,),
        (model.Change, "unset"): (Check(test=of.variables, schema={"items": {"pattern": VARIABLE}}), _ONCE),
        (model.Change, "prepend"): (_VARIABLES,),
    }
