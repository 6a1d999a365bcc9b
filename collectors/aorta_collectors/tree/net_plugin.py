"""The network plugin that RCCL would load, by the rules of its loader."""

import posixpath
from collections.abc import Iterable, Iterator
from typing import Any

from aorta.collect import Answer, Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.tree.libraries import configured_dirs, search_path
from aorta_collectors.tree.links import absolute

VARIABLE = "NCCL_NET_PLUGIN"
BY_DEFAULT = "librccl-net.so"


@frozen
class NetPlugin:
    """What came of the search: ``mode`` is internal, external or unknown; ``trouble`` says why unknown."""

    mode: str
    path: str | None = None
    trouble: Answer[Any] | None = None


def file_names(plugin: str) -> list[str]:
    """Return the file names that a plugin's name may stand for, in the order of trying."""
    stem = plugin.removesuffix(".so").removeprefix("lib")
    suffixed = [f"librccl-net-{plugin}.so", f"libnccl-net-{plugin}.so", f"librccl-{plugin}.so"]
    tried = [plugin, f"lib{stem}.so", f"{stem}.so", f"lib{stem}", stem]
    return list(dict.fromkeys(tried + ([] if plugin.endswith(".so") else suffixed)))


def find_plugin(ctx: Context, lib_dirs: tuple[str, ...], hidden: Answer[Any] | None = None) -> NetPlugin:
    """Find the plugin that ``NCCL_NET_PLUGIN`` names, else the one that RCCL looks for by itself.

    ``none`` asks for no plugin. Without the variable RCCL loads ``librccl-net.so`` where the loader
    finds it, and works internally where not: that is the normal case and no failure. ``hidden`` says
    why ROCm's own library directories are not known.
    """
    wanted = (ctx.env(VARIABLE) or "").strip()
    if wanted.lower() == "none":
        return NetPlugin(mode="internal")
    if not wanted:
        found = _first(ctx, _places(ctx, [BY_DEFAULT], lib_dirs))
        if found.ok:
            return NetPlugin(mode="external", path=found.value)
        # What this user may not read, the loader of this user cannot read either.
        broken = found if not found.absent and found.kind is not ReasonKind.DENIED else None
        trouble = broken or hidden or configured_dirs(ctx).trouble
        return NetPlugin(mode="unknown" if trouble else "internal", trouble=trouble)
    troubles = []
    for name in filter(None, (part.strip() for part in wanted.split(","))):
        found = _named(ctx, name, lib_dirs)
        if found.ok:
            return NetPlugin(mode="external", path=found.value)
        troubles.append(found)
    refused = [trouble for trouble in troubles if not trouble.absent]
    refused += [each for each in (hidden, configured_dirs(ctx).trouble) if each is not None]
    return NetPlugin(mode="unknown", trouble=refused[0] if refused else _nowhere(wanted))


def _named(ctx: Context, name: str, lib_dirs: tuple[str, ...]) -> Answer[str]:
    if "/" in name:
        path = absolute(ctx, name)
        return _first(ctx, [path.value]) if path.value is not None else path
    return _first(ctx, _places(ctx, file_names(name), lib_dirs))


def _nowhere(wanted: str) -> Answer[str]:
    text = f"{VARIABLE}={wanted}, and no such file is where the loader looks"
    return Answer(kind=ReasonKind.EXPECTED, subject=VARIABLE, detail=text)


def _places(ctx: Context, names: list[str], lib_dirs: tuple[str, ...]) -> Iterator[str]:
    for directory in dict.fromkeys([*search_path(ctx), *lib_dirs, *configured_dirs(ctx).places]):
        for name in names:
            yield posixpath.join(directory, name)


def _first(ctx: Context, paths: Iterable[str]) -> Answer[str]:
    """Return the first path that leads to a file; a refusal counts only where none is found."""
    refused: Answer[str] | None = None
    for path in paths:
        seen = ctx.stat(path)
        if seen.value is not None and seen.value.kind == "file":
            return Answer(value=path, subject=path)
        if not seen.ok and not seen.absent and refused is None:
            refused = seen.failure
    return refused or Answer(kind=ReasonKind.ABSENT, detail="no such file")
