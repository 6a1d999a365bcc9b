"""``Identity``: which process of a job this is, and where the job's processes meet.

Strict where ``tasks`` is lenient: a sweep whose ranks do not know each other would write several results.
"""

from collections.abc import Mapping, Sequence

from aorta.launch.hostlist import first_host
from aorta.launch.tasks import (
    BATCH_JOBS,
    MPICH,
    MVAPICH,
    OPEN_MPI,
    SLURM,
    TORCH,
    TORCH_JOB,
    Family,
    LaunchError,
    Tasks,
    families,
    in_slurm_step,
    number_in,
    tasks_of,
)
from aorta.model.frozen import frozen
from aorta.model.text import printable

TORCHRUN, SLURM_STEP, BY_HAND, ALONE = ("torchrun", "slurm", "by_hand", "none")
#: How a launch by hand is called in texts.
HAND = "by hand (RANK, WORLD_SIZE)"
LOOPBACK = "127.0.0.1"

#: What is of one launch and of no other, and the same for all its processes.
_NAMES = {
    TORCHRUN: (TORCH_JOB, "MASTER_ADDR", "MASTER_PORT"),
    "openmpi": ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid"),
    "mpich": ("PALS_APID",),
}

_KINDS = {OPEN_MPI: "openmpi", MVAPICH: "mvapich", MPICH: "mpich", SLURM: SLURM_STEP}
_STARTED = "torchrun … -m aorta sweep run …, or srun aorta sweep run …"


@frozen
class Identity:
    """A process's place. Ranks and sizes are numbers; null is what nobody told.

    ``address`` is the host of rank 0, ``port`` the launcher's own there. ``agent_store``: torchrun's agent
    serves a store at it. ``job`` names the launched job, and is the same for all its processes and no others.
    """

    rank: int = 0
    size: int = 1
    local_rank: int | None = None
    local_size: int | None = None
    node: int | None = None
    nodes: int | None = None
    launcher: str = ALONE
    address: str | None = None
    port: int | None = None
    agent_store: bool = False
    job: str | None = None

    @property
    def alone(self) -> bool:
        """Tell whether this process is the only one."""
        return self.size == 1


def identity_of(environ: Mapping[str, str]) -> Identity:
    """Return this process's identity. Raises LaunchError when it is contradictory, or a part is missing."""
    size, rank = number_in(environ, TORCH.size), number_in(environ, TORCH.rank)
    _check_pair(size, rank)
    if size is None:
        _check_step(environ)
    tasks = tasks_of(environ)
    if size == 1:
        _check_alone(environ, tasks)
        return Identity()
    if tasks.size == 1:
        _check_script(environ)
        return Identity()
    family = _family(environ)
    if family is TORCH:
        _check_exported(environ, tasks)
    local_size = number_in(environ, family.local_size)
    _check_local(tasks, family, local_size)
    launcher = _launcher(environ, family)
    return Identity(
        rank=tasks.rank,
        size=tasks.size,
        local_rank=tasks.local_rank,
        local_size=local_size,
        node=tasks.node,
        nodes=tasks.nodes,
        launcher=launcher,
        address=_address(environ, tasks, launcher),
        port=_port(environ),
        agent_store=_has_agent(environ),
        job=_job(environ, launcher),
    )


def _check_pair(size: int | None, rank: int | None) -> None:
    if size is None and rank is not None:
        raise LaunchError(
            f"RANK is {rank} and WORLD_SIZE is not set: set both, as {_STARTED} does, or neither"
        )
    if size == 0:
        raise LaunchError("WORLD_SIZE is 0: it is at least 1")
    if size == 1 and rank:
        raise LaunchError(f"RANK is {rank} and WORLD_SIZE is 1: ranks are below the size")
    if size is not None and size > 1 and rank is None:
        raise LaunchError(f"WORLD_SIZE is {size} and RANK is not set: set both, as {_STARTED} does")


def _check_step(environ: Mapping[str, str]) -> None:
    size = number_in(environ, SLURM.size)
    if in_slurm_step(environ) and (size or 1) > 1 and number_in(environ, SLURM.rank) is None:
        raise LaunchError(f"this is a step of {size} tasks, and SLURM_PROCID, which of them, is not set")


def _check_alone(environ: Mapping[str, str], tasks: Tasks) -> None:
    """Refuse a WORLD_SIZE of 1 that was set for many tasks: each would take itself for all there is."""
    # An agent of torchrun that has one worker, and knows of no other agent, is a job of its own.
    if tasks.size > 1 and TORCH_JOB not in environ:
        raise LaunchError(
            f"WORLD_SIZE is 1, and this is one of {tasks.size} tasks of its launcher: was it exported before?"
            " unset WORLD_SIZE and RANK; the launcher's own variables are used then"
        )


