"""``overlaid``: a recipe with what the command line says on top."""

from collections.abc import Iterator
from typing import Any, Final

from aorta.model.frozen import evolve, frozen
from aorta.sweep.recipe.checks import checks_of
from aorta.sweep.recipe.keys import COMMANDS, KEYS, allowed
from aorta.sweep.recipe.model import INTERLEAVED, Recipe, StopAfter
from aorta.sweep.recipe.problems import Problem, RecipeError, written
from aorta.sweep.recipe.rules import faults_of

#: The steps of a trial of ``--smoke``, at most.
SMOKE_STEPS: Final = 2


@frozen
class Options:
    """What the command line may say of a recipe; null and nothing leave the recipe's own.

    ``smoke`` is one trial of few steps in each cell; other options come on top of it. ``disable_detectors``
    are added to the recipe's, tiers (``tier3``) and detectors (``tier3:vram_growth``).
    """

    smoke: bool = False
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    trials: int | None = None
    steps: int | None = None
    ticket: str | None = None
    fail_fast: bool = False
    interleave: bool = False
    env_passthrough_mode: str | None = None
    stop_after_events: int | None = None
    max_trials: int | None = None
    disable_detectors: tuple[str, ...] = ()
    collect: tuple[str, ...] | None = None
    command: tuple[str, ...] = ()


#: The option that gives the value of a key.
_NAMES: Final = {
    "only": "--only",
    "skip": "--skip",
    "trials": "--trials",
    "steps": "--steps",
    "ticket": "--ticket",
    "fail_fast": "--fail-fast",
    "order": "--interleave",
    "env_passthrough_mode": "--env-passthrough-mode",
    "disable_detectors": "--disable-detector",
    "disable_detector_tiers": "--disable-detector",
    "collect": "--collect",
    "command": "COMMAND",
}
_STOP: Final = {"events": "--stop-after-events", "max_trials": "--max-trials"}


def overlaid(recipe: Recipe, options: Options) -> Recipe:
    """Return a recipe as options change it.

    Raises RecipeError, whose problems name options instead of places.
    """
    smoked = _smoked(recipe) if options.smoke else recipe
    problems = list(_contradictions(smoked, options))
    if problems:
        raise RecipeError(tuple(problems))
    changes = _changes(smoked, options)
    problems = list(_wrong_keys(smoked, changes))
    problems += [
        Problem(path=_option(key), text=f"{written(path)}: {text}" if path else text)
        for key, value in changes.items()
        for path, text in _checked(key, value)
    ]
    if problems:
        raise RecipeError(tuple(problems))
    made = evolve(smoked, **changes)
    problems = [Problem(path=_told_as(path, changes, options), text=text) for path, text in faults_of(made)]
    if problems:
        raise RecipeError(tuple(problems))
    return made


def _smoked(recipe: Recipe) -> Recipe:
    cells = tuple(
        evolve(cell, trials=None, steps=None if cell.steps is None else min(cell.steps, SMOKE_STEPS))
        for cell in recipe.cells
    )
    return evolve(recipe, trials=1, steps=min(recipe.steps, SMOKE_STEPS), stop_after=None, cells=cells)


def _contradictions(recipe: Recipe, options: Options) -> Iterator[Problem]:
    stop = recipe.stop_after
    if options.stop_after_events is not None and options.max_trials is None and stop is None:
        yield Problem(
            path="--stop-after-events", text="needs --max-trials, since the recipe has no stop_after"
        )
    if options.max_trials is not None and options.stop_after_events is None and stop is None:
        yield Problem(
            path="--max-trials", text="needs --stop-after-events, since the recipe has no stop_after"
        )
    stops = stop is not None or options.stop_after_events is not None
    if options.trials is not None and stops:
        yield Problem(path="--trials", text="means nothing with stop_after; give --max-trials")


def _changes(recipe: Recipe, options: Options) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key in ("trials", "steps", "ticket", "env_passthrough_mode"):
        if getattr(options, key) is not None:
            changes[key] = getattr(options, key)
    for key in ("only", "skip", "command", "fail_fast"):
        if getattr(options, key):
            changes[key] = getattr(options, key)
    if options.interleave:
        changes["order"] = INTERLEAVED
    if options.collect is not None:
        own = recipe.collect or {}
        changes["collect"] = {name: own.get(name) for name in options.collect}
    changes.update(_detectors(recipe, options.disable_detectors))
    changes.update(_stop(recipe, options))
    cells = _cells(recipe, options, changes)
    return changes if cells == recipe.cells else {**changes, "cells": cells}


def _cells(recipe: Recipe, options: Options, changes: dict[str, Any]) -> tuple[Any, ...]:
    """Return the cells without values of their own for what an option says for all."""
    none: dict[str, Any] = {
        key: None for key in ("trials", "steps", "collect") if getattr(options, key) is not None
    }
    if "stop_after" in changes:
        none["trials"] = None
    return tuple(evolve(cell, **none) for cell in recipe.cells)


def _detectors(recipe: Recipe, disabled: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, named in (("disable_detectors", True), ("disable_detector_tiers", False)):
        added = tuple(name for name in disabled if (":" in name) is named)
        if added:
            found[key] = tuple(dict.fromkeys((*getattr(recipe, key), *added)))
    return found


def _stop(recipe: Recipe, options: Options) -> dict[str, Any]:
    events, most = options.stop_after_events, options.max_trials
    if events is None and most is None:
        return {}
    stop = recipe.stop_after or StopAfter(events=1, max_trials=1)
    given = {name: value for name, value in (("events", events), ("max_trials", most)) if value is not None}
    return {"stop_after": evolve(stop, **given)}


def _wrong_keys(recipe: Recipe, changes: dict[str, Any]) -> Iterator[Problem]:
    may = allowed(recipe.mode, recipe.workload)
    for key in changes:
        if key not in may:
            use = "a command" if KEYS[key] == COMMANDS else "a workload"
            yield Problem(path=_option(key), text=f"is for recipes that run {use}; this one does not")


def _checked(key: str, value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, StopAfter):
        for name in _STOP:
            for check in checks_of(StopAfter, name):
                yield from ((("stop_after", name), text) for _, text in check.test(getattr(value, name)))
    elif key != "cells":
        for check in checks_of(Recipe, key):
            yield from check.test(value)


def _option(key: str) -> str:
    return _NAMES.get(key, "--stop-after-events")


def _told_as(path: tuple[str | int, ...], changes: dict[str, Any], options: Options) -> str:
    """Return the option that is at fault where it is one, else the place in the recipe."""
    if path[0] == "stop_after" and "stop_after" in changes:
        return _STOP["events" if options.max_trials is None else "max_trials"]
    if path[0] in changes and path[0] in _NAMES:
        return _NAMES[str(path[0])]
    chosen = [_NAMES[key] for key in ("only", "skip") if key in changes]
    return (
        f"{written(path)} with {' and '.join(chosen)}" if path[0] == "confound" and chosen else written(path)
    )
