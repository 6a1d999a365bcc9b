"""The other files of a mapped library on this host that a loader could be led to."""

import posixpath
from collections.abc import Iterable

from aorta.collect import Context
from aorta_collectors.loaded.families import base_of
from aorta_collectors.loaded.model import OtherCopy
from aorta_collectors.loaded.origin import Homes, origin_of
from aorta_collectors.tree.copies import LD_LIBRARY_PATH, TORCH, WHEEL, Places, find_copies, places_of
from aorta_collectors.tree.libraries import configured_dirs, search_path

ROCM_ROOT = "rocm"


def find_places(ctx: Context, rocm: Iterable[str], torch: str | None, wheels: Iterable[str]) -> Places:
    """Return LD_LIBRARY_PATH, torch's own directory, wheels, the ROCm root and what ld.so.conf names."""
    own = (torch,) if torch else ()
    before = {LD_LIBRARY_PATH: search_path(ctx), TORCH: own, WHEEL: wheels, ROCM_ROOT: rocm}
    return places_of(configured_dirs(ctx), before)


def copies_of(ctx: Context, places: Places, homes: Homes, path: str) -> tuple[OtherCopy, ...] | None:
    """Return the other files of a mapped library, each real path once; None where none could be seen."""
    name = f"lib{base_of(posixpath.basename(path))}.so"
    copies = find_copies(ctx, places, name, path, "other_copies")
    if copies is None:
        return None
    return tuple(OtherCopy(path=copy.path, origin=origin_of(homes, copy.path)) for copy in copies)
