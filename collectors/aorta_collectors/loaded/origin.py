"""Where a loaded file comes from, told by its path."""

import posixpath
from collections.abc import Iterable

from aorta.collect import Context
from aorta.model.frozen import frozen
from aorta_collectors.loaded.model import Origin
from aorta_collectors.providers.python_facts import SITES
from aorta_collectors.providers.rocm_roots import RocmRoots, shares_directories
from aorta_collectors.tree.libraries import is_rocm_library
from aorta_collectors.tree.links import resolve


@frozen
class Homes:
    """The directories that tell origins.

    ``torch`` are those of torch's own libraries, ``rocm`` those that belong to the ROCm root alone, and
    ``shared`` those in which ROCm's libraries lie among others.
    """

    torch: tuple[str, ...] = ()
    rocm: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()


def find_homes(ctx: Context, roots: RocmRoots, torch_dirs: Iterable[str | None]) -> Homes:
    """Return the directories; each by its name and by its real path, since a process maps real paths."""
    torch = _both(ctx, torch_dirs)
    if not roots.found:
        return Homes(torch=torch)
    if shares_directories(ctx, roots):
        return Homes(torch=torch, shared=_both(ctx, roots.lib_dirs))
    rocm = _both(ctx, (roots.root, roots.resolved, roots.lib_root, *roots.lib_dirs))
    return Homes(torch=torch, rocm=rocm)


def _both(ctx: Context, directories: Iterable[str | None]) -> tuple[str, ...]:
    named = [each for each in directories if each]
    return tuple(dict.fromkeys([*named, *(resolve(ctx, each).value or each for each in named)]))


def origin_of(homes: Homes, path: str) -> Origin:
    """Return the origin of a file. A Buck link tree comes first: torch itself lies in it."""
    parts = path.split("/")
    if any(part in ("buck-out", "#link-tree") or part.endswith((".par", "#link-tree")) for part in parts):
        return Origin.BUCK_LINK_TREE
    if _below(path, homes.torch):
        return Origin.TORCH_BUNDLED
    if any(part in SITES for part in parts[:-1]):
        return Origin.WHEEL
    if _below(path, homes.rocm):
        return Origin.ROCM_ROOT
    if posixpath.dirname(path) in homes.shared and is_rocm_library(posixpath.basename(path)):
        return Origin.ROCM_ROOT
    return Origin.OTHER


def _below(path: str, directories: Iterable[str]) -> bool:
    return any(path.startswith(f"{each.rstrip('/')}/") for each in directories)
