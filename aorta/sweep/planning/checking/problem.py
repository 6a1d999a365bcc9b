"""``Problem``: one thing that is wrong with a plan, and in which cells."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from aorta.model.frozen import frozen
from aorta.model.text import listed
from aorta.sweep.planning.plan import PlannedCell

ERROR, HERE, WARNING = SEVERITIES = ("error", "error here", "warning")


@frozen
class Problem:
    """An error keeps a plan from running; one that is ``here`` does so on this machine only.

    ``text`` is a sentence with the way out; without ``cells`` it is about all of them.
    """

    severity: str
    text: str
    cells: tuple[str, ...] = ()

    def line(self) -> str:
        """Return the problem in one line."""
        if not self.cells:
            return self.text
        return f"cell{'s' if len(self.cells) > 1 else ''} {listed(self.cells)}: {self.text}"


def error(text: str, *cells: str) -> Problem:
    """Return a problem that keeps the plan from running."""
    return Problem(severity=ERROR, text=text, cells=cells)


def warning(text: str, *cells: str) -> Problem:
    """Return a problem that does not keep the plan from running."""
    return Problem(severity=WARNING, text=text, cells=cells)


def of_cells(
    cells: Sequence[PlannedCell],
    told: Callable[[PlannedCell], Iterable[tuple[str, str]]],
    *,
    all_named: bool = True,
) -> Iterator[Problem]:
    """Yield what is told of cells, severity and text, each once with all cells that it is told of.

    Without ``all_named`` no cell is named where it is told of all.
    """
    known: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for one in told(cell):
            known.setdefault(one, []).append(cell.name)
    for (severity, text), names in known.items():
        named = all_named or len(names) < len(cells)
        yield Problem(severity=severity, text=text, cells=tuple(names) if named else ())
