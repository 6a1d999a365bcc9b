"""Which cell the others are compared with."""

from collections.abc import Sequence

from aorta.sweep.recipe.cells import all_cells
from aorta.sweep.recipe.model import PROBE, CellRecipe, Recipe

PREFIX = "baseline-"
NOTHING = "none"


def baseline_of(recipe: Recipe, cells: Sequence[CellRecipe], problems: list[str]) -> str | None:
    """Return the name of the baseline among the cells that run; what is wrong goes to ``problems``.

    The one that the recipe names; else the first whose name begins with ``baseline-``; else the first
    that changes nothing (``none`` alone, of both axes); else the only one; else, of two axes, the first.
    Where ``only`` or ``skip`` leaves that one out, another may stand in for it only when its name says so
    or it changes nothing; else it is None: nothing is compared.
    """
    every = all_cells(recipe)
    names = [cell.name for cell in cells]
    baseline = recipe.confound.baseline_cell or _chosen(recipe, every)
    if baseline in names:
        return baseline
    if recipe.confound.baseline_cell is not None:
        # A cell by itself may be run without it.
        if len(names) > 1 or baseline not in {cell.name for cell in every}:
            problems.append(_absent(every, recipe.confound.baseline_cell))
        return None
    if baseline is None and len(names) > 1:
        problems.append(
            "there is no cell to compare the others with: name one in confound.baseline_cell, or add one "
            f"whose name begins with {PREFIX} or whose mitigations are [{NOTHING}]"
        )
    return next((cell.name for cell in cells if cell.name.startswith(PREFIX) or _is_plain(cell)), None)


def _chosen(recipe: Recipe, cells: Sequence[CellRecipe]) -> str | None:
    """Return the baseline of a recipe that names none, if all of its cells ran."""
    chosen = [cell.name for cell in cells if cell.name.startswith(PREFIX)] or [
        cell.name for cell in cells if set(cell.mitigations) == {NOTHING}
    ]
    if not chosen and (recipe.mode == PROBE or len(cells) == 1):
        chosen = [cell.name for cell in cells]
    return chosen[0] if chosen else None


def _is_plain(cell: CellRecipe) -> bool:
    return set(cell.mitigations) == {NOTHING} and not cell.extra_env and not cell.workload_config


def _absent(every: Sequence[CellRecipe], name: str) -> str:
    if name in {cell.name for cell in every}:
        return (
            f"confound.baseline_cell {name} is not among the cells that run: take it in with --only {name}, "
            "or leave it out of --skip"
        )
    return f"confound.baseline_cell {name} is no cell of the recipe"
