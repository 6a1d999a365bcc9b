"""Cells that differ in name only."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from aorta.sweep.planning.checking.problem import Problem, warning
from aorta.sweep.planning.overlay import environ_under, overlay_of
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import PLACES


def check_alike(plan: Plan, environ: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the cells that run the same: in one place, with the same variables and config."""
    groups: dict[Hashable, list[str]] = {}
    for cell in plan.cells:
        groups.setdefault(_what_runs(cell, environ), []).append(cell.name)
    for names in groups.values():
        if len(names) > 1:
            yield warning("run the same: all of their variables end alike, and nothing else differs", *names)


def _what_runs(cell: PlannedCell, environ: Mapping[str, str]) -> Hashable:
    place = cell.environment
    variables = environ_under(overlay_of(cell.layers, environ), environ)
    return (
        tuple(getattr(place, field) for field in PLACES),
        frozenset(variables.items()),
        cell.steps,
        _hashable(cell.workload_config),
    )


def _hashable(value: Any) -> Hashable:
    if isinstance(value, Mapping):
        return frozenset((name, _hashable(one)) for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(one) for one in value)
    return (type(value).__name__, repr(value))
