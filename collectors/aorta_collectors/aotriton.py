"""The AOTriton that torch brings: attention kernels compiled ahead of time.

It is fetched when torch is built, so torch's commit does not say which one it is.
"""

import posixpath
import re
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.tree.libraries import by_version

LIBRARY = "libaotriton_v2.so"
IMAGES = "aotriton.images"
VARIABLE = "AOTRITON_INSTALLED_PREFIX"


@frozen
class Aotriton:
    """What lies beside torch's libraries."""

    bundled_present: Annotated[bool | None, Fact("Whether libaotriton_v2.so lies there.")] = None
    bundled_version: Annotated[
        str | None,
        Fact("X.Y.Z of the file name; of several the highest. Null where no name holds a version."),
    ] = None
    bundled_lib_hash: Annotated[str | None, Fact("sha256 of that file.", caveat="Installed, not loaded.")] = (
        None
    )
    bundled_images_dir_present: Annotated[
        bool | None,
        Fact(
            "Whether the directory of compiled kernels, aotriton.images, lies there.", caveat="Or is empty."
        ),
    ] = None
    bundled_image_archs: Annotated[
        tuple[str, ...] | None,
        Fact("Directories in it, one for each GPU architecture, e.g. amd-gfx942, sorted."),
    ] = None
    installed_prefix: Annotated[
        str | None,
        Fact(
            "AOTRITON_INSTALLED_PREFIX as set; null when it is not.",
            caveat="For a build of torch: one that is built asks for it no more.",
            provenance=(Provenance.PROCESS,),
        ),
    ] = None


@collector(
    section="aotriton",
    model=Aotriton,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(TorchFacts,),
    timeout_s=30,
)
def collect(ctx: Context) -> Aotriton:
    """AOTriton beside torch: version, digest, kernels."""
    torch, prefix = ctx.need(TorchFacts), ctx.env(VARIABLE)
    if torch.lib_dir is None:
        _nowhere(ctx, torch)
        return Aotriton(installed_prefix=prefix)
    entries = ctx.take(ctx.scan(torch.lib_dir), "")
    if entries is None:
        return Aotriton(installed_prefix=prefix)
    names = by_version(entries, LIBRARY)
    versioned = [name for name in names if numbers(name)]
    present, archs = _images(ctx, posixpath.join(torch.lib_dir, IMAGES))
    return Aotriton(
        bundled_present=bool(names),
        bundled_version=_version(ctx, torch.lib_dir, names, versioned),
        bundled_lib_hash=_digest(ctx, torch.lib_dir, [*versioned, *names]),
        bundled_images_dir_present=present,
        bundled_image_archs=archs,
        installed_prefix=prefix,
    )


def _nowhere(ctx: Context, torch: TorchFacts) -> None:
    """Note why there is no directory to look into."""
    if torch.gap is not None:
        torch.gap.note(ctx, "")
    else:
        text = f"{torch.package}: no directory of torch's libraries was found"
        ctx.note(ReasonKind.UNSUPPORTED, "", text, subject=torch.package)


def _version(ctx: Context, place: str, names: list[str], versioned: list[str]) -> str | None:
    if versioned:
        return versioned[0].removeprefix(f"{LIBRARY}.")
    text = f"{place}: no {LIBRARY}"
    if names:
        text = f"{place}: {', '.join(names[:5])}: no name with three numbers at its end"
    ctx.note(ReasonKind.UNSUPPORTED if names else ReasonKind.ABSENT, "bundled_version", text, subject=place)
    return None


def _digest(ctx: Context, place: str, names: list[str]) -> str | None:
    if not names:
        ctx.note(ReasonKind.ABSENT, "bundled_lib_hash", f"{place}: no {LIBRARY}", subject=place)
        return None
    return ctx.take(ctx.digest(posixpath.join(place, names[0])), "bundled_lib_hash")


def _images(ctx: Context, place: str) -> tuple[bool | None, tuple[str, ...] | None]:
    """Return whether the directory of images is there, and the directories in it."""
    listed = ctx.scan(place)
    if listed.value is not None:
        return True, tuple(entry.name for entry in listed.value if entry.kind == "dir")
    ctx.take(listed, "bundled_image_archs")
    if listed.absent:
        return False, None
    ctx.take(listed, "bundled_images_dir_present")
    return None, None


def numbers(name: str) -> tuple[int, ...]:
    """Return the version in a file name as numbers, (0, 11, 1) of libaotriton_v2.so.0.11.1; else nothing."""
    found = re.fullmatch(re.escape(LIBRARY) + r"\.([0-9]{1,6})\.([0-9]{1,6})\.([0-9]{1,6})", name)
    return tuple(int(part) for part in found.groups()) if found else ()
