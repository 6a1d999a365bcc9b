"""The judgement on all signs: container or not, its runtime, orchestrator and id. Pure.

Of two signs the surer wins: the mount of the machine's own root says more than a file or variable that
can stay behind, and where that mount cannot be seen, what can stay behind needs a second sign.
"""

from collections.abc import Sequence

from aorta.model.frozen import evolve, frozen
from aorta_collectors.container.cgroup_paths import KUBERNETES
from aorta_collectors.container.clues import FILE, FIRED, Clue, Rank, Trust
from aorta_collectors.container.root_mount import CONTAINERS_STORAGE, Root, RootKind

NONE, UNKNOWN, SANDBOX = "none", "unknown", "sandbox"
_BARE = frozenset(("root-mount", "cgroup-mount", "proc-mount"))
#: Runtimes that give their containers an id.
_WITH_ID = frozenset(("docker", "podman", "containerd", "cri-o", "buildah", "gvisor", "kata", UNKNOWN))
_OVERRULED = {
    RootKind.OWN: "does not count: / is the machine's own root",
    RootKind.COPY: "does not count: / is the machine's own root, in a mount namespace of its own",
}
_WITHHELD = "does not count alone: it can stay behind, and the mount of / cannot be seen"


@frozen
class Verdict:
    """What the signs say. ``withheld`` tells that there are signs, none of which proves anything alone."""

    container: bool | None = None
    runtime: str = UNKNOWN
    orchestrator: str | None = None
    container_id: str | None = None
    withheld: bool = False


def is_gvisor(found: Sequence[Clue]) -> bool:
    """Tell whether the kernel is gVisor's: all is in a container then, and / is numbered by it alone."""
    return any(clue.name == "kernel" and clue.outcome == FIRED for clue in found)


def judge(found: Sequence[Clue], root: Root, *, looked: bool) -> Verdict:
    """Judge all signs; ``looked`` tells that the mount table could be read, or that there is none."""
    fired = [clue for clue in found if clue.outcome == FIRED]
    held = [clue for clue in fired if root.kind in clue.trust.value]
    if not held:
        known = root.kind is not RootKind.UNKNOWN
        return Verdict(container=False if known else None, runtime=NONE if known else UNKNOWN)
    against = any(clue.against for clue in found) and not any(map(_keeps_the_group, held))
    if root.kind is RootKind.UNKNOWN and not _proven(held) and (against or not looked):
        return Verdict(withheld=True)
    orchestrator = next((clue.orchestrator for clue in (*held, *fired) if clue.orchestrator), None)
    named = sorted((clue for clue in held if clue.runtime), key=lambda clue: clue.rank)
    runtime = _runtime(named, orchestrator) if named else None
    if runtime is None:
        bare = orchestrator is None and all(clue.name in _BARE for clue in held)
        runtime = SANDBOX if bare else UNKNOWN
    identity = _identity(held, runtime, orchestrator)
    return Verdict(container=True, runtime=runtime, orchestrator=orchestrator, container_id=identity)


def explained(clue: Clue, root: Root, verdict: Verdict) -> Clue:
    """Return a sign that fired but did not count with the reason in its value."""
    if clue.outcome != FIRED or clue.trust is Trust.NEVER:
        return clue
    if root.kind not in clue.trust.value:
        if verdict.container and clue.orchestrator:
            return clue
        why = _OVERRULED[root.kind]
    elif verdict.withheld:
        why = _WITHHELD
    else:
        return clue
    return evolve(clue, value=f"{clue.value}; {why}" if clue.value else why)


def _keeps_the_group(clue: Clue) -> bool:
    """Tell whether it is the file of a runtime that leaves its containers in the user's control group."""
    return clue.stays == FILE and clue.rank in (Rank.SINGULARITY, Rank.SOCKET)


def _proven(held: Sequence[Clue]) -> bool:
    """Tell whether a sign cannot stay behind, or a file and a variable say the same."""
    return any(clue.stays is None for clue in held) or len({clue.stays for clue in held}) > 1


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
            # Under Kubernetes every runtime lays the files of the pod's sandbox into all its containers.
            sandbox = clue.network and orchestrator == KUBERNETES
            fits = clue.runtime in (runtime, None) or (storage and clue.runtime == CONTAINERS_STORAGE)
            fits = fits or (storage and name == "podman-marker")
            if clue.name == name and clue.container_id and fits and not sandbox:
                return clue.container_id
    return None
