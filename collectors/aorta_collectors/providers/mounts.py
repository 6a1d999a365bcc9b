"""What is mounted, as this process sees it."""

from aorta.collect import Context, Mount, parse_mountinfo
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind, Scope
from aorta.plugin import provider

MOUNTINFO = "/proc/self/mountinfo"


@frozen
class Mounts:
    """The mounts of ``/proc/self/mountinfo`` in its order; ``kind`` says why there are none."""

    mounts: tuple[Mount, ...] = ()
    kind: ReasonKind | None = None
    detail: str = ""

    @property
    def seen(self) -> bool:
        """Tell whether the table could be read."""
        return self.kind is None

    def at(self, point: str) -> Mount | None:
        """Return the topmost mount on ``point``, or None."""
        return next((mount for mount in reversed(self.mounts) if mount.mount_point == point), None)


@provider(model=Mounts, scope=Scope.NAMESPACE, timeout_s=5)
def provide(ctx: Context) -> Mounts:
    """Mount table of this process."""
    answer = ctx.data(MOUNTINFO)
    if answer.value is None:
        return Mounts(kind=answer.kind or ReasonKind.ABSENT, detail=answer.detail)
    mounts = tuple(parse_mountinfo(answer.value.decode("utf-8", "replace")))
    if not mounts:
        return Mounts(kind=ReasonKind.UNPARSED, detail=f"{MOUNTINFO} holds no mount")
    return Mounts(mounts=mounts)
