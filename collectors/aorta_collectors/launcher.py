"""Who started this process as one of how many: torchrun, Kubeflow, Slurm or MPI."""

import re
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.redact import redact
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector

#: Step ids from here on are no launched tasks: interactive, batch, extern, pending (slurm.h).
FIRST_SPECIAL_STEP = 4294967290


@frozen
class Launcher:
    """The identity that a launcher gave this process; an allow-list without user, account or address."""

    kind: Annotated[
        str | None,
        Fact(
            "torchrun, kubeflow, slurm, mpi, unknown (RANK or WORLD_SIZE set by something else) or none.",
            caveat="Variables are inherited: a child of a launched process shows its parent's identity.",
            always=True,
        ),
    ] = None
    rank: Annotated[int | None, Fact("Rank among all processes, from 0.")] = None
    world_size: Annotated[int | None, Fact("Number of all processes.")] = None
    local_rank: Annotated[int | None, Fact("Rank among the processes of this node, from 0.")] = None
    local_world_size: Annotated[int | None, Fact("Number of processes on this node.")] = None
    group_rank: Annotated[int | None, Fact("Rank of torchrun's agent (GROUP_RANK), from 0.")] = None
    node_rank: Annotated[int | None, Fact("Number of this node in the job or step, from 0.")] = None
    nnodes: Annotated[int | None, Fact("Number of nodes of the job or step; torchrun: of agents.")] = None
    node: Annotated[str | None, Fact("Slurm's name of this node (SLURMD_NODENAME).")] = None
    job_id: Annotated[str | None, Fact("Slurm job id.", volatile=True)] = None
    step_id: Annotated[
        str | None, Fact("Slurm step id; from 4294967290 on no step of srun.", volatile=True)
    ] = None
    restart_count: Annotated[
        int | None, Fact("How often torchrun or Slurm started this job again.", volatile=True)
    ] = None
    rdzv_id: Annotated[str | None, Fact("torchrun's run id.", volatile=True)] = None
    master_port: Annotated[int | None, Fact("Port of the rendezvous (MASTER_PORT).", volatile=True)] = None


@frozen
class Names:
    """The variables in which one launcher tells a process who it is; the first that is set counts."""

    kind: str
    rank: tuple[str, ...] = ()
    world_size: tuple[str, ...] = ()
    local_rank: tuple[str, ...] = ()
    local_world_size: tuple[str, ...] = ()


