"""``Plan``: a recipe with every name resolved: cells, their trials, and the order of these."""

from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.overlay import Layer
from aorta.sweep.recipe.model import Recipe, StopAfter
from aorta.sweep.registry import Environment


@frozen
class PlannedCell:
    """One cell. ``layers`` are in their order, lowest first; ``diagnostic`` is of ``mode: probe``."""

    name: str
    mitigations: tuple[str, ...]
    environment: Environment
    layers: tuple[Layer, ...] = ()
    trials: int = 1
    steps: int = 1
    workload_config: Mapping[str, Any] = attrs.field(factory=dict)
    stop_after: StopAfter | None = None
    diagnostic: str | None = None


@frozen
class Plan:
    """What is run. ``isolation`` is in_process or process; ``baseline`` is a cell's name."""

    recipe: Recipe
    workload: str
    isolation: str
    cells: tuple[PlannedCell, ...]
    baseline: str
