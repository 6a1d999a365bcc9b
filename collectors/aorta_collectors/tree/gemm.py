"""What hipBLASLt and rocBLAS have in common: two GEMM libraries with Tensile kernels."""

import re
from typing import Annotated, Any

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.catalog import TENSILE
from aorta_collectors.tree.kernel_library import (
    KernelLibrary,
    LibraryCopy,
    describe,
    note_header,
)
from aorta_collectors.tree.manifest import read_manifest

SOURCES = "rocm-libraries"
MATCHES = "upstream_commit_matches_tweak"
NO_ROCM: Answer[Any] = Answer(kind=ReasonKind.ABSENT, detail="no ROCm was found")

HIPBLASLT = KernelLibrary(
    soname="libhipblaslt.so",
    headers=("hipblaslt/hipblaslt-version.h", "hipblaslt-version.h"),
    prefix="HIPBLASLT_VERSION_",
    kernels="hipblaslt/library",
    family=TENSILE,
    variable="HIPBLASLT_TENSILE_LIBPATH",
    empty_counts=True,
)
ROCBLAS = KernelLibrary(
    soname="librocblas.so",
    headers=("rocblas/internal/rocblas-version.h", "rocblas/rocblas-version.h", "rocblas-version.h"),
    prefix="ROCBLAS_VERSION_",
    kernels="rocblas/library",
    family=TENSILE,
    variable="ROCBLAS_TENSILE_LIBPATH",
    empty_counts=True,
)


@frozen
class Gemm:
    """One of the two libraries, as installed under the root."""

    rocm_release_tweak: Annotated[
        str | None,
        Fact(
            "VERSION_TWEAK of the header, as it stands, e.g. 56aab12f-dirty.",
            caveat="Identifies the ROCm release that it was built in, not a commit of the library.",
        ),
    ] = None
    tweak_dirty: Annotated[
        bool | None, Fact("Whether the tweak ends in -dirty: built from changed sources.")
    ] = None
    package_version: Annotated[
        str | None,
        Fact("Version of the header, e.g. 1.2.1.", caveat="The header's: runtime installs have none."),
    ] = None
    version_code: Annotated[
        int | None,
        Fact("The same as one number, as hipBLASLt prints it: 1500 is 0.15.0, 100000 is 1.0.0."),
    ] = None
    header_path: Annotated[str | None, Fact("The header that was read.")] = None
    lib_path: Annotated[
        str | None, Fact("Real path of the library file.", caveat="Installed, not loaded.")
    ] = None
    lib_hash: Annotated[str | None, Fact("sha256 of that file.", caveat="Installed, not loaded.")] = None
    kernel_db_dir: Annotated[
        str | None, Fact("The kernels installed with it, whatever a variable names for a run.")
    ] = None
    kernel_db_revision: Annotated[
        str | None,
        Fact(
            "filenames-sha256 over the names of the kernel files in that directory.",
            caveat="Names only: the same names may hold other kernels. The catalog hashes contents.",
        ),
    ] = None
    upstream_commit: Annotated[
        str | None, Fact("Pin of rocm-libraries in TheRock's manifest, which holds the sources.")
    ] = None
    upstream_commit_matches_tweak: Annotated[
        bool | None,
        Fact("Whether the pin begins with the tweak; null unless the tweak is a plain commit of 7 to 12."),
    ] = None
    applied_prs: Annotated[dict[str, str] | None, Fact("Reserved; always empty.")] = None
    other_libraries: Annotated[
        tuple[LibraryCopy, ...] | None,
        Fact("Other files of this library that a process could load instead, with their kernels."),
    ] = None


def version_code(version: str) -> int:
    """Return the number that stands for a version: 1500 for 0.15.0."""
    major, minor, patch = (int(part) for part in version.split("."))
    return major * 100_000 + minor * 100 + patch


def matches(pin: str | None, tweak: str | None) -> bool | None:
    """Tell whether a pin begins with a tweak, None where either is missing or the tweak is no commit."""
    if pin is None or tweak is None or not re.fullmatch(r"[0-9a-fA-F]{7,12}", tweak):
        return None
    return pin.startswith(tweak.lower())


def describe_gemm(ctx: Context, library: KernelLibrary) -> dict[str, Any]:
    """Return the values of ``Gemm`` by name, with their gaps noted."""
    roots = ctx.need(RocmRoots)
    header, values = describe(ctx, library)
    note_header(ctx, header, library.prefix, tweak="tweak_dirty", version="version_code")
    pin = _pin(ctx, roots)
    if not roots.found:
        ctx.take(roots.unseen or NO_ROCM, "applied_prs")
    return {
        **values,
        "tweak_dirty": header.tweak.endswith("-dirty") if header.tweak else None,
        "version_code": version_code(header.version) if header.version else None,
        "upstream_commit": pin.value,
        "upstream_commit_matches_tweak": _matches(ctx, pin.value, header.tweak),
        "applied_prs": {} if roots.found else None,
    }


def _pin(ctx: Context, roots: RocmRoots) -> Answer[str]:
    """Return the commit of the sources; that another kind of ROCm has no manifest is no news."""
    answer = roots.unseen or read_manifest(ctx, roots.prefixes)
    pins = [each.pin_sha for each in answer.value.submodules if each.name == SOURCES] if answer.value else []
    if pins and pins[0] is not None:
        return Answer(value=pins[0], subject=answer.subject)
    gone: Answer[str] = answer.failure
    if answer.value is not None:
        text = f"the manifest has no pin of {SOURCES}"
        gone = Answer(kind=ReasonKind.ABSENT, subject=answer.subject, detail=text)
    for field in ("upstream_commit", MATCHES):
        ctx.take(gone, field)
    return gone


def _matches(ctx: Context, pin: str | None, tweak: str | None) -> bool | None:
    """Tell whether the pin begins with the tweak, and note why a tweak cannot be compared."""
    found = matches(pin, tweak)
    if pin is not None and found is None:
        text = "there is no tweak" if tweak is None else f"the tweak {tweak!r} is no plain commit"
        ctx.note(ReasonKind.ABSENT if tweak is None else ReasonKind.UNSUPPORTED, MATCHES, text)
    return found
