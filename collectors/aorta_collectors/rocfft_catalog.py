"""The cache of kernels compiled ahead of time that an install of rocFFT may bring."""

import posixpath
from typing import Annotated, Any

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.arch import is_arch
from aorta_collectors.tree.catalog import CatalogStatus
from aorta_collectors.tree.links import absolute

DOC = (
    "rocFFT's optional read-only cache of kernels compiled ahead of time. Most installs have none and compile"
    " at run time: absent is normal. The cache of a user (ROCFFT_RTC_CACHE_PATH) changes with every run and"
    " is named here, never read."
)
INSTALLED = "rocm_lib"
SYSTEM, USER = "ROCFFT_RTC_SYS_CACHE_PATH", "ROCFFT_RTC_CACHE_PATH"
NAME = "rocfft_kernel_cache.db"

#: What a file of SQLite begins with.
MAGIC = b"SQLite format 3\0"
START, END = "rocfft_kernel_cache_", ".db"

#: Values by which people switch the cache off.
SWITCHED_OFF = (":memory:", "/dev/null")


@frozen
class KernelCache:
    """The cache file."""

    present: Annotated[bool | None, Fact("Whether there is one.")] = None
    path: Annotated[str | None, Fact("The file, also one that is named and not there.")] = None
    source: Annotated[str | None, Fact("ROCFFT_RTC_SYS_CACHE_PATH, or rocm_lib: beside the library.")] = None
    size: Annotated[int | None, Fact("Bytes.")] = None
    sha256: Annotated[str | None, Fact("sha256 of the content.")] = None
    reason: Annotated[str | None, Fact("Why there is none where one is named, or no digest.")] = None


@frozen
class ArchCache:
    """The cache of one architecture, as newer releases ship them."""

    arch: Annotated[str | None, Fact("Architecture in its name.")] = None
    path: Annotated[str | None, Fact("The file.")] = None
    sha256: Annotated[str | None, Fact("sha256 of the content.")] = None


@frozen
class RocfftCatalog:
    """rocFFT's read-only caches."""

    doc: Annotated[str | None, Fact("What this catalog is, and is not.")] = None
    status: Annotated[
        CatalogStatus | None,
        Fact("ok, absent (none is installed, which is normal) or partial (there or named, and not read)."),
    ] = None
    env_overrides: Annotated[
        dict[str, str | None] | None,
        Fact(
            "The two variables as set; rocFFT takes an empty one for none.",
            keys=(SYSTEM, USER),
            provenance=(Provenance.PROCESS,),
        ),
    ] = None
    kernel_cache: Annotated[KernelCache, Fact("The cache for all architectures.")] = KernelCache()
    arch_caches: Annotated[
        tuple[ArchCache, ...] | None, Fact("Caches for one architecture each; null where none could be seen.")
    ] = None


@collector(
    section="rocfft_catalog",
    model=RocfftCatalog,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots,),
    timeout_s=30,
)
def collect(ctx: Context) -> RocfftCatalog:
    """Kernels of rocFFT that were compiled ahead of time, hashed."""
    roots = ctx.need(RocmRoots)
    named = ctx.env(SYSTEM)
    cache = _named(ctx, named) if named else _installed(ctx, roots)
    archs = () if named else _per_arch(ctx, roots)
    status = CatalogStatus.OK if cache.present or archs else CatalogStatus.ABSENT
    troubled = cache.reason is not None and named not in SWITCHED_OFF
    if (
        troubled
        or archs is None
        or (ctx.request.digests != "none" and not all(each.sha256 for each in archs))
    ):
        status = CatalogStatus.PARTIAL
    return RocfftCatalog(
        doc=DOC,
        status=status,
        env_overrides={name: ctx.env(name) for name in (SYSTEM, USER)},
        kernel_cache=cache,
        arch_caches=archs,
    )


def _named(ctx: Context, value: str) -> KernelCache:
    """Return the cache that the variable names; rocFFT then looks nowhere else."""
    if value in SWITCHED_OFF:
        return KernelCache(present=False, path=value, source=SYSTEM, reason=f"{SYSTEM} switches it off")
    place = absolute(ctx, value)
    if place.value is None:
        kind = ReasonKind.EXPECTED if place.absent else place.kind
        return _lost(ctx, value, Answer(kind=kind, subject=SYSTEM, detail=f"{SYSTEM}: {place.detail}"))
    for path in (place.value, posixpath.join(place.value, NAME)):
        seen = ctx.stat(path)
        if seen.value is not None and seen.value.kind == "file":
            return _hashed(ctx, path, SYSTEM, seen.value.size)
        if seen.value is None and not seen.absent:
            return _lost(ctx, path, seen)
    text = f"{SYSTEM} names {place.value}, where there is no cache"
    return _lost(ctx, place.value, Answer(kind=ReasonKind.EXPECTED, subject=place.value, detail=text))


def _lost(ctx: Context, path: str, why: Answer[Any]) -> KernelCache:
    ctx.take(why, "kernel_cache")
    gone = why.kind is ReasonKind.EXPECTED
    return KernelCache(present=False if gone else None, path=path, source=SYSTEM, reason=why.detail)


def _installed(ctx: Context, roots: RocmRoots) -> KernelCache:
    """Return the cache beside the root's library; that there is none is no news."""
    if roots.unseen is not None:
        ctx.take(roots.unseen, "kernel_cache")
        return KernelCache(reason=roots.unseen.detail)
    for directory in _places(roots):
        path = posixpath.join(directory, NAME)
        seen = ctx.stat(path)
        if seen.value is not None and seen.value.kind == "file":
            return _hashed(ctx, path, INSTALLED, seen.value.size)
        if seen.value is None and not seen.absent:
            ctx.take(seen, "kernel_cache")
            return KernelCache(reason=seen.detail)
    text = "no kernel cache was installed with rocFFT, as usual" if roots.found else "no ROCm was found"
    ctx.note(ReasonKind.ABSENT, "kernel_cache", text)
    return KernelCache(present=False)


def _places(roots: RocmRoots) -> list[str]:
    return [place for each in roots.lib_dirs for place in (each, posixpath.join(each, "rocfft"))]


def _hashed(ctx: Context, path: str, source: str, size: int) -> KernelCache:
    begin = ctx.data(path, len(MAGIC))
    if begin.value is not None and begin.value[: len(MAGIC)] != MAGIC:
        text = f"{path}: no SQLite file, so no cache that rocFFT can read"
        ctx.note(ReasonKind.UNPARSED, "kernel_cache", text, subject=path)
    digest = ctx.digest(path)
    asked = not digest.ok and digest.kind is not ReasonKind.NOT_REQUESTED
    return KernelCache(
        present=True,
        path=path,
        source=source,
        size=size,
        sha256=ctx.take(digest, "kernel_cache.sha256"),
        reason=digest.detail if asked else None,
    )


def _per_arch(ctx: Context, roots: RocmRoots) -> tuple[ArchCache, ...] | None:
    found = []
    for directory in _places(roots):
        listed = ctx.scan(directory)
        if not listed.ok and not listed.absent:
            ctx.take(listed, "arch_caches")
            return None
        for entry in listed.value or ():
            arch = entry.name.removeprefix(START).removesuffix(END)
            if entry.kind != "dir" and entry.name == f"{START}{arch}{END}" and is_arch(arch):
                path = posixpath.join(directory, entry.name)
                found.append(
                    ArchCache(arch=arch, path=path, sha256=ctx.take(ctx.digest(path), "arch_caches[].sha256"))
                )
    if roots.unseen is not None:
        ctx.take(roots.unseen, "arch_caches")
    return None if roots.unseen is not None else tuple(found)