TORCH = Names(
    kind="torchrun",
    rank=("RANK",),
    world_size=("WORLD_SIZE",),
    local_rank=("LOCAL_RANK",),
    local_world_size=("LOCAL_WORLD_SIZE",),
)
SLURM = Names(
    kind="slurm",
    rank=("SLURM_PROCID",),
    world_size=("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"),
    local_rank=("SLURM_LOCALID",),
)
#: Launchers that may run inside a Slurm step, whose own SLURM_PROCID is that of their daemon.
OPEN_MPI = Names(
    kind="mpi",
    rank=("OMPI_COMM_WORLD_RANK",),
    world_size=("OMPI_COMM_WORLD_SIZE",),
    local_rank=("OMPI_COMM_WORLD_LOCAL_RANK",),
    local_world_size=("OMPI_COMM_WORLD_LOCAL_SIZE",),
)
MVAPICH = Names(
    kind="mpi",
    rank=("MV2_COMM_WORLD_RANK",),
    world_size=("MV2_COMM_WORLD_SIZE",),
    local_rank=("MV2_COMM_WORLD_LOCAL_RANK",),
    local_world_size=("MV2_COMM_WORLD_LOCAL_SIZE",),
)
MPICH = Names(
    kind="mpi",
    rank=("PMI_RANK", "PALS_RANKID", "PMIX_RANK"),
    world_size=("PMI_SIZE",),
    local_rank=("MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "PMI_LOCAL_RANK", "PMIX_LOCAL_RANK"),
    local_world_size=("MPI_LOCALNRANKS", "PALS_LOCAL_SIZE", "PMI_LOCAL_SIZE"),
)


@collector(
    section="launcher", model=Launcher, provenance=Provenance.PROCESS, scope=Scope.PROCESS, timeout_s=5
)
def collect(ctx: Context) -> Launcher:
    """Rank, size and job identity from torchrun, Kubeflow, Slurm or MPI."""
    kind, names = _launched_by(ctx)
    if kind == "none":
        return Launcher(kind=kind)
    identity = _identity(ctx, names)
    return Launcher(
        kind=kind,
        **identity,
        group_rank=_number(ctx, "group_rank", "GROUP_RANK") if kind == "torchrun" else None,
        node_rank=_number(ctx, "node_rank", *_NODE_RANK.get(kind, ("SLURM_NODEID",))),
        nnodes=_nodes(ctx, kind),
        node=_word(ctx, "node", "SLURMD_NODENAME"),
        job_id=_word(ctx, "job_id", "SLURM_JOB_ID", "SLURM_JOBID"),
        step_id=_word(ctx, "step_id", "SLURM_STEP_ID", "SLURM_STEPID"),
        restart_count=_number(ctx, "restart_count", "TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT"),
        rdzv_id=_word(ctx, "rdzv_id", "TORCHELASTIC_RUN_ID", "PET_RDZV_ID"),
        master_port=_port(ctx),
    )


_NODE_RANK = {"kubeflow": ("PET_NODE_RANK",), "torchrun": ("PET_NODE_RANK", "SLURM_NODEID")}
_NODES = {"kubeflow": ("PET_NNODES",), "torchrun": ("GROUP_WORLD_SIZE",)}


def _launched_by(ctx: Context) -> tuple[str, Names]:
    """Return the kind and the variables to believe: RANK before all others, an inner MPI before Slurm."""

    def told(*names: str) -> bool:
        return _first(ctx, names) is not None

    torch = told("RANK") or told("WORLD_SIZE")
    if told("TORCHELASTIC_RUN_ID"):
        return "torchrun", TORCH
    if told("PET_NNODES", "PET_NPROC_PER_NODE") and torch:
        return "kubeflow", TORCH
    inner = [names for names in (OPEN_MPI, MVAPICH) if told(*names.rank)]
    if told("MPI_LOCALRANKID") and told(*MPICH.rank):
        inner.append(MPICH)
    in_slurm = told("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_STEP_ID", "SLURM_PROCID")
    outer = [SLURM] if in_slurm else [MPICH] if told(*MPICH.rank) else []
    for names in (*inner, *outer):
        return names.kind, TORCH if told("RANK") else names
    return ("unknown", TORCH) if torch else ("none", TORCH)


def _identity(ctx: Context, names: Names) -> dict[str, int | None]:
    if names is SLURM:
        refusal = _no_step(ctx)
        if refusal is not None:
            for field in ("rank", "world_size", "local_rank", "local_world_size"):
                ctx.note(refusal[0], field, refusal[1], subject="SLURM_STEP_ID")
            return {}
    found = {
        field: _number(ctx, field, *getattr(names, field), wanted=True)
        for field in ("rank", "world_size", "local_rank")
    }
    if names is SLURM:
        found["local_world_size"] = _tasks_here(ctx)
        _agree(ctx, found)
    else:
        found["local_world_size"] = _number(ctx, "local_world_size", *names.local_world_size, wanted=True)
    _plausible(ctx, found)
    return found


def _no_step(ctx: Context) -> tuple[ReasonKind, str] | None:
    """Return why SLURM_PROCID says nothing: a batch script without srun looks like rank 0 of N."""
    text = _first(ctx, ("SLURM_STEP_ID", "SLURM_STEPID"))
    if text is None:
        return ReasonKind.ABSENT, "no SLURM_STEP_ID: not a task of srun, so SLURM_PROCID is no rank"
    try:
        step = parse_number(text)
    except ValueError as error:
        return ReasonKind.UNPARSED, f"SLURM_STEP_ID is {error}"
    if step >= FIRST_SPECIAL_STEP:
        return (
            ReasonKind.ABSENT,
            f"step {step} is no step of srun (batch, interactive, extern): SLURM_PROCID is no rank",
        )
    return None


def _agree(ctx: Context, found: dict[str, int | None]) -> None:
    """Drop what Slurm's other numbers, WORLD_SIZE or the process manager's rank contradict."""
    told = {name: ctx.env(name) for name in ("WORLD_SIZE", *SLURM.world_size)}
    sizes = {name: value for name, value in told.items() if value}
    if len(set(sizes.values())) > 1 and found["world_size"] is not None:
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in sizes.items())
        _drop(ctx, found, f"contradiction: {shown}", "world_size")
    inner = _first(ctx, ("PMI_RANK", "PMIX_RANK"))
    if inner is not None and found["rank"] is not None and inner != str(found["rank"]):
        _drop(ctx, found, f"contradiction: SLURM_PROCID {found['rank']}, PMI rank {_shown(inner)}", "rank")


