"""Whether the process runs in a container, in which, and every sign that was looked at."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, Scope
from aorta.plugin import collector
from aorta_collectors.providers.isolation_evidence import IsolationEvidence, Signal


@frozen
class Isolation:
    """The container or sandbox that the process runs in."""

    container: Annotated[
        bool | None,
        Fact("Runs on a foreign root file system or in a named runtime; null when nothing tells."),
    ] = None
    runtime: Annotated[
        str | None,
        Fact(
            "docker, podman, containerd, cri-o, lxc, lxd, systemd-nspawn, apptainer, singularity, enroot, "
            "charliecloud, bwrap, firejail, buildkit, gvisor or another runtime's name; sandbox where a "
            "root of one's own is all there is, none on the machine itself, unknown where nothing names it.",
            caveat="A process can leave a container's root and keep its control group.",
        ),
    ] = None
    orchestrator: Annotated[str | None, Fact("kubernetes, or null.")] = None
    container_id: Annotated[
        str | None,
        Fact(
            "The runtime's id of the own container, never a pod's, sandbox's or layer's.",
            caveat="With a shared network it can be that of the container whose network it is.",
        ),
    ] = None
    private_mounts: Annotated[
        bool | None,
        Fact(
            "The mounts are not those of the machine's PID 1; null when that cannot be told.",
            caveat="A service's private /tmp makes them private, a chroot does not: see container.",
        ),
    ] = None
    signals: Annotated[
        tuple[Signal, ...] | None,
        Fact("Every sign that was looked at, and why one that was seen does not count."),
    ] = None


@collector(
    section="isolation",
    model=Isolation,
    provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
    scope=Scope.NAMESPACE,
    needs=(IsolationEvidence,),
    timeout_s=5,
)
def collect(ctx: Context) -> Isolation:
    """Container, runtime and private mounts of the process, with all signs of them."""
    evidence = ctx.need(IsolationEvidence)
    if evidence.container_gap is not None:
        evidence.container_gap.note(ctx, "container")
    if evidence.private_mounts_gap is not None:
        evidence.private_mounts_gap.note(ctx, "private_mounts")
    if evidence.container and evidence.container_id_gap is not None:
        evidence.container_id_gap.note(ctx, "container_id")
    return Isolation(
        container=evidence.container,
        runtime=evidence.runtime,
        orchestrator=evidence.orchestrator,
        container_id=evidence.container_id,
        private_mounts=evidence.private_mounts,
        signals=evidence.signals,
    )
