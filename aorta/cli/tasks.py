"""Which of a job's tasks this process is, so that one of each node captures and no two write one file."""

from collections.abc import Mapping
from typing import NamedTuple

from aorta.cli.errors import Misuse

#: Slurm numbers the steps that are no ``srun`` (batch script, external, interactive) from here.
FIRST_SPECIAL_STEP = 4294967290


class Family(NamedTuple):
    """The variables by which one kind of launcher tells a task its place."""

    size: str
    rank: str
    local_rank: str
    local_size: str = ""
    nodes: tuple[str, ...] = ()
    node: str = ""


TORCH = Family("WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", ("GROUP_WORLD_SIZE",), "GROUP_RANK")
SLURM = Family(
    "SLURM_NTASKS",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    nodes=("SLURM_STEP_NUM_NODES", "SLURM_NNODES"),
    node="SLURM_NODEID",
)
OPEN_MPI = Family(
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"
)
MPICH = Family("PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")

JOB_VARIABLES = ("SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID")


class Tasks(NamedTuple):
    """This process's place. ``size`` is 1 for a process of its own; ``node`` is null where not told."""

    size: int = 1
    rank: int = 0
    local_rank: int | None = None
    nodes: int | None = None
    node: int | None = None

    @property
    def captures(self) -> bool:
        """Tell whether this task captures for its node: the first there, or the first of all."""
        place = self.rank if self.local_rank is None else self.local_rank
        return self.size == 1 or place == 0

    @property
    def several_nodes(self) -> bool:
        """Tell whether the tasks are known to be on more than one node."""
        return self.size > 1 and (self.nodes or 1) > 1


def tasks_of(environ: Mapping[str, str]) -> Tasks:
    """Return this process's place. Raises Misuse for variables that make no sense.

    RANK and WORLD_SIZE win over Slurm's, which count only inside an ``srun`` step: a batch script
    looks like rank 0 of many and is alone.
    """
    in_step = _in_slurm_step(environ)
    families = [TORCH, *([SLURM] if in_step else []), OPEN_MPI, MPICH]
    for family in families:
        size = _number(environ, family.size)
        if size is not None and size > 1:
            return _place(environ, family, size, in_step=in_step)
    return Tasks()


def _place(environ: Mapping[str, str], family: Family, size: int, *, in_step: bool) -> Tasks:
    rank = _number(environ, family.rank)
    local_rank = _number(environ, family.local_rank)
    local_size = _number(environ, family.local_size)
    if local_rank is None and in_step and family is not SLURM:
        local_rank = _number(environ, SLURM.local_rank)
    if rank is not None and rank >= size:
        raise Misuse(f"{family.rank} is {rank} and {family.size} is {size}: ranks are below the size")
    if local_rank is not None and local_size is not None and local_rank >= local_size:
        raise Misuse(f"{family.local_rank} is {local_rank} and {family.local_size} is {local_size}")
    nodes = _first(environ, family.nodes)
    if nodes is None and local_size:
        nodes = -(-size // local_size)
    if nodes is None and in_step:
        nodes = _first(environ, SLURM.nodes)
    node = _number(environ, family.node)
    if node is None and rank is not None and local_size:
        node = rank // local_size
    if node is None and in_step:
        node = _number(environ, SLURM.node)
    if node is None and nodes == 1:
        node = 0
    return Tasks(size=size, rank=rank or 0, local_rank=local_rank, nodes=nodes, node=node)


def _in_slurm_step(environ: Mapping[str, str]) -> bool:
    step = environ.get("SLURM_STEP_ID") or environ.get("SLURM_STEPID") or ""
    if step:
        return step.isascii() and step.isdigit() and int(step[:20]) < FIRST_SPECIAL_STEP
    # A batch script has a job and is its task 0; an interactive shell of an allocation has no task.
    in_shell = environ.get("SLURM_JOB_ID") and environ.get("SLURM_PROCID", "0") == "0"
    return "SLURM_NTASKS" in environ and not in_shell


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    return next((number for name in names if (number := _number(environ, name)) is not None), None)


def _number(environ: Mapping[str, str], name: str) -> int | None:
    text = environ.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Misuse(f"{name} is {text[:60]!r}: a whole number is needed to tell which task this is")
    return int(text)
