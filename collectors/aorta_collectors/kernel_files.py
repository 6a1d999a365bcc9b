"""Whether the kernel's own file systems are there: where one is not mounted, nothing below it is absent."""

from typing import TypeVar

from aorta.collect import Answer, Context
from aorta.model.vocabulary import ReasonKind

T = TypeVar("T")

#: Every sysfs has these, whatever the kernel.
SYSFS = ("/sys/class", "/sys/kernel", "/sys/devices", "/sys/bus", "/sys/module")
NO_SYSFS = "no sysfs is mounted here"
NO_PROC = "no proc file system is mounted here"


def has_sysfs(ctx: Context) -> bool:
    """Tell whether sysfs is there; a refusal to look does not say that it is not."""
    return not all(ctx.stat(path).absent for path in SYSFS)


def has_proc(ctx: Context) -> bool:
    """Tell whether the proc file system is there; a refusal to look does not say that it is not."""
    if not ctx.stat("/proc/self", follow=False).absent:
        return True
    listed = ctx.scan("/proc")
    return not (listed.absent or listed.value == [])


def believed(ctx: Context, answer: Answer[T]) -> Answer[T]:
    """Return an answer about a path below /sys or /proc; an absence there needs the file system mounted.

    Without sysfs it is ``unsupported``, as in containers and sandboxes. Every Linux machine has /proc:
    without it a live machine's evidence is broken (``expected``); a recording just does not hold it.
    """
    place = answer.subject or ""
    if not answer.absent:
        return answer
    if place.startswith("/sys/") and not has_sysfs(ctx):
        return Answer(kind=ReasonKind.UNSUPPORTED, subject=place, detail=NO_SYSFS)
    if place.startswith("/proc/") and not has_proc(ctx):
        kind = ReasonKind.EXPECTED if ctx.host_kind == "live" else ReasonKind.UNSUPPORTED
        return Answer(kind=kind, subject=place, detail=NO_PROC)
    return answer