def _check_script(environ: Mapping[str, str]) -> None:
    """Refuse the script of a job, or the shell of an allocation, that has tasks and is none of them."""
    job = environ.get("SLURM_JOB_ID")
    if not job or in_slurm_step(environ):
        return
    count = number_in(environ, ("SLURM_NTASKS", "SLURM_NPROCS")) or 1
    nodes = number_in(environ, ("SLURM_JOB_NUM_NODES", "SLURM_NNODES")) or 1
    if count > 1 or nodes > 1:
        what = f"{count} tasks" if count > 1 else f"{nodes} nodes"
        raise LaunchError(
            f"this is the script or shell of Slurm job {job}, which has {what}, and none of its tasks: start"
            " it as srun aorta sweep run …"
        )


def _check_exported(environ: Mapping[str, str], tasks: Tasks) -> None:
    """Refuse a RANK that was set once for all tasks of a step: all would take themselves for one."""
    if not in_slurm_step(environ) or TORCH_JOB in environ:
        return
    size, rank = number_in(environ, SLURM.size), number_in(environ, SLURM.rank)
    if size == tasks.size and rank is not None and rank != tasks.rank:
        raise LaunchError(
            f"RANK is {tasks.rank} and SLURM_PROCID is {rank} in a step of {size} tasks: was RANK exported"
            " before srun? unset it; SLURM_PROCID is used then"
        )


def _check_local(tasks: Tasks, family: Family, local_size: int | None) -> None:
    if local_size is not None and local_size > tasks.size:
        raise LaunchError(f"{family.local_size[0]} is {local_size} and {family.size[0]} is {tasks.size}")
    if tasks.local_rank is not None and tasks.local_rank > tasks.rank:
        raise LaunchError(
            f"{family.local_rank[0]} is {tasks.local_rank} and {family.rank[0]} is {tasks.rank}: of a node's"
            " ranks none has a smaller number than its place there"
        )


def _family(environ: Mapping[str, str]) -> Family:
    return next(
        family
        for family in families(environ)
        if (number_in(environ, family.size) or 1) > 1 and number_in(environ, family.rank) is not None
    )


def _launcher(environ: Mapping[str, str], family: Family) -> str:
    if family is TORCH:
        return TORCHRUN if TORCH_JOB in environ else BY_HAND
    return _KINDS[family]


def _has_agent(environ: Mapping[str, str]) -> bool:
    return environ.get("TORCHELASTIC_USE_AGENT_STORE", "").lower() == "true"


def _address(environ: Mapping[str, str], tasks: Tasks, launcher: str) -> str:
    """Return the host of rank 0 as it was told; it is looked up nowhere."""
    if told := environ.get("MASTER_ADDR", "").strip():
        return told
    if tasks.nodes == 1:
        return LOOPBACK
    if in_slurm_step(environ) and launcher in (SLURM_STEP, BY_HAND):
        listed = environ.get("SLURM_STEP_NODELIST") or environ.get("SLURM_JOB_NODELIST") or ""
        if found := first_host(listed):
            return found
    why = (
        f"ranks that are started {HAND} are not told it"
        if launcher == BY_HAND
        else f"{launcher} does not tell it"
    )
    raise LaunchError(f"the host of rank 0 is not known ({why}): set MASTER_ADDR to it on all ranks")


def _port(environ: Mapping[str, str]) -> int | None:
    """Return the launcher's port at rank 0. Raises LaunchError for what is none."""
    text = environ.get("MASTER_PORT", "").strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) < 65536):
        raise LaunchError(f"MASTER_PORT is {printable(text[:60])!r}, not a port: a number from 1 to 65535")
    return int(text) if text else None


def _job(environ: Mapping[str, str], launcher: str) -> str | None:
    """Return a name of the launched job; None where nothing tells one launch from another.

    Not TORCHELASTIC_RESTART_COUNT: each agent counts its own workers' failures. Not the Slurm step of an
    mpirun either: its processes on the first node are in none.
    """
    if launcher in (SLURM_STEP, BY_HAND) and in_slurm_step(environ):
        step = environ.get("SLURM_STEP_ID") or environ.get("SLURM_STEPID", "")
        job, restarts = environ.get("SLURM_JOB_ID", ""), environ.get("SLURM_RESTART_COUNT", "0")
        return f"slurm.{job}.{step}.{restarts}"
    found = _set(environ, _NAMES.get(launcher, ()))
    if not found and (batch := _set(environ, BATCH_JOBS)):
        # It may have launched several.
        found = [*batch, environ.get("MASTER_PORT", "")]
    return ".".join(found) or None


def _set(environ: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Return the values of those variables that are set."""
    return [environ[name] for name in names if environ.get(name)]


def identity_without_torch(environ: Mapping[str, str]) -> Identity:
    """Return the identity that the launcher gives this task, whatever RANK and its like tell; else alone."""
    others = {*TORCH.size, *TORCH.rank, *TORCH.local_rank, *TORCH.local_size, *TORCH.node, *TORCH.nodes}
    try:
        return identity_of({name: value for name, value in environ.items() if name not in others})
    except LaunchError:
        return Identity()
