"""Which of a job's tasks this process is, so that one of each node captures and no two write one file."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

#: Slurm numbers the steps that are no ``srun`` (batch script, external, interactive) from here.
FIRST_SPECIAL_STEP = 4294967290


class LaunchError(ValueError):
    """What a launcher told makes no sense, or is not enough; the text says what to do."""


class Family(NamedTuple):
    """The variables by which one kind of launcher tells a task its place; the first that is set counts."""

    size: tuple[str, ...]
    rank: tuple[str, ...]
    local_rank: tuple[str, ...]
    local_size: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    node: tuple[str, ...] = ()


TORCH = Family(
    ("WORLD_SIZE",),
    ("RANK",),
    ("LOCAL_RANK",),
    ("LOCAL_WORLD_SIZE",),
    nodes=("GROUP_WORLD_SIZE",),
    node=("GROUP_RANK",),
)
SLURM = Family(
    ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
    ("SLURM_PROCID",),
    ("SLURM_LOCALID",),
    nodes=("SLURM_STEP_NUM_NODES", "SLURM_NNODES"),
    node=("SLURM_NODEID",),
)
#: Inside a Slurm step these are of the task, and Slurm's of the daemon that started it.
OPEN_MPI = Family(
    ("OMPI_COMM_WORLD_SIZE",),
    ("OMPI_COMM_WORLD_RANK",),
    ("OMPI_COMM_WORLD_LOCAL_RANK",),
    ("OMPI_COMM_WORLD_LOCAL_SIZE",),
)
MVAPICH = Family(
    ("MV2_COMM_WORLD_SIZE",),
    ("MV2_COMM_WORLD_RANK",),
    ("MV2_COMM_WORLD_LOCAL_RANK",),
    ("MV2_COMM_WORLD_LOCAL_SIZE",),
)
MPICH = Family(
    ("PMI_SIZE",),
    ("PMI_RANK", "PALS_RANKID"),
    ("MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "PMI_LOCAL_RANK"),
    ("MPI_LOCALNRANKS", "PALS_LOCAL_SIZE", "PMI_LOCAL_SIZE"),
)

#: What names a job: of torchrun, of batch systems, in one of which several may be launched, and of any.
TORCH_JOB, BATCH_JOBS = "TORCHELASTIC_RUN_ID", ("PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID")
JOB_VARIABLES = ("SLURM_JOB_ID", TORCH_JOB, *BATCH_JOBS)
#: What names a job that a launcher may start again, and how often it did: Slurm the job, an agent of torchrun
#: its own workers.
SLURM_JOB = ("SLURM_JOB_ID", "SLURM_RESTART_COUNT")
AGENT_JOB = (TORCH_JOB, "TORCHELASTIC_RESTART_COUNT")
#: What torchrun calls a job that was given no name.
_NAMELESS = "none"


class Tasks(NamedTuple):
    """This process's place. ``size`` is 1 for a process of its own; null is what nobody told.

    ``gathered`` says that the launcher brings the output of all tasks together.
    """

    size: int = 1
    rank: int = 0
    local_rank: int | None = None
    nodes: int | None = None
    node: int | None = None
    gathered: bool = False

    @property
    def captures(self) -> bool:
        """Tell whether this task captures for its node: the first there, or the first of all."""
        place = self.rank if self.local_rank is None else self.local_rank
        return self.size == 1 or place == 0

    @property
    def several_nodes(self) -> bool:
        """Tell whether the tasks are on more than one node, or may be and each node's first captures."""
        if self.nodes is None:
            return self.size > 1 and self.local_rank is not None
        return self.size > 1 and self.nodes > 1


