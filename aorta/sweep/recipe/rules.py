"""What the values of a recipe must be to each other: one small function for each rule."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from aorta.sweep.recipe.cells import all_cells, cells_of
from aorta.sweep.recipe.condition import compile_condition
from aorta.sweep.recipe.model import PROBE, Change, Recipe
from aorta.sweep.recipe.problems import Path, shown
from aorta.sweep.recipe.values import MAX_NAME, compiled, doubles

Found = Iterator[tuple[Path, str]]
Collected = Mapping[str, Mapping[str, str] | None] | None


class Rule(NamedTuple):
    """``test`` yields what is wrong. It is asked when the keys that it looks at are sound."""

    test: Callable[[Recipe], Iterable[tuple[Path, str]]]
    keys: frozenset[str]


#: What makes the cells.
_CELLS: Final = ("mode", "cells", "mitigation_axis", "diagnostic_axis")


def faults_of(recipe: Recipe, unsound: frozenset[str] = frozenset()) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong between the values of a recipe; ``unsound`` are keys with faults of their own."""
    for rule in RULES:
        if not rule.keys & unsound:
            yield from rule.test(recipe)


def _names_differ(recipe: Recipe) -> Found:
    seen: dict[str, Path] = {}
    for at, cell in enumerate(all_cells(recipe)):
        place: Path = ("mitigation_axis",) if recipe.mode == PROBE else ("cells", at, "name")
        if cell.name in seen:
            yield place, f"two cells are named {shown(cell.name)}"
        elif recipe.mode == PROBE and len(cell.name) > MAX_NAME:
            yield place, f"the cell's name {shown(cell.name)} is longer than {MAX_NAME} characters"
        seen.setdefault(cell.name, place)


def _selection_is_of_cells(recipe: Recipe) -> Found:
    names = [cell.name for cell in all_cells(recipe)]
    for key, chosen in (("only", recipe.only), ("skip", recipe.skip)):
        for at, name in enumerate(chosen):
            if name not in names:
                yield (key, at), _no_cell(name, names)


def _something_is_left(recipe: Recipe) -> Found:
    names = {cell.name for cell in all_cells(recipe)}
    if names.issuperset((*recipe.only, *recipe.skip)) and names and not cells_of(recipe):
        yield ("only" if recipe.only else "skip",), "no cell is left to be run"


def _baseline_is_a_cell(recipe: Recipe) -> Found:
    baseline = recipe.confound.baseline_cell
    names = [cell.name for cell in cells_of(recipe)]
    if baseline is None or baseline in names or not names:
        return
    place: Path = ("confound", "baseline_cell")
    if baseline in [cell.name for cell in all_cells(recipe)]:
        # A cell by itself is compared with nothing.
        if len(names) > 1:
            yield place, f"{shown(baseline)} is the baseline, and only or skip leaves it out"
    else:
        yield place, _no_cell(baseline, names)


def _no_cell(name: str, names: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, names, n=1)
    listed = ", ".join(map(shown, names[:20])) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    hint = f"did you mean {shown(close[0])}? " if close else ""
    return f"{shown(name)!r} is no cell; {hint}cells: {listed or 'none'}"


def _stop_after_can_end(recipe: Recipe) -> Found:
    stop = recipe.stop_after
    if stop is not None and stop.max_trials < stop.events:
        yield (
            ("stop_after", "max_trials"),
            f"is {stop.max_trials}, fewer than the {stop.events} events that are waited for",
        )


def _stop_after_counts_trials(recipe: Recipe) -> Found:
    if recipe.stop_after is None:
        return
    for at, cell in enumerate(recipe.cells):
        if cell.trials is not None:
            yield ("cells", at, "trials"), "stop_after.max_trials says how many; leave out one of them"


def _patterns_differ(recipe: Recipe) -> Found:
    seen: set[str] = set()
    for at, pattern in enumerate(recipe.custom_patterns):
        if pattern.id in seen:
            yield ("custom_patterns", at, "id"), f"two patterns have the id {pattern.id}"
        seen.add(pattern.id)


def _required_can_pass(recipe: Recipe) -> Found:
    for at, pattern in enumerate(recipe.custom_patterns):
        if pattern.required_for_pass and pattern.on_match == "fail":
            yield (
                ("custom_patterns", at, "on_match"),
                (
                    "fails the trial, and required_for_pass fails it without a match: no trial could pass; "
                    "leave on_match out, or set it to info"
                ),
            )


def _conditions_name_groups(recipe: Recipe) -> Found:
    for at, pattern in enumerate(recipe.custom_patterns):
        if pattern.match.condition is None:
            continue
        groups = compiled(pattern.match.regex).groupindex
        for name in compile_condition(pattern.match.condition).captures:
            if name not in groups:
                known = ", ".join(groups) or "none: write (?P<NAME>...)"
                yield (
                    ("custom_patterns", at, "match", "condition"),
                    f"{shown(name)} is no group of the regex; its groups: {known}",
                )


def _collectors_agree(recipe: Recipe) -> Found:
    scopes: list[tuple[Path, Collected]] = [(("collect",), recipe.collect)]
    scopes += [(("cells", at, "collect"), cell.collect) for at, cell in enumerate(recipe.cells)]
    for place, collect in scopes:
        if collect is None or not {"rocprof", "proton"} <= set(collect):
            continue
        if (collect["proton"] or {}).get("backend") != "instrumentation":
            yield (
                place,
                (
                    "rocprof and proton both take over the queues; "
                    "leave out one, or set proton's backend: instrumentation"
                ),
            )


def _changes_are_plain(recipe: Recipe) -> Found:
    changes: list[tuple[Path, Change]] = [
        (("mitigations", name), change) for name, change in recipe.mitigations.items()
    ]
    changes += [(("environments", name, "env"), made.env) for name, made in recipe.environments.items()]
    for place, change in changes:
        yield from (((*place, part), text) for part, text in doubles(change))


def _rule(test: Callable[[Recipe], Any], *keys: str) -> Rule:
    return Rule(test, frozenset(keys))


RULES: Final = (
    _rule(_names_differ, *_CELLS),
    _rule(_selection_is_of_cells, *_CELLS, "only", "skip"),
    _rule(_something_is_left, *_CELLS, "only", "skip"),
    _rule(_baseline_is_a_cell, *_CELLS, "only", "skip", "confound"),
    _rule(_stop_after_can_end, "stop_after"),
    _rule(_stop_after_counts_trials, "stop_after", "cells"),
    _rule(_patterns_differ, "custom_patterns"),
    _rule(_required_can_pass, "custom_patterns"),
    _rule(_conditions_name_groups, "custom_patterns"),
    _rule(_collectors_agree, "collect", "cells"),
    _rule(_changes_are_plain, "mitigations", "environments"),
)