def _tasks_here(ctx: Context) -> int | None:
    text, node = ctx.env("SLURM_STEP_TASKS_PER_NODE"), ctx.env("SLURM_NODEID")
    if not text or not node:
        text = "SLURM_STEP_TASKS_PER_NODE and SLURM_NODEID are not both set"
        ctx.note(ReasonKind.ABSENT, "local_world_size", text)
        return None
    try:
        return parse_tasks_per_node(text, parse_number(node))
    except ValueError as error:
        ctx.note(ReasonKind.UNPARSED, "local_world_size", f"SLURM_STEP_TASKS_PER_NODE: {error}")
        return None


_BELOW = (("rank", "world_size"), ("local_rank", "local_world_size"))


def _plausible(ctx: Context, found: dict[str, int | None]) -> None:
    """Drop numbers that contradict each other, with the reason."""
    for rank, size in _BELOW:
        low, high = found[rank], found[size]
        if low is not None and high is not None and low >= high:
            _drop(ctx, found, f"contradiction: {rank} {low} of {size} {high}", rank, size)
        elif high == 0:
            _drop(ctx, found, f"contradiction: {size} 0", size)
    local, world = found["local_world_size"], found["world_size"]
    if local is not None and world is not None and local > world:
        text = f"contradiction: local_world_size {local} of world_size {world}"
        _drop(ctx, found, text, "local_world_size", "world_size")


def _drop(ctx: Context, found: dict[str, int | None], text: str, *fields: str) -> None:
    for field in fields:
        ctx.note(ReasonKind.UNPARSED, field, text)
        found[field] = None


def _first(ctx: Context, names: tuple[str, ...]) -> str | None:
    """Return the first value that is set; set to nothing counts as unset."""
    return next((value for name in names if (value := ctx.env(name))), None)


def _number(ctx: Context, field: str, *names: str, wanted: bool = False) -> int | None:
    """Return the number in the first variable that is set; junk is noted, and ``wanted`` ones too."""
    for name in names:
        text = ctx.env(name)
        if not text:
            continue
        try:
            return parse_number(text)
        except ValueError as error:
            ctx.note(ReasonKind.UNPARSED, field, f"{name} is {error}", subject=name)
            return None
    if wanted:
        ctx.note(ReasonKind.ABSENT, field, f"{' or '.join(names)} is not set", subject=names[0])
    return None


def _nodes(ctx: Context, kind: str) -> int | None:
    names = _NODES.get(kind, ("SLURM_STEP_NUM_NODES", "SLURM_NNODES"))
    text = _first(ctx, names) or ""
    if re.fullmatch(r"[0-9]{1,9}:[0-9]{1,9}", text):
        ctx.note(ReasonKind.UNSUPPORTED, "nnodes", f"{names[0]} is {text}, an elastic range")
        return None
    return _number(ctx, "nnodes", *names)


def _word(ctx: Context, field: str, *names: str) -> str | None:
    text = _first(ctx, names)
    if text is None:
        return None
    if not re.fullmatch(r"[A-Za-z0-9_.:+@/-]{1,255}", text):
        ctx.note(ReasonKind.UNPARSED, field, f"{names[0]} is {_shown(text)}, no identifier", subject=names[0])
        return None
    return redact(text)


def _port(ctx: Context) -> int | None:
    port = _number(ctx, "master_port", "MASTER_PORT")
    if port is not None and port > 65535:
        ctx.note(ReasonKind.UNPARSED, "master_port", f"MASTER_PORT is {port}, no port", subject="MASTER_PORT")
        return None
    return port


def parse_number(text: str) -> int:
    """Return a rank or count: decimal digits and nothing else. Raises ValueError, quoting the text."""
    if not re.fullmatch(r"[0-9]{1,10}", text):
        raise ValueError(f"{_shown(text)}, no number from 0 on")
    return int(text)


def parse_tasks_per_node(text: str, node: int) -> int:
    """Return the entry of node number ``node`` of a list such as ``8(x2),4``. Raises ValueError."""
    if len(text) > 1 << 16:
        raise ValueError("a list beyond all measure")
    for item in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:\(x([0-9]{1,9})\))?", item)
        if match is None:
            raise ValueError(f"{_shown(item)}, no count")
        times = int(match[2] or 1)
        if node < times:
            return int(match[1])
        node -= times
    raise ValueError(f"{_shown(text)} has no entry for this node")


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 40 else f"{text[:40]}…")
