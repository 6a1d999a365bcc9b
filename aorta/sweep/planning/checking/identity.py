"""Variables that say which process of a job this is: only the launcher, and aorta, set them."""

from collections.abc import Iterator

from aorta.launch.ports import PORT_BASE
from aorta.sweep.planning.checking.problem import ERROR, Problem, of_cells
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.variables import OWN

LAUNCHER = frozenset(
    {
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
        "LOCAL_WORLD_SIZE",
        "NODE_RANK",
        "GROUP_RANK",
        "GROUP_WORLD_SIZE",
        "ROLE_NAME",
        "ROLE_RANK",
        "ROLE_WORLD_SIZE",
        "MASTER_ADDR",
        "MASTER_PORT",
        PORT_BASE,
    }
)
LAUNCHER_PREFIXES = ("TORCHELASTIC_", "SLURM_", "PMI", "OMPI_", "MPI_LOCAL", "MV2_COMM_WORLD_", "PALS_")


def check_identity(plan: Plan) -> Iterator[Problem]:
    """Yield the layers that change such a variable in any way."""
    return of_cells(plan.cells, _told)


def owner_of(name: str) -> str | None:
    """Return who alone sets a variable; None where anybody may."""
    if name in OWN:
        return "aorta"
    return "the launcher" if name in LAUNCHER or name.startswith(LAUNCHER_PREFIXES) else None


def _told(cell: PlannedCell) -> Iterator[tuple[str, str]]:
    for layer in cell.layers:
        change = layer.change
        for deed, names in (("sets", change.set), ("unsets", change.unset), ("prepends to", change.prepend)):
            for name in names:
                owner = owner_of(name)
                if owner is not None:
                    yield ERROR, f"{layer.source} {deed} {name}, which {owner} alone may; take it out"
