"""Which cell the others are compared with."""

from collections.abc import Sequence

from aorta.sweep.recipe.model import PROBE, CellRecipe, Recipe

PREFIX = "baseline-"
NOTHING = "none"


def baseline_of(recipe: Recipe, cells: Sequence[CellRecipe], problems: list[str]) -> str:
    """Return the name of the baseline among the cells that run; what is wrong goes to ``problems``.

    The one that the recipe names; else the first whose name begins with ``baseline-``; else the first
    that changes nothing (``none`` alone, of both axes); else the only one; else, of two axes, the first.
    """
    names = [cell.name for cell in cells]
    named = recipe.confound.baseline_cell
    if len(names) == 1:
        # Nothing is compared.
        return names[0]
    if named is not None:
        if named not in names:
            problems.append(_absent(recipe, named))
        return named
    chosen = [name for name in names if name.startswith(PREFIX)] or [
        cell.name for cell in cells if set(cell.mitigations) == {NOTHING}
    ]
    if chosen:
        return chosen[0]
    if recipe.mode == PROBE and names:
        return names[0]
    problems.append(
        "there is no cell to compare the others with: name one in confound.baseline_cell, or add one "
        f"whose name begins with {PREFIX} or whose mitigations are [{NOTHING}]"
    )
    return ""


def _absent(recipe: Recipe, name: str) -> str:
    from aorta.sweep.recipe.cells import all_cells

    if name in {cell.name for cell in all_cells(recipe)}:
        return (
            f"confound.baseline_cell {name} is not among the cells that run: take it in with --only {name}, "
            "or leave it out of --skip"
        )
    return f"confound.baseline_cell {name} is no cell of the recipe"
