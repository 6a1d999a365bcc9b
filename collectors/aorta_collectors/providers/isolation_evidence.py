"""Whether this process runs in a container, and what says so: all signs, judged once.

A container has a root file system of its own or a runtime that can be named. Mounts of one's own alone
(a service's private /tmp, a Slurm job's) are isolation, but no container.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import evolve, frozen
from aorta.model.vocabulary import Coverage, ReasonKind
from aorta.plugin import provider
from aorta_collectors.container.cgroup_paths import KUBERNETES
from aorta_collectors.container.clues import FIRED, NOT_FIRED, UNREADABLE, Clue, Rank, Trust, clues
from aorta_collectors.container.root_mount import (
    CONTAINERS_STORAGE,
    INNERMOST,
    Root,
    RootKind,
    judge_root,
    laid_files,
    private_tmp,
    stacked_cgroup,
)
from aorta_collectors.providers.gap import Gap
from aorta_collectors.providers.mounts import MOUNTINFO, Mounts

NONE, UNKNOWN, SANDBOX = "none", "unknown", "sandbox"
SELF_NAMESPACE, PID1_NAMESPACE = "/proc/self/ns/mnt", "/proc/1/ns/mnt"
_TMP = "private-tmp"
_BARE = frozenset(("root-mount", "cgroup-mount", "proc-mount"))
#: Runtimes that give their containers an id.
_WITH_ID = frozenset(("docker", "podman", "containerd", "cri-o", "buildah", "gvisor", "kata", UNKNOWN))


@frozen
class Signal:
    """One sign of isolation that was looked for."""

    name: Annotated[str | None, Fact("What was looked for.")] = None
    source: Annotated[str | None, Fact("File, link or variable looked at.")] = None
    outcome: Annotated[str | None, Fact("fired, not_fired or unreadable.")] = None
    value: Annotated[str | None, Fact("What was seen there, or why it could not be read.")] = None


@frozen
class IsolationEvidence:
    """The judgement on all signs. ``container`` and ``private_mounts`` are null when nothing tells.

    ``runtime`` is ``none`` on the machine itself, ``sandbox`` where a root of one's own is all there
    is, ``unknown`` where nothing names it. ``read`` is false when not one sign could be looked at.
    """

    container: bool | None = None
    runtime: str = UNKNOWN
    orchestrator: str | None = None
    container_id: str | None = None
    private_mounts: bool | None = None
    signals: tuple[Signal, ...] = ()
    read: bool = False
    container_gap: Gap | None = None
    private_mounts_gap: Gap | None = None

    @property
    def detected(self) -> bool | None:
        """Tell whether any sign of isolation was seen; None when none could be looked at."""
        return bool(self.container or self.private_mounts) if self.read else None


@provider(model=IsolationEvidence, needs=(Mounts,), timeout_s=10)
def provide(ctx: Context) -> IsolationEvidence:
    """Signs of containers and sandboxes, and the judgement on them."""
    mounts = ctx.need(Mounts)
    root = judge_root(mounts.mounts)
    own, pid1 = ctx.link(SELF_NAMESPACE), ctx.link(PID1_NAMESPACE)
    namespace = _namespace_clue(own, pid1)
    found = [*_mount_clues(mounts, root), namespace, *clues(ctx), *_without_proc(ctx, mounts)]
    held = [clue for clue in found if clue.outcome == FIRED and root.kind in clue.trust.value]
    evidence = evolve(
        _judged(root, held),
        signals=tuple(
            Signal(name=clue.name, source=clue.source, outcome=clue.outcome, value=clue.value)
            for clue in found
        ),
        read=mounts.seen or own.ok or _any_read(found),
    )
    evidence = _with_private_mounts(evidence, namespace, root)
    evidence = evolve(
        evidence,
        container_gap=_container_gap(mounts) if evidence.container is None else None,
        private_mounts_gap=_private_gap(own, pid1) if evidence.private_mounts is None else None,
    )
    _cover(ctx, evidence)
    return evidence


def _any_read(found: Sequence[Clue]) -> bool:
    """Tell whether a sign was seen, or a file was read that shows there is none."""
    return any(
        clue.outcome == FIRED or (clue.outcome == NOT_FIRED and clue.source == "/proc/self/cgroup")
        for clue in found
    )


def _cover(ctx: Context, evidence: IsolationEvidence) -> None:
    if evidence.container or evidence.private_mounts:
        ctx.cover("isolation", Coverage.SEEN)
    else:
        known = evidence.container is False
        ctx.cover("isolation", Coverage.ABSENT if known else Coverage.UNKNOWN)


def _mount_clues(mounts: Mounts, root: Root) -> Iterator[Clue]:
    if not mounts.seen:
        yield Clue(name="root-mount", source=MOUNTINFO, outcome=UNREADABLE, value=mounts.detail)
        return
    foreign = root.kind is RootKind.FOREIGN and not root.snap
    yield Clue(
        name="root-mount",
        source=MOUNTINFO,
        outcome=FIRED if foreign else NOT_FIRED,
        value=root.shown or None,
        runtime=root.runtime,
        rank=Rank.INNER_ROOT if root.runtime in INNERMOST else Rank.ROOT,
    )
    if root.snap:
        yield Clue(name="snap-confinement", source=MOUNTINFO, trust=Trust.NEVER, value=root.shown)
    told = laid_files(mounts.mounts)
    for file in told:
        yield Clue(
            name="container-file",
            source=MOUNTINFO,
            value=file.shown,
            runtime=file.runtime,
            container_id=file.container_id,
            orchestrator=file.orchestrator,
            rank=Rank.LAID_FILE,
        )
    if not told:
        yield Clue(name="container-file", source=MOUNTINFO, outcome=NOT_FIRED)
    for name, shown, trust in (
        ("cgroup-mount", stacked_cgroup(mounts.mounts), Trust.UNLESS_HOST),
        (_TMP, private_tmp(mounts.mounts), Trust.NEVER),
    ):
        outcome = FIRED if shown else NOT_FIRED
        yield Clue(name=name, source=MOUNTINFO, outcome=outcome, value=shown, trust=trust)


def _namespace_clue(own: Answer[str], pid1: Answer[str]) -> Clue:
    if own.value is None or pid1.value is None:
        missing = pid1 if own.ok else own
        outcome, value = UNREADABLE, missing.detail
    else:
        outcome = NOT_FIRED if own.value == pid1.value else FIRED
        value = f"{own.value}, PID 1: {pid1.value}"
    return Clue(
        name="private-mount-namespace",
        source=PID1_NAMESPACE if own.ok else SELF_NAMESPACE,
        outcome=outcome,
        value=value,
        trust=Trust.NEVER,
    )


def _without_proc(ctx: Context, mounts: Mounts) -> Iterator[Clue]:
    """Look whether /proc is missing from a tree that is otherwise there: no machine runs like that."""
    if mounts.kind is not ReasonKind.ABSENT:
        return
    top = ctx.scan("/")
    names = {entry.name for entry in top.value or ()}
    if ctx.stat("/proc/self").absent and names & {"bin", "usr"}:
        yield Clue(name="proc-mount", source="/proc", value="/proc is not mounted")


def _judged(root: Root, held: Sequence[Clue]) -> IsolationEvidence:
    """Return container, runtime, orchestrator and id."""
    if not held:
        known = root.kind is not RootKind.UNKNOWN
        return IsolationEvidence(container=False if known else None, runtime=NONE if known else UNKNOWN)
    orchestrator = next((clue.orchestrator for clue in held if clue.orchestrator), None)
    named = sorted((clue for clue in held if clue.runtime), key=lambda clue: clue.rank)
    runtime = _runtime(named, orchestrator) if named else None
    if runtime is None:
        bare = orchestrator is None and all(clue.name in _BARE for clue in held)
        runtime = SANDBOX if bare else UNKNOWN
    return IsolationEvidence(
        container=True,
        runtime=runtime,
        orchestrator=orchestrator,
        container_id=_identity(held, runtime, orchestrator),
    )


def _runtime(named: Sequence[Clue], orchestrator: str | None) -> str | None:
    """Return the best name; ``named`` is not empty and sorted, the best first."""
    best = named[0].runtime
    words = {clue.runtime for clue in named}
    if best == CONTAINERS_STORAGE:
        sharing = [clue.runtime for clue in named if clue.runtime in ("podman", "cri-o", "buildah")]
        # CRI-O leaves podman's marker in its containers.
        return "cri-o" if orchestrator == KUBERNETES or "cri-o" in sharing else (sharing or ["podman"])[0]
    if best == "podman" and named[0].rank == Rank.CONTAINERENV and orchestrator == KUBERNETES:
        return "cri-o"
    if best == "singularity" and named[0].rank == Rank.SINGULARITY and "apptainer" in words:
        return "apptainer"
    if best == "lxc":
        return next((word for word in ("lxd", "incus") if word in words), best)
    return best


def _identity(held: Sequence[Clue], runtime: str, orchestrator: str | None) -> str | None:
    """Return the id that belongs to the runtime's container, the surest source first."""
    if runtime not in _WITH_ID:
        return None
    storage = runtime in ("podman", "cri-o", "buildah")
    for name in ("cgroup", "podman-marker", "container-file", "pid1-cgroup"):
        for clue in held:
            # Under Kubernetes docker lays the files of the pod's sandbox into every container.
            sandbox = name == "container-file" and clue.runtime == "docker" and orchestrator == KUBERNETES
            fits = clue.runtime in (runtime, None) or (storage and clue.runtime == CONTAINERS_STORAGE)
            fits = fits or (storage and name == "podman-marker")
            if clue.name == name and clue.container_id and fits and not sandbox:
                return clue.container_id
    return None


