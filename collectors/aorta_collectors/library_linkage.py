"""Whether ``LD_LIBRARY_PATH`` can put another ROCm library in place of the installed ones.

Told by the libraries themselves, never by a version or a layout: in one release of a wheel some carry
RPATH and others RUNPATH. A single RPATH is enough, since it also counts for what is loaded below it.
"""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope, Word
from aorta.plugin import collector
from aorta_collectors.providers.rocm_roots import RocmRoots, shares_directories
from aorta_collectors.tree.libraries import by_version, pick
from aorta_collectors.tree.rpath import (
    Census,
    Counted,
    Selection,
    Tag,
    dynamic_facts,
    effective_tag,
    present_tags,
    take_census,
)

SAMPLE = ("libamdhip64.so", "libhipblaslt.so", "librocblas.so", "libMIOpen.so", "librccl.so")
TORCH_LIBRARY = "libtorch_hip.so"


class LinkageStatus(Word):
    """Whether libraries were read."""

    OK = "ok"
    UNREADABLE = "unreadable"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class LibraryScope(Word):
    """Whose library it is."""

    ROCM = "rocm"
    PYTORCH = "pytorch"


@frozen
class LinkedLibrary:
    """One library of the sample: the file that other sections tell the digest of."""

    name: Annotated[str | None, Fact("Name that was looked for.")] = None
    scope: Annotated[LibraryScope | None, Fact("rocm, or pytorch for the one beside torch.")] = None
    path: Annotated[str | None, Fact("Real path of the file.", caveat="Installed, not loaded.")] = None
    dt_tags: Annotated[tuple[Tag, ...] | None, Fact("The tags in it: rpath, runpath, both or neither.")] = (
        None
    )
    effective_tag: Annotated[
        Tag | None, Fact("The tag that counts: runpath hides rpath. none, or unknown where not read.")
    ] = None
    search_path: Annotated[
        str | None, Fact("Text of the tag that counts, e.g. $ORIGIN:$ORIGIN/rocm_sysdeps/lib.")
    ] = None
    soname: Annotated[str | None, Fact("DT_SONAME, e.g. libamdhip64.so.7; null where it has none.")] = None
    build_id: Annotated[str | None, Fact("GNU build id; null where the linker was told to write none.")] = (
        None
    )
    reason: Annotated[str | None, Fact("Why nothing is known of it.")] = None


@frozen
class Linkage:
    """Where the ROCm libraries, and those beside torch, make the linker look."""

    status: Annotated[
        LinkageStatus | None,
        Fact(
            "ok (something was read), unreadable (what is there could not be), absent or unknown (not seen).",
            always=True,
        ),
    ] = None
    rocm_rpath: Annotated[
        bool | None,
        Fact(
            "true: an RPATH counts in one of the libraries at least, so LD_LIBRARY_PATH may be undone."
            " false: in none of all of them. Null where not all were read.",
            caveat="Files on disk: a program's own RPATH and LD_PRELOAD decide too.",
        ),
    ] = None
    torch_rpath: Annotated[
        bool | None,
        Fact("The same of the directory beside torch, where wheels bring their own ROCm libraries."),
    ] = None
    tags_observed: Annotated[
        tuple[Tag, ...] | None, Fact("What counts in the libraries of census, sorted.")
    ] = None
    census: Annotated[Census | None, Fact("The library directories of the ROCm root.")] = None
    torch_census: Annotated[Census | None, Fact("The directory of torch's libraries; ROCm builds only.")] = (
        None
    )
    libraries: Annotated[tuple[LinkedLibrary, ...] | None, Fact("The sample.")] = None


@collector(
    section="library_linkage",
    model=Linkage,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots,),
    timeout_s=20,
)
def collect(ctx: Context) -> Linkage:
    """RPATH and RUNPATH of the ROCm libraries, and of those beside torch."""
    roots = ctx.need(RocmRoots)
    torch_dirs = _torch_directory(ctx)
    libraries = tuple(_libraries(ctx, roots, torch_dirs.value or ()))
    rocm = _rocm_census(ctx, roots)
    torch = _torch_census(ctx, torch_dirs)
    return Linkage(
        status=_status(roots, rocm.census, libraries),
        rocm_rpath=_verdict(ctx, rocm, "rocm_rpath", libraries),
        torch_rpath=_verdict(ctx, torch, "torch_rpath"),
        tags_observed=_tags(rocm.census),
        census=rocm.census,
        torch_census=torch.census,
        libraries=libraries,
    )


