"""Image and id of the container that the process runs in."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.providers.isolation_evidence import IsolationEvidence

IMAGE, DIGEST = "AORTA_DOCKER_IMAGE", "AORTA_DOCKER_DIGEST"


@frozen
class Docker:
    """The container's image, as its launcher says, and its id, as the machine shows it."""

    image: Annotated[
        str | None,
        Fact(
            f"Image reference from {IMAGE}.",
            caveat="What the launcher says: an image cannot be seen from inside.",
            provenance=(Provenance.CALLER_ASSERTED,),
        ),
    ] = None
    digest: Annotated[
        str | None,
        Fact(
            f"Image digest from {DIGEST}.",
            caveat="What the launcher says: an image cannot be seen from inside.",
            provenance=(Provenance.CALLER_ASSERTED,),
        ),
    ] = None
    container_id: Annotated[str | None, Fact("The runtime's id of the own container.")] = None


@collector(
    section="docker",
    model=Annotated[
        Docker | None, Fact("null outside containers; given for every runtime, not docker alone.")
    ],
    provenance=(Provenance.PROCESS, Provenance.FILESYSTEM, Provenance.CALLER_ASSERTED),
    scope=Scope.NAMESPACE,
    needs=(IsolationEvidence,),
    timeout_s=5,
)
def collect(ctx: Context) -> Docker | None:
    """Image, digest and id of the container."""
    evidence = ctx.need(IsolationEvidence)
    image, digest = ctx.env(IMAGE) or None, ctx.env(DIGEST) or None
    told = image is not None or digest is not None
    if evidence.container_gap is not None and not told:
        evidence.container_gap.note(ctx, "")
        return None
    if evidence.container is False:
        if told:
            name = IMAGE if image else DIGEST
            ctx.note(ReasonKind.ABSENT, "", f"{name} is set, but this is no container", subject=name)
        return None
    for name, value, field in ((IMAGE, image, "image"), (DIGEST, digest, "digest")):
        if value is None:
            ctx.note(ReasonKind.NOT_REQUESTED, field, f"the launcher did not set {name}", subject=name)
    if evidence.container_id_gap is not None:
        evidence.container_id_gap.note(ctx, "container_id")
    return Docker(image=image, digest=digest, container_id=evidence.container_id)