def _with_private_mounts(evidence: IsolationEvidence, namespace: Clue, root: Root) -> IsolationEvidence:
    """Return the evidence with ``private_mounts``; a container has its own, whatever its PID 1 shows."""
    tmp = any(signal.name == _TMP and signal.outcome == FIRED for signal in evidence.signals)
    private: bool | None = None
    if evidence.container or root.snap or namespace.outcome == FIRED or tmp:
        private = True
    elif namespace.outcome == NOT_FIRED:
        private = False
    return evolve(evidence, private_mounts=private)


def _container_gap(mounts: Mounts) -> Gap:
    if mounts.seen:
        return Gap(
            kind=ReasonKind.UNPARSED, subject=MOUNTINFO, detail=f"{MOUNTINFO} shows neither / nor /proc"
        )
    return Gap(kind=mounts.kind or ReasonKind.FAILED, subject=MOUNTINFO, detail=mounts.detail)


def _private_gap(own: Answer[Any], pid1: Answer[Any]) -> Gap:
    gap = Gap.of(pid1, PID1_NAMESPACE) if own.ok else Gap.of(own, SELF_NAMESPACE)
    if own.ok and gap.kind is ReasonKind.DENIED:
        # The ordinary state of every user on every machine: nothing that went wrong.
        return evolve(gap, kind=ReasonKind.UNSUPPORTED)
    return gap