def _torch_directory(ctx: Context) -> Answer[tuple[str, ...]]:
    """Return the directory of torch's libraries, where there is one, without importing torch."""
    found = ctx.module("torch")
    if not found.ok:
        return found.failure
    for package in found.value.locations[:1] if found.value else ():
        place = posixpath.join(package, "lib")
        if not ctx.stat(place).absent:
            return Answer(value=(place,), subject=place)
    return Answer(
        kind=ReasonKind.ABSENT, subject="torch", detail="no torch, or no directory of its libraries"
    )


def _libraries(ctx: Context, roots: RocmRoots, torch_dirs: Sequence[str]) -> Iterator[LinkedLibrary]:
    for name in SAMPLE:
        found = roots.unseen or _none(roots) or pick(ctx, roots.lib_dirs, name)
        yield _library(ctx, name, LibraryScope.ROCM, found)
    if torch_dirs:
        yield _library(ctx, TORCH_LIBRARY, LibraryScope.PYTORCH, pick(ctx, torch_dirs, TORCH_LIBRARY))


def _none(roots: RocmRoots) -> Answer[Any] | None:
    """Return that there is no ROCm, or None where there is."""
    return None if roots.found else Answer(kind=ReasonKind.ABSENT, detail="no ROCm was found")


def _library(ctx: Context, name: str, scope: LibraryScope, found: Answer[str]) -> LinkedLibrary:
    told: Answer[Any] = dynamic_facts(ctx, found.value) if found.value is not None else found
    elf = ctx.take(told, "libraries")
    if elf is None:
        return LinkedLibrary(
            name=name,
            scope=scope,
            path=found.value,
            effective_tag=Tag.UNKNOWN,
            reason=told.detail,
        )
    tag = effective_tag(elf)
    return LinkedLibrary(
        name=name,
        scope=scope,
        path=found.value,
        dt_tags=present_tags(elf),
        effective_tag=tag,
        search_path={Tag.RUNPATH: elf.runpath, Tag.RPATH: elf.rpath}.get(tag),
        soname=elf.soname,
        build_id=elf.build_id,
    )


def _rocm_census(ctx: Context, roots: RocmRoots) -> Counted:
    if roots.unseen is not None:
        return Counted(census=Census(), trouble=roots.unseen)
    selection = Selection.ROCM_NAMES if shares_directories(ctx, roots) else Selection.ALL
    return take_census(ctx, roots.lib_dirs, selection)


def _torch_census(ctx: Context, torch: Answer[tuple[str, ...]]) -> Counted:
    """Count the libraries beside a torch that was built for ROCm; any other's are of no interest."""
    if torch.value is None:
        return Counted(census=Census(), trouble=torch)
    place = torch.value[0]
    listed = ctx.scan(place)
    if listed.value is not None and not by_version(listed.value, TORCH_LIBRARY):
        detail = f"{place}: no {TORCH_LIBRARY}, so this torch was not built for ROCm"
        return Counted(census=Census(), trouble=Answer(kind=ReasonKind.ABSENT, subject=place, detail=detail))
    return take_census(ctx, (place,), Selection.ALL)


def _verdict(ctx: Context, counted: Counted, field: str, sample: Sequence[LinkedLibrary] = ()) -> bool | None:
    """Return whether an RPATH counts anywhere; an absence is told only of all libraries."""
    census = counted.census
    seen = bool(census.rpath) or any(
        each.effective_tag is Tag.RPATH for each in sample if each.scope is LibraryScope.ROCM
    )
    if counted.trouble is not None:
        ctx.take(counted.trouble, "census" if seen else field)
        return True if seen else None
    if seen:
        return True
    places = ", ".join(census.dirs or ()) or "any directory"
    if not census.scanned:
        ctx.note(ReasonKind.ABSENT, field, f"no libraries in {places}")
    elif counted.unread is not None and census.unreadable == census.scanned:
        ctx.take(counted.unread, field)
    elif census.selection is Selection.ROCM_NAMES:
        words = "shared with other software, so libraries without a known name of ROCm's were not read"
        ctx.note(ReasonKind.UNSUPPORTED, field, f"{places}: {words}")
    else:
        return False
    return None


def _tags(census: Census) -> tuple[Tag, ...] | None:
    if census.scanned is None:
        return None
    counts = ((Tag.NONE, census.none), (Tag.RPATH, census.rpath), (Tag.RUNPATH, census.runpath))
    return tuple(tag for tag, count in counts if count)


def _status(roots: RocmRoots, census: Census, libraries: Sequence[LinkedLibrary]) -> LinkageStatus:
    if _tags(census) or any(each.effective_tag is not Tag.UNKNOWN for each in libraries):
        return LinkageStatus.OK
    if roots.unseen is not None:
        return LinkageStatus.UNKNOWN
    if census.unreadable or census.unlistable_dirs or any(each.path for each in libraries):
        return LinkageStatus.UNREADABLE
    return LinkageStatus.ABSENT
