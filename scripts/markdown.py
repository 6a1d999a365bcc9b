"""Cells and rows of the generated tables."""

from collections.abc import Iterable


def words(names: Iterable[str]) -> str:
    """Return names as inline code, with commas."""
    return ", ".join(f"`{name}`" for name in names)


def row(*cells: str) -> str:
    """Return a table's row; white space and bars in the cells do no harm."""
    safe = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(safe)} |"
