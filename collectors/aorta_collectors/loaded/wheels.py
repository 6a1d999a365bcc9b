"""The library directories of Python packages that bring ROCm's or NVIDIA's libraries."""

import posixpath
from collections.abc import Iterable

from aorta.collect import Context
from aorta_collectors.tree.layout import WHEEL_PREFIX

NVIDIA = "nvidia"


def library_dirs(ctx: Context, sites: Iterable[str]) -> tuple[str, ...]:
    """Return the directories in directories of packages: ``_rocm_sdk_core/lib``, ``nvidia/nccl/lib``."""
    found = []
    for site in dict.fromkeys(sites):
        for entry in ctx.scan(site).value or ():
            place = posixpath.join(site, entry.name)
            if entry.name.startswith(WHEEL_PREFIX) and entry.kind in ("dir", "link"):
                found.append(posixpath.join(place, "lib"))
            elif entry.name == NVIDIA:
                parts = ctx.scan(place).value or ()
                found += [posixpath.join(place, each.name, "lib") for each in parts if each.kind == "dir"]
    return tuple(dict.fromkeys(found))
