"""The RDMA devices that the kernel lists."""

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Coverage, ReasonKind, Scope
from aorta.plugin import provider
from aorta_collectors.kernel_files import believed

DIRECTORY = "/sys/class/infiniband"


@frozen
class RdmaDevices:
    """Names under ``/sys/class/infiniband``, sorted; ``kind`` says why they could not be listed.

    Without the directory no RDMA subsystem is loaded: no names, and ``kind`` is absent; ``unsupported``
    where there is no sysfs to see it in.
    """

    names: tuple[str, ...] = ()
    kind: ReasonKind | None = None
    detail: str = ""


@provider(model=RdmaDevices, scope=Scope.NAMESPACE, timeout_s=5)
def provide(ctx: Context) -> RdmaDevices:
    """RDMA devices of the kernel, by name."""
    answer = believed(ctx, ctx.scan(DIRECTORY))
    names = tuple(entry.name for entry in answer.value or ())
    if names:
        ctx.cover("rdma", Coverage.SEEN)
    elif answer.ok or answer.absent:
        ctx.cover("rdma", Coverage.ABSENT)
    else:
        ctx.cover("rdma", Coverage.UNKNOWN)
    return RdmaDevices(names=names, kind=answer.kind, detail=answer.detail)