def tasks_of(environ: Mapping[str, str]) -> Tasks:
    """Return this process's place. Raises LaunchError for variables that make no sense.

    RANK and WORLD_SIZE win over all others, and an MPI inside a Slurm step over Slurm, whose variables
    count only inside an ``srun`` step: a batch script looks like rank 0 of many and is alone. So is a
    process that was told a size and no rank.
    """
    for family in families(environ):
        size = number_in(environ, family.size)
        rank = number_in(environ, family.rank)
        if size is not None and size > 1 and rank is not None:
            return _place(environ, family, size, rank, in_step=in_slurm_step(environ))
    return Tasks()


def families(environ: Mapping[str, str]) -> tuple[Family, ...]:
    """Return the launchers whose variables may tell a process its place, the innermost first."""
    inner = [OPEN_MPI, MVAPICH, *([MPICH] if environ.get("MPI_LOCALRANKID") else [])]
    return (TORCH, *inner, *([SLURM] if in_slurm_step(environ) else []), MPICH)


def _place(environ: Mapping[str, str], family: Family, size: int, rank: int, *, in_step: bool) -> Tasks:
    local_rank = number_in(environ, family.local_rank)
    local_size = number_in(environ, family.local_size)
    if rank >= size:
        raise LaunchError(
            f"{family.rank[0]} is {rank} and {family.size[0]} is {size}: ranks are below the size"
        )
    if local_rank is not None and local_size is not None and local_rank >= local_size:
        raise LaunchError(
            f"{family.local_rank[0]} is {local_rank} and {family.local_size[0]} is {local_size}"
        )
    nodes, node = number_in(environ, family.nodes), number_in(environ, family.node)
    if local_size and nodes is None:
        # Enough to tell one from several; which of them this is follows from no division, since nodes differ.
        nodes = -(-size // local_size)
    if in_step and family in (TORCH, SLURM):
        # Of an MPI's tasks only those that a daemon started are in the step, and the step is the daemons'.
        local_rank = number_in(environ, SLURM.local_rank) if local_rank is None else local_rank
        nodes = number_in(environ, SLURM.nodes) if nodes is None else nodes
        node = number_in(environ, SLURM.node) if node is None else node
    if node is None and nodes == 1:
        node = 0
    gathered = in_step or family is not TORCH
    return Tasks(size, rank, local_rank, nodes, node, gathered)


def starts_of(environ: Mapping[str, str]) -> dict[str, int]:
    """Return the jobs that this task is of, by the variable and its value, and how often each began again."""
    found = {}
    for named, counted in (SLURM_JOB, AGENT_JOB):
        name, count = environ.get(named, "").strip(), environ.get(counted, "").strip()
        if name and name != _NAMELESS:
            is_number = count.isascii() and count.isdigit()
            found[f"{named}={name}"] = int(count[:9]) if is_number else 0
    return found


def starts_of_all(each: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the same of a whole job, given what the first task of each node told.

    Each agent of torchrun counts the restarts that it was the cause of.
    """
    found: dict[str, int] = {}
    for told in each:
        for name, count in told.items():
            before = found.get(name, 0)
            found[name] = before + count if name.startswith(TORCH_JOB) else max(before, count)
    return found


def in_slurm_step(environ: Mapping[str, str]) -> bool:
    """Tell whether this is a task of a step that ``srun`` started."""
    step = environ.get("SLURM_STEP_ID") or environ.get("SLURM_STEPID") or ""
    if step:
        return step.isascii() and step.isdigit() and int(step[:20]) < FIRST_SPECIAL_STEP
    # A batch script has a job and is its task 0; an interactive shell of an allocation has no task.
    in_shell = environ.get("SLURM_JOB_ID") and environ.get("SLURM_PROCID", "0") == "0"
    return "SLURM_NTASKS" in environ and not in_shell


def number_in(environ: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    """Return the number in the first variable that is set. Raises LaunchError when it is none."""
    for name in names:
        text = environ.get(name, "").strip()
        if not text:
            continue
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise LaunchError(f"{name} is {text[:60]!r}: a whole number is needed to tell which task this is")
        return int(text)
    return None
