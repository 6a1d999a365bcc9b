"""The other files of a library on this host that a loader could be led to."""

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from aorta.collect import Answer, Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.tree.libraries import LoaderDirs, configured_dirs, pick, search_path

LD_LIBRARY_PATH, TORCH, WHEEL, LD_SO_CONF = "LD_LIBRARY_PATH", "torch", "wheel", "ld.so.conf"


@frozen
class Copy:
    """Another file of a library: its real path, the directory that leads there, and what leads to that."""

    path: str
    origin: str
    place: str


@frozen
class Places:
    """Directories in the order in which copies are looked for, each with what leads to it.

    ``troubles`` say what may hide further ones.
    """

    origins: Mapping[str, str]
    troubles: tuple[Answer[Any], ...] = ()


def places_of(configured: LoaderDirs, before: Mapping[str, Iterable[str]]) -> Places:
    """Return the directories of ``before``, by what leads to them, and then those of ld.so.conf."""
    origins: dict[str, str] = {}
    for origin, directories in {**before, LD_SO_CONF: configured.places}.items():
        for directory in directories:
            origins.setdefault(directory, origin)
    return Places(origins=origins, troubles=(configured.trouble,) if configured.trouble is not None else ())


def find_copies(ctx: Context, places: Places, name: str, own: str | None, field: str) -> list[Copy] | None:
    """Return the files of a library beside its ``own``, each real path once.

    What can not be looked at is noted against ``field``; None where that was all.
    """
    copies, known, troubles = list[Copy](), {own}, list(places.troubles)
    for directory, origin in places.origins.items():
        found = pick(ctx, (directory,), name)
        if found.kind is ReasonKind.DENIED and origin == LD_SO_CONF:
            continue  # the loader of this user may not look there either
        if found.value is not None and found.value not in known:
            known.add(found.value)
            copies.append(Copy(path=found.value, origin=origin, place=directory))
        elif not (found.ok or found.absent):
            troubles.append(found)
    for trouble in troubles:
        ctx.take(trouble, field)
    return copies if copies or not troubles else None


def other_copies(ctx: Context, name: str, own: str | None, wheels: Iterable[str] = ()) -> list[Copy] | None:
    """Return the other files of a library that this process's loader could take; see ``find_copies``.

    Looked at are LD_LIBRARY_PATH, torch's own, ``wheels`` (directories of further Python packages) and
    ld.so.conf.
    """
    torch = ctx.module("torch")
    packages = torch.value.locations[:1] if torch.value else ()
    inside = [posixpath.join(package, "lib") for package in packages]
    before = {LD_LIBRARY_PATH: search_path(ctx), TORCH: inside, WHEEL: wheels}
    places = places_of(configured_dirs(ctx), before)
    if not torch.ok:
        places = Places(origins=places.origins, troubles=(torch, *places.troubles))
    return find_copies(ctx, places, name, own, "other_libraries")
