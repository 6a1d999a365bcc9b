"""The other files of a library on this host that a loader could be led to."""

import posixpath
from collections.abc import Iterable
from typing import Any

from aorta.collect import Answer, Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.loaded.families import base_of
from aorta_collectors.loaded.model import OtherCopy
from aorta_collectors.loaded.origin import Homes, origin_of
from aorta_collectors.tree.libraries import configured_dirs, pick, search_path


@frozen
class Places:
    """Where copies are looked for, in order.

    ``configured`` are the directories of ld.so.conf; ``troubles`` say what may hide further ones.
    """

    homes: Homes
    directories: tuple[str, ...]
    configured: frozenset[str]
    troubles: tuple[Answer[Any], ...] = ()


def find_places(
    ctx: Context, homes: Homes, rocm: Iterable[str], torch: str | None, wheels: Iterable[str]
) -> Places:
    """Return LD_LIBRARY_PATH, torch's own directory, wheels, the ROCm root and what ld.so.conf names."""
    configured = configured_dirs(ctx)
    named = (*search_path(ctx), *((torch,) if torch else ()), *wheels, *rocm)
    return Places(
        homes=homes,
        directories=tuple(dict.fromkeys((*named, *configured.places))),
        configured=frozenset(configured.places) - frozenset(named),
        troubles=(configured.trouble,) if configured.trouble is not None else (),
    )


def copies_of(ctx: Context, places: Places, path: str) -> tuple[OtherCopy, ...] | None:
    """Return the other files of a mapped library, each real path once; None where none could be seen."""
    name = base_of(posixpath.basename(path))
    known, found, troubles = {path}, [], list(places.troubles)
    for directory in places.directories:
        picked = pick(ctx, (directory,), f"lib{name}.so")
        if picked.value is not None and picked.value not in known:
            known.add(picked.value)
            found.append(OtherCopy(path=picked.value, origin=origin_of(places.homes, picked.value)))
        elif picked.kind is ReasonKind.DENIED and directory in places.configured:
            continue  # the loader of this user may not look there either
        elif not (picked.ok or picked.absent):
            troubles.append(picked)
    for trouble in troubles:
        ctx.take(trouble, "other_copies")
    return tuple(found) if found or not troubles else None
