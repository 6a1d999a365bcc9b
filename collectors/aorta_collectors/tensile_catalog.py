"""The Tensile kernels that hipBLASLt and rocBLAS would find: what is on the menu, not what was ordered."""

from collections.abc import Mapping
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.providers.kfd_topology import KfdTopology
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tensile import combined_hash, package_version
from aorta_collectors.tree.arch import uncovered
from aorta_collectors.tree.catalog import CatalogStatus, Menu, Place, names, revision, take_menu
from aorta_collectors.tree.gemm import HIPBLASLT, ROCBLAS
from aorta_collectors.tree.kernel_library import (
    KernelLibrary,
    effective,
    find_library,
    note_header,
    read_header,
)

DOC = (
    "The Tensile kernel files that hipBLASLt and rocBLAS would look at in this environment, by name and"
    " content. They are the menu: which solution a run picks is decided at run time and not told here. Two"
    " machines can have the same library version and other kernels. A torch wheel may bring kernels of its"
    " own (see other_libraries of hipblaslt and rocblas)."
)
OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


@frozen
class TensileLibrary:
    """One library with the directory of kernels that it would read."""

    package_version: Annotated[str | None, Fact("Version of the library's header.")] = None
    lib_hash: Annotated[str | None, Fact("sha256 of the library file.", caveat="Installed, not loaded.")] = (
        None
    )
    kernel_db_revision: Annotated[
        str | None, Fact("filenames-sha256 over the kernel files of the directory that this catalog is of.")
    ] = None
    dir_source: Annotated[
        str | None,
        Fact(
            "What named the directory: HIPBLASLT_TENSILE_LIBPATH, ROCBLAS_TENSILE_LIBPATH or default (the one"
            " installed with the library).",
            provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
        ),
    ] = None
    uncovered_gpu_archs: Annotated[
        tuple[str, ...] | None,
        Fact(
            "Architectures of this machine's GPUs for which no kernel file is named; empty: all have some.",
            caveat="By names: fallback kernels and torch's own copy are not counted.",
            provenance=(Provenance.FILESYSTEM, Provenance.HOST_DEVICE),
        ),
    ] = None
    menu: Annotated[Menu, Fact("The files.")] = Menu()


@frozen
class CombinedTensile:
    """Both libraries together."""

    package_version: Annotated[str | None, Fact("Version of the Tensile Python package.")] = None
    kernel_db_combined_hash: Annotated[
        str | None, Fact("filenames-sha256 over the kernel files of both directories.")
    ] = None


@frozen
class TensileCatalog:
    """The kernels of both libraries."""

    doc: Annotated[str | None, Fact("What this catalog is, and is not.")] = None
    status: Annotated[
        CatalogStatus | None,
        Fact("ok where both menus are, absent where none of them is there, else partial."),
    ] = None
    env_overrides: Annotated[
        dict[str, str | None] | None,
        Fact(
            "The two variables as set; an empty text is set.",
            keys=(HIPBLASLT.variable, ROCBLAS.variable),
            provenance=(Provenance.PROCESS,),
        ),
    ] = None
    hipblaslt: Annotated[TensileLibrary, Fact("hipBLASLt.")] = TensileLibrary()
    rocblas: Annotated[TensileLibrary, Fact("rocBLAS.")] = TensileLibrary()
    combined: Annotated[CombinedTensile, Fact("Both together.")] = CombinedTensile()


@collector(
    section="tensile_catalog",
    model=TensileCatalog,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots, KfdTopology),
    timeout_s=90,
)
def collect(ctx: Context) -> TensileCatalog:
    """Tensile kernel files that hipBLASLt and rocBLAS would read, hashed."""
    roots = ctx.need(RocmRoots)
    places = {
        "hipblaslt": effective(ctx, roots, HIPBLASLT),
        "rocblas": effective(ctx, roots, ROCBLAS),
    }
    hipblaslt = _library(ctx, HIPBLASLT, places["hipblaslt"], "hipblaslt")
    rocblas = _library(ctx, ROCBLAS, places["rocblas"], "rocblas")
    return TensileCatalog(
        doc=DOC,
        status=_status(hipblaslt.menu, rocblas.menu),
        env_overrides={each.variable: ctx.env(each.variable) for each in (HIPBLASLT, ROCBLAS)},
        hipblaslt=hipblaslt,
        rocblas=rocblas,
        combined=_combined(ctx, places),
    )


def _library(ctx: Context, library: KernelLibrary, place: Place, field: str) -> TensileLibrary:
    roots = ctx.need(RocmRoots)
    header = read_header(ctx, roots, library)
    note_header(ctx, header, library.prefix, version=f"{field}.package_version")
    found, _ = find_library(ctx, roots, library)
    listed = place.trouble or names(ctx, place.path or "/", library.family)
    menu = take_menu(ctx, place, library.family, f"{field}.menu")
    return TensileLibrary(
        package_version=header.version,
        lib_hash=ctx.take(ctx.digest(found.value) if found.value else found, f"{field}.lib_hash"),
        kernel_db_revision=ctx.take(revision(listed), f"{field}.kernel_db_revision"),
        dir_source=place.source,
        uncovered_gpu_archs=_uncovered(ctx, menu, f"{field}.uncovered_gpu_archs"),
        menu=menu,
    )


def _combined(ctx: Context, places: Mapping[str, Place]) -> CombinedTensile:
    names_hash = combined_hash(ctx, dict(places))
    return CombinedTensile(
        package_version=ctx.take(package_version(ctx), "combined.package_version"),
        kernel_db_combined_hash=ctx.take(names_hash, "combined.kernel_db_combined_hash"),
    )


def _status(*menus: Menu) -> CatalogStatus:
    kinds = {menu.status for menu in menus}
    return kinds.pop() or CatalogStatus.PARTIAL if len(kinds) == 1 else CatalogStatus.PARTIAL


def _uncovered(ctx: Context, menu: Menu, field: str) -> tuple[str, ...] | None:
    """Return the GPUs' architectures without kernels; None where either side is not known."""
    present = {node.gfx_target for node in ctx.need(KfdTopology).gpus} - {None}
    if menu.gfx_arch_coverage is None:
        kind = ReasonKind.ABSENT if menu.status is CatalogStatus.ABSENT else ReasonKind.BLOCKED
        ctx.note(kind, field, "the kernel files are not known", subject=menu.dir)
        return None
    if not present:
        ctx.note(ReasonKind.ABSENT, field, "no GPU is seen whose architecture could be looked for")
        return None
    if ctx.env_names(OVERRIDE):
        text = f"{OVERRIDE} makes the runtime take the GPUs for others"
        ctx.note(ReasonKind.UNSUPPORTED, field, text, subject=OVERRIDE)
        return None
    return uncovered((arch for arch in present if arch), menu.gfx_arch_coverage)
