"""The log that ``NCCL_DEBUG_FILE`` names, asked for what RCCL said of one library."""

import posixpath

from aorta.collect import Answer, Context
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.loaded.banner import parse_banner
from aorta_collectors.loaded.model import Banner
from aorta_collectors.observations import mapping
from aorta_collectors.tree.links import absolute, resolve

VARIABLE = "NCCL_DEBUG_FILE"
LIMIT = 1 << 20


def banners_of(ctx: Context, library: str) -> tuple[Banner, ...] | None:
    """Return the banners about a library's file, None where there are none, with the reason noted.

    A log is looked for only where the variable is set.
    """
    named = ctx.env(VARIABLE)
    if not named:
        return None
    log = _log(ctx, named)
    banners = parse_banner(log.value) if log.value is not None else ()
    if not banners:
        text = f"{log.subject}: RCCL has written no banner"
        ctx.take(log if not log.ok else _absent(log.subject, text), "banners")
        return None
    fitting = tuple(each for each in banners if each.lib_path and _is_file(ctx, each.lib_path, library))
    if not fitting:
        told = ", ".join(dict.fromkeys(each.lib_path or "no library" for each in banners[:4]))
        ctx.take(_absent(log.subject, f"{log.subject}: the banners in it name {told}"), "banners")
        return None
    return fitting


def _absent(subject: str | None, text: str) -> Answer[str]:
    return Answer(kind=ReasonKind.ABSENT, subject=subject, detail=text)


def _is_file(ctx: Context, path: str, library: str) -> bool:
    return path == library or resolve(ctx, posixpath.normpath(path)).value == library


def _log(ctx: Context, named: str) -> Answer[str]:
    """Return the beginning of the log."""
    path = expanded(ctx, named)
    if path is None:
        text = f"{VARIABLE}={named} names a host or a process, which is not known here"
        return Answer(kind=ReasonKind.UNSUPPORTED, subject=VARIABLE, detail=text)
    place = absolute(ctx, path)
    if place.value is None:
        return place
    seen = ctx.stat(place.value)
    if seen.value is not None and seen.value.kind != "file":
        text = f"{VARIABLE}={named}: a {seen.value.kind}, which can not be read again"
        return Answer(kind=ReasonKind.UNSUPPORTED, subject=place.value, detail=text)
    data = ctx.data(place.value, LIMIT)
    if data.value is None:
        return data.failure
    return Answer(value=data.value.decode("utf-8", "replace"), subject=place.value)


def expanded(ctx: Context, named: str) -> str | None:
    """Return the variable's text as RCCL reads it: %p is the process, %h the host; None where not known."""
    parts = named.split("%%")
    if any("%p" in part for part in parts):
        own = ctx.request.import_strategy == "in_process"
        number = (mapping(ctx, "process").value or {}).get("pid") if own else None
        if type(number) is not int:
            return None
        parts = [part.replace("%p", str(number)) for part in parts]
    return None if any("%" in part for part in parts) else "%".join(parts)
