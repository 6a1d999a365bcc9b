"""Whether this process runs in a container, and what says so: all signs, judged once.

A container has a root file system of its own or a runtime that can be named. Mounts of one's own alone
(a service's private /tmp, a Slurm job's) are isolation, but no container.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import evolve, frozen
from aorta.model.vocabulary import Coverage, ReasonKind, Scope
from aorta.plugin import provider
from aorta_collectors.container.clues import FIRED, NOT_FIRED, UNREADABLE, Clue, Rank, Trust, clues
from aorta_collectors.container.root_mount import (
    INNERMOST,
    Root,
    RootKind,
    judge_root,
    laid_files,
    private_tmp,
    stacked_cgroup,
    stacked_proc,
)
from aorta_collectors.container.verdict import SANDBOX, UNKNOWN, Verdict, explained, is_gvisor, judge
from aorta_collectors.providers.gap import Gap
from aorta_collectors.providers.mounts import MOUNTINFO, Mounts

SELF_NAMESPACE, PID1_NAMESPACE = "/proc/self/ns/mnt", "/proc/1/ns/mnt"
_TMP, _PROC = "private-tmp", "stacked-proc"
#: Number of the first PID namespace of every kernel.
_FIRST_PIDS = "pid:[4026531836]"
_NESTED = "PID 1 is that of a nested PID namespace, which proves nothing of the machine's"


class Pid1(enum.Enum):
    """Whose ``/proc/1`` is: the machine's, that of a nested PID namespace, or untold."""

    MACHINE = "machine"
    NESTED = "nested"
    UNTOLD = "untold"


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
    is, ``unknown`` where nothing names it. ``read`` is false when not one sign could be looked at, or when
    those that were seen prove nothing.
    """

    container: bool | None = None
    runtime: str = UNKNOWN
    orchestrator: str | None = None
    container_id: str | None = None
    private_mounts: bool | None = None
    signals: tuple[Signal, ...] = ()
    read: bool = False
    container_gap: Gap | None = None
    container_id_gap: Gap | None = None
    private_mounts_gap: Gap | None = None

    @property
    def detected(self) -> bool | None:
        """Tell whether any sign of isolation was seen; None when none could be looked at or proves any."""
        return bool(self.container or self.private_mounts) if self.read else None


@provider(model=IsolationEvidence, scope=Scope.NAMESPACE, needs=(Mounts,), timeout_s=10)
def provide(ctx: Context) -> IsolationEvidence:
    """Signs of containers and sandboxes, and the judgement on them."""
    mounts = ctx.need(Mounts)
    root = judge_root(mounts.mounts)
    own, pid1 = ctx.link(SELF_NAMESPACE), ctx.link(PID1_NAMESPACE)
    standing = _standing(ctx, stacked=stacked_proc(mounts.mounts) is not None)
    namespace = _namespace_clue(own, pid1, standing)
    found = [*_mount_clues(mounts, root), namespace, *clues(ctx), *_without_proc(ctx, mounts)]
    gvisor = is_gvisor(found)
    if gvisor:
        root = evolve(root, kind=RootKind.FOREIGN)
    verdict = judge(found, root, looked=mounts.kind in (None, ReasonKind.ABSENT))
    shown = [explained(clue, root, verdict) for clue in found]
    isolated = root.snap or _has_own_mounts(verdict, mounts, standing)
    private = _private(isolated, found, Pid1.UNTOLD if gvisor else standing)
    read = (mounts.seen or own.ok or _any_read(found)) and not verdict.withheld
    evidence = IsolationEvidence(
        container=verdict.container,
        runtime=verdict.runtime,
        orchestrator=verdict.orchestrator,
        container_id=verdict.container_id,
        private_mounts=private,
        signals=tuple(
            Signal(name=clue.name, source=clue.source, outcome=clue.outcome, value=clue.value)
            for clue in shown
        ),
        read=read or bool(private),
        container_gap=_container_gap(mounts) if verdict.container is None else None,
        container_id_gap=_identity_gap(mounts) if verdict.container_id is None else None,
        private_mounts_gap=_private_gap(own, pid1) if private is None else None,
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
            network=file.network,
            rank=Rank.LAID_FILE,
        )
    if not told:
        yield Clue(name="container-file", source=MOUNTINFO, outcome=NOT_FIRED)
    for name, shown, trust in (
        ("cgroup-mount", stacked_cgroup(mounts.mounts), Trust.UNLESS_HOST),
        (_TMP, private_tmp(mounts.mounts), Trust.NEVER),
        (_PROC, stacked_proc(mounts.mounts), Trust.NEVER),
    ):
        outcome = FIRED if shown else NOT_FIRED
        yield Clue(name=name, source=MOUNTINFO, outcome=outcome, value=shown, trust=trust)


def _standing(ctx: Context, *, stacked: bool) -> Pid1:
    """Tell whose PID 1 /proc shows: seen from a nested PID namespace it may be this process itself."""
    shown = ctx.link("/proc/1/ns/pid")
    number = shown if shown.ok else ctx.link("/proc/self/ns/pid")
    if number.value == _FIRST_PIDS:
        return Pid1.MACHINE
    if ctx.link("/proc/self").value == "1":
        return Pid1.NESTED
    # WSL gives every distribution a PID namespace: its PID 1 is that of the machine all the same.
    wsl = b"microsoft" in (ctx.data("/proc/version", 4096).value or b"").lower()
    return Pid1.NESTED if number.ok and (stacked or not wsl) else Pid1.UNTOLD


def _namespace_clue(own: Answer[str], pid1: Answer[str], standing: Pid1) -> Clue:
    if own.value is None or pid1.value is None:
        outcome, value = UNREADABLE, _missing(own, pid1).detail
    else:
        outcome = NOT_FIRED if own.value == pid1.value else FIRED
        value = f"{own.value}, PID 1: {pid1.value}"
        if outcome == NOT_FIRED and standing is Pid1.NESTED:
            value = f"{value}; {_NESTED}"
    return Clue(
        name="private-mount-namespace",
        source=PID1_NAMESPACE if own.ok else SELF_NAMESPACE,
        outcome=outcome,
        value=value,
        trust=Trust.NEVER,
    )


def _missing(own: Answer[str], pid1: Answer[str]) -> Gap:
    """Return why the two namespaces cannot be compared."""
    if not own.ok:
        return Gap.of(own, SELF_NAMESPACE)
    gap = Gap.of(pid1, PID1_NAMESPACE)
    if gap.kind is ReasonKind.DENIED:
        return evolve(gap, detail=f"PID 1's namespace may not be read here: {gap.detail}")
    return gap


def _without_proc(ctx: Context, mounts: Mounts) -> Iterator[Clue]:
    """Look whether /proc is missing from a tree that is otherwise there: no machine runs like that."""
    if mounts.kind is not ReasonKind.ABSENT:
        return
    top = ctx.scan("/")
    names = {entry.name for entry in top.value or ()}
    if ctx.stat("/proc/self").absent and names & {"bin", "usr"}:
        yield Clue(name="proc-mount", source="/proc", value="/proc is not mounted")


def _has_own_mounts(verdict: Verdict, mounts: Mounts, standing: Pid1) -> bool:
    """Tell whether a container's mounts are its own: where no mount is its root it can be a mere chroot."""
    mounted = mounts.at("/") is not None
    return bool(verdict.container) and (mounted or verdict.runtime != SANDBOX or standing is Pid1.NESTED)


