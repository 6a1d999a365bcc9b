"""``load_recipe``: a file's recipe, or everything that is wrong with it."""

import re
from collections.abc import Iterator
from typing import Any

from aorta.sweep.recipe.document import Document, read_document
from aorta.sweep.recipe.faults import Fault, told
from aorta.sweep.recipe.keys import faulty_keys
from aorta.sweep.recipe.model import CellRecipe, Recipe
from aorta.sweep.recipe.problems import Path, Problem, RecipeError, is_secret
from aorta.sweep.recipe.rules import faults_of
from aorta.sweep.recipe.structure import structured

_PLAIN = re.compile(r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[^:]*[.][^:]*)")


def load_recipe(path: str) -> Recipe:
    """Return the recipe of a file.

    Raises RecipeError with all its problems: the file cannot be read, a key is unknown, missing or not for
    the mode, a value is not of its type or contradicts another.
    """
    document = read_document(path)
    recipe, faults = _recipe(document)
    if faults:
        raise RecipeError(tuple(_problems(document, faults)), path)
    return recipe


def _recipe(document: Document) -> tuple[Recipe, list[Fault]]:
    """Return the recipe, as far as it is sound, and the faults."""
    value = document.value
    if not isinstance(value, dict):
        return Recipe(), [Fault((), wanted="a mapping of keys to values", got=value)]
    faults = [Fault(path, text, key=key) for path, text, key in document.faults]
    faults += faulty_keys(value)
    refused = {fault.path[0] for fault in faults if len(fault.path) == 1}
    members = structured(Recipe, {key: each for key, each in value.items() if key not in refused}, faults)
    faults += _misread(document, faults)
    unsound = {str(fault.path[0]) for fault in faults if fault.path}
    if "cells" not in members and (names := _names(value.get("cells"))):
        members["cells"] = tuple(
            CellRecipe(name=name, mitigations=("none",), environment="local") for name in names
        )
        unsound.discard("cells")
    recipe = Recipe(**members, source=document.source, sha256=document.sha256)
    faults += [Fault(path, text) for path, text in faults_of(recipe, frozenset(unsound))]
    return recipe, faults


def _names(cells: Any) -> list[str]:
    """Return the names of cells of which some are unsound, if each has one: others may speak of them."""
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return []
    names = [cell.get("name") for cell in cells]
    return names if all(isinstance(name, str) for name in names) else []


def _misread(document: Document, faults: list[Fault]) -> Iterator[Fault]:
    """Yield numbers that YAML reads otherwise than they look: 010 is 8, and 1:30 is 90."""
    known = {fault.path for fault in faults}
    for path, spelled in document.spelled.items():
        value = _at(document.value, path)
        faulty = any(path[:depth] in known for depth in range(1, len(path) + 1))
        if type(value) in (int, float) and not faulty and not _PLAIN.fullmatch(spelled):
            yield Fault(path, f"YAML reads {spelled} as {value}: write {value}, or a text in quotes")


def _at(value: Any, path: Path) -> Any:
    """Return a value by its path; nothing for what was merged into the mapping above it."""
    for key in path:
        try:
            value = value[key]
        except (LookupError, TypeError):
            return None
    return value


def _problems(document: Document, faults: list[Fault]) -> Iterator[Problem]:
    """Yield faults in the order of the file, one for each place and text."""
    problems: dict[tuple[int, int, str, str], Problem] = {}
    for fault in faults:
        text = told(fault, document.spelled.get(fault.path), secret=is_secret(fault.path))
        problem = document.problem(fault.path, text, key=fault.key)
        problems.setdefault(_place(problem), problem)
    for place in sorted(problems):
        yield problems[place]


def _place(problem: Problem) -> tuple[int, int, str, str]:
    return problem.line or 0, problem.column or 0, problem.path, problem.text
