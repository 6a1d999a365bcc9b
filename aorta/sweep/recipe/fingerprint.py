"""``fingerprint``: what tells two recipes apart that run different things."""

from collections.abc import Mapping
from typing import Any, Final

from aorta.model.frozen import is_model
from aorta.sweep.definitions.registry import Registries
from aorta.sweep.recipe.cells import cells_of
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.recipe.structure import fields_of

#: Keys that change neither what runs nor how it is judged, or that are counted as cells and definitions.
_NOT_COUNTED: Final = frozenset(
    {
        "ticket",
        "confound",
        "warmup_steps",
        "retain",
        "redaction",
        "resolved",
        "source",
        "sha256",
        "cells",
        "mitigation_axis",
        "diagnostic_axis",
        "only",
        "skip",
        "mitigations",
        "environments",
    }
)


def fingerprint(recipe: Recipe, definitions: Registries) -> str:
    """Return ``sha256:HEX`` of all that decides what runs and how a trial is judged.

    Counted are the cells that are left, with the changes and environments that their names stand for;
    trials and steps, stop_after, order and fail_fast; workload, its config, isolation, variables and
    collectors; the command, how it gets variables, its time limit, its patterns and detectors. Not counted
    are the ticket, the file and its place, the order of keys and of definitions, who defines a name,
    what is compared with what (confound, warmup_steps), what is kept (retain) and what bundles leave out
    (redaction).
    """
    import hashlib
    import json

    text = json.dumps(_counted(recipe, definitions), sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def differing(one: Recipe, other: Recipe, definitions: Registries) -> list[str]:
    """Return the keys in which recipes differ that have two fingerprints; both name ``definitions``."""
    first, second = _counted(one, definitions), _counted(other, definitions)
    return [name for name in first if first[name] != second[name]]


def _counted(recipe: Recipe, definitions: Registries) -> dict[str, Any]:
    cells = cells_of(recipe)
    counted = {name: getattr(recipe, name) for name, *_ in fields_of(Recipe) if name not in _NOT_COUNTED}
    document = {
        **counted,
        "cells": cells,
        "mitigations": {
            name: definitions.mitigations[name].change
            for cell in cells
            for name in cell.mitigations
            if name in definitions.mitigations
        },
        "environments": {
            cell.environment: _without_owner(definitions.environments[cell.environment])
            for cell in cells
            if isinstance(cell.environment, str) and cell.environment in definitions.environments
        },
    }
    plain: dict[str, Any] = _plain(document)
    return plain


def _without_owner(environment: Any) -> dict[str, Any]:
    return {
        name: getattr(environment, name)
        for name, *_ in fields_of(type(environment))
        if name not in {"source", "name", "summary"}
    }


def _plain(value: Any) -> Any:
    if is_model(type(value)):
        return {name: _plain(getattr(value, name)) for name, *_ in fields_of(type(value))}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
