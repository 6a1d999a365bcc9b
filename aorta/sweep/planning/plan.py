"""``Plan``: a recipe with every name resolved: cells, their trials, and the order of these."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from aorta.model.frozen import frozen
from aorta.model.text import listed
from aorta.sweep.definitions.registry import VENV, Environment, Mitigation, Registries
from aorta.sweep.errors import PlanError, RegistryError
from aorta.sweep.planning.overlay import Layer, conflicts
from aorta.sweep.recipe.model import COMMAND, INTERLEAVED, PROBE, CellRecipe, Change, Recipe, StopAfter


@frozen
class PlannedCell:
    """One cell. ``layers`` are in their order, lowest first; ``diagnostic`` is of ``mode: probe``.

    ``mitigations`` are the cell's without the diagnostic. ``trials`` are the most that it may have, with
    ``stop_after`` that rule's.
    """

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
    """What is run. ``isolation`` is in_process or process; ``baseline`` is a cell's name, or None.

    Without a baseline nothing is compared.
    """

    recipe: Recipe
    workload: str
    isolation: str
    cells: tuple[PlannedCell, ...]
    baseline: str | None


def make_plan(recipe: Recipe, registries: Registries) -> Plan:
    """Return what a recipe runs. Raises PlanError with all that is wrong, RecipeError for its cells."""
    from aorta.sweep.planning.baseline import baseline_of
    from aorta.sweep.planning.isolation import isolation_of
    from aorta.sweep.recipe.cells import cells_of

    faults: dict[str, list[str]] = {}
    wanted = cells_of(recipe)
    cells = [cell for one in wanted if (cell := _planned(recipe, one, registries, faults)) is not None]
    problems = [f"{_cells(names)}: {fault}" for fault, names in faults.items()]
    problems += _same_folder(cells)
    baseline = baseline_of(recipe, wanted, problems)
    isolation = isolation_of(recipe, cells, problems)
    if problems:
        raise PlanError(dict.fromkeys(problems))
    return Plan(
        recipe=recipe,
        workload=_workload(recipe),
        isolation=isolation,
        cells=tuple(cells),
        baseline=baseline,
    )


def sequence(plan: Plan) -> Iterator[tuple[PlannedCell, int]]:
    """Yield cell and number of each trial in the order in which they run.

    Interleaved: the first trial of every cell, then the second; a cell that has fewer is left out then.
    What ``stop_after`` ends is the runner's to skip.
    """
    if plan.recipe.order == INTERLEAVED:
        for trial in range(max((cell.trials for cell in plan.cells), default=0)):
            yield from ((cell, trial) for cell in plan.cells if trial < cell.trials)
    else:
        for cell in plan.cells:
            yield from ((cell, trial) for trial in range(cell.trials))


def _cells(names: Sequence[str]) -> str:
    return f"cell{'s' if len(names) > 1 else ''} {listed(names)}"


def _workload(recipe: Recipe) -> str:
    return COMMAND if recipe.mode == PROBE else recipe.workload


def _planned(
    recipe: Recipe, cell: CellRecipe, registries: Registries, faults: dict[str, list[str]]
) -> PlannedCell | None:
    """Return a cell with its names resolved; ``faults`` gets what is wrong, with the cells' names."""
    probes = recipe.mode == PROBE
    try:
        environment = _environment(cell, registries)
        mitigations = [registries.mitigation(name) for name in dict.fromkeys(cell.mitigations)]
    except RegistryError as error:
        for fault in error.problems:
            faults.setdefault(fault, []).append(cell.name)
        return None
    changes = [_layer(one) for one in mitigations]
    for conflict in conflicts(changes):
        fault = f"{conflict}; only extra_env may change what a mitigation does"
        faults.setdefault(fault, []).append(cell.name)
    stop_after = recipe.stop_after
    return PlannedCell(
        name=cell.name,
        mitigations=cell.mitigations[:1] if probes else cell.mitigations,
        diagnostic=cell.mitigations[1] if probes else None,
        environment=environment,
        layers=(*_layers_of(environment), *changes, *_extra(recipe, cell)),
        trials=stop_after.max_trials if stop_after else cell.trials or recipe.trials,
        steps=1 if probes else cell.steps or recipe.steps,
        workload_config={**recipe.workload_config, **cell.workload_config},
        stop_after=stop_after,
    )


def _environment(cell: CellRecipe, registries: Registries) -> Environment:
    if isinstance(cell.environment, str):
        return registries.environment(cell.environment)
    inline = cell.environment
    return Environment(
        name=inline_name(inline.docker, inline.env),
        docker=inline.docker,
        env=Change(set=inline.env),
        source="recipe",
        summary="written in a cell",
    )


def inline_name(docker: str, env: Mapping[str, str]) -> str:
    """Return the name of an environment that a cell describes itself: the same for the same description."""
    from hashlib import blake2b

    digest = blake2b(docker.encode("utf-8", "surrogateescape"), digest_size=4)
    if env:
        import json

        digest.update(b"\0" + json.dumps(dict(env), sort_keys=True, separators=(",", ":")).encode())
    return f"_inline_{digest.hexdigest()}"


def _layer(mitigation: Mitigation) -> Layer:
    return Layer(source=f"mitigation {mitigation.name}", change=mitigation.change, owner=mitigation.source)


def _layers_of(environment: Environment) -> list[Layer]:
    """Return the layers of an environment; those of a virtual one are what its ``activate`` does."""
    source = f"environment {environment.name}"
    own = Layer(source=source, change=environment.env, owner=environment.source)
    folder = environment.folder
    if environment.boundary != VENV or folder is None:
        return [own]
    entered = Change(set={"VIRTUAL_ENV": folder}, prepend={"PATH": f"{folder}/bin"}, unset=("PYTHONHOME",))
    return [Layer(source=source, change=entered, owner=environment.source), own]


def _extra(recipe: Recipe, cell: CellRecipe) -> Iterator[Layer]:
    for source, variables in (("recipe extra_env", recipe.extra_env), ("cell extra_env", cell.extra_env)):
        if variables:
            yield Layer(source=source, change=Change(set=variables))


def _same_folder(cells: Sequence[PlannedCell]) -> Iterator[str]:
    """Yield what is wrong with environments that would write into one directory."""
    from aorta.sweep.slug import slug

    known: dict[str, Environment] = {}
    for cell in cells:
        place = cell.environment
        folder = slug(place.name)
        other = known.setdefault(folder, place)
        if other.name != place.name:
            yield f"environments {other.name} and {place.name}: both are kept in environments/{folder}"