def _private(isolated: bool, found: Sequence[Clue], standing: Pid1) -> bool | None:
    """Tell whether the mounts are the process's own; ``isolated`` ones are, whatever PID 1 shows."""
    outcomes = {clue.name: clue.outcome for clue in found}
    same = outcomes["private-mount-namespace"] == NOT_FIRED
    if same and standing is Pid1.MACHINE:
        # A chroot stands in the machine's own mounts.
        return False
    nested = standing is Pid1.NESTED and outcomes.get(_PROC) == FIRED
    fired = FIRED in (outcomes["private-mount-namespace"], outcomes.get(_TMP))
    if isolated or nested or fired:
        return True
    return False if same and standing is not Pid1.NESTED else None


def _container_gap(mounts: Mounts) -> Gap:
    if mounts.seen:
        return Gap(
            kind=ReasonKind.UNPARSED, subject=MOUNTINFO, detail=f"{MOUNTINFO} shows neither / nor /proc"
        )
    return Gap(kind=mounts.kind or ReasonKind.FAILED, subject=MOUNTINFO, detail=mounts.detail)


def _identity_gap(mounts: Mounts) -> Gap:
    if mounts.seen:
        detail = "neither control group nor mounts hold the id"
        return Gap(kind=ReasonKind.ABSENT, subject=MOUNTINFO, detail=detail)
    return Gap(kind=mounts.kind or ReasonKind.FAILED, subject=MOUNTINFO, detail=mounts.detail)


def _private_gap(own: Answer[Any], pid1: Answer[Any]) -> Gap:
    if own.ok and pid1.ok:
        return Gap(kind=ReasonKind.UNSUPPORTED, subject=PID1_NAMESPACE, detail=_NESTED)
    gap = _missing(own, pid1)
    if own.ok and gap.kind is ReasonKind.DENIED:
        # The ordinary state of every user on every machine: nothing that went wrong.
        return evolve(gap, kind=ReasonKind.UNSUPPORTED)
    return gap
