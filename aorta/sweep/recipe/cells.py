"""The cells of a recipe, whichever mode it has."""

from aorta.sweep.recipe.model import PROBE, CellRecipe, Recipe

LOCAL = "local"


def cells_of(recipe: Recipe) -> tuple[CellRecipe, ...]:
    """Return the cells that are run: those of the recipe that ``only`` and ``skip`` leave.

    With ``mode: probe`` the cells are ``MITIGATION-DIAGNOSTIC``, mitigations slowest, in the environment
    ``local``; the second of a cell's mitigations is the diagnostic.
    """
    return tuple(
        cell
        for cell in all_cells(recipe)
        if (not recipe.only or cell.name in recipe.only) and cell.name not in recipe.skip
    )


def all_cells(recipe: Recipe) -> tuple[CellRecipe, ...]:
    """Return the cells of a recipe, those that are not run too."""
    if recipe.mode != PROBE:
        return recipe.cells
    return tuple(
        CellRecipe(name=f"{mitigation}-{diagnostic}", mitigations=(mitigation, diagnostic), environment=LOCAL)
        for mitigation in recipe.mitigation_axis
        for diagnostic in recipe.diagnostic_axis
    )
