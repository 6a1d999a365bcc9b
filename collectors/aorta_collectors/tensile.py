"""The Tensile package, if one is installed, and the names of all Tensile kernels under the root."""

import posixpath
from typing import Annotated

from aorta.collect import Answer, Context, names_digest
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.catalog import Place, names
from aorta_collectors.tree.gemm import HIPBLASLT, ROCBLAS
from aorta_collectors.tree.kernel_library import packaged
from aorta_collectors.tree.versions import parse_assignments

PACKAGE = "Tensile"


@frozen
class Tensile:
    """The generator of GEMM kernels, and what it generated for both libraries."""

    package_version: Annotated[
        str | None,
        Fact("Version of the Python package, from its metadata or its text; few machines have it."),
    ] = None
    kernel_db_combined_hash: Annotated[
        str | None,
        Fact(
            "filenames-sha256 over the names of hipBLASLt's and rocBLAS's kernel files together.",
            caveat="Names only; a library that is not installed is left out.",
        ),
    ] = None


@collector(
    section="tensile",
    model=Tensile,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots,),
    timeout_s=15,
)
def collect(ctx: Context) -> Tensile:
    """Tensile package and the names of all Tensile kernels."""
    roots = ctx.need(RocmRoots)
    hipblaslt, rocblas = packaged(ctx, roots, HIPBLASLT), packaged(ctx, roots, ROCBLAS)
    combined = combined_hash(ctx, {"hipblaslt": hipblaslt, "rocblas": rocblas})
    return Tensile(
        package_version=ctx.take(package_version(ctx), "package_version"),
        kernel_db_combined_hash=ctx.take(combined, "kernel_db_combined_hash"),
    )


def package_version(ctx: Context) -> Answer[str]:
    """Return the version of the Python package without importing it, which would run tools."""
    told, module = ctx.distribution(PACKAGE), ctx.module(PACKAGE)
    if told.value is not None and told.value.version:
        return Answer(value=told.value.version, subject=told.subject)
    for package in module.value.locations[:1] if module.value else ():
        path = posixpath.join(package, "__init__.py")
        text = ctx.text(path)
        version = parse_assignments(text.value or "").get("__version__")
        if version:
            return Answer(value=version, subject=path)
        if text.ok:
            return Answer(kind=ReasonKind.UNPARSED, subject=path, detail=f"{path}: no __version__ in it")
        return text.failure
    for answer in (told, module):
        if not answer.ok:
            return answer.failure
    return Answer(kind=ReasonKind.ABSENT, subject=PACKAGE, detail="no such package is installed")


def combined_hash(ctx: Context, places: dict[str, Place]) -> Answer[str]:
    """Return the digest over the names of several libraries' kernels, each behind its library's name.

    A library whose kernels are not installed is left out; one whose kernels cannot be seen leaves none.
    """
    found: list[str] = []
    gone: Answer[str] | None = None
    for library, place in places.items():
        listed = place.trouble or names(ctx, place.path or "/", HIPBLASLT.family)
        if listed.value is not None:
            found += [f"{library}/{name}" for name in listed.value]
            continue
        gone = listed.failure
        if not gone.absent:
            return gone
    if found:
        return Answer(value=names_digest(found))
    text = "no kernel files in the directories of hipBLASLt and rocBLAS"
    return gone or Answer(kind=ReasonKind.ABSENT, detail=text)
