"""The math libraries with their kernels: their rows of the overview, and what is unusual of them."""

import posixpath
from collections.abc import Iterator, Mapping

from aorta.cli.plain import Document
from aorta.model.text import listed

#: The libraries by section, with the place of their catalog.
LIBRARIES = {
    "hipblaslt": ("hipBLASLt", "tensile_catalog", "hipblaslt.menu"),
    "rocblas": ("rocBLAS", "tensile_catalog", "rocblas.menu"),
    "miopen": ("MIOpen", "miopen_catalog", "menu"),
}
NAMES = {**{section: name for section, (name, _, _) in LIBRARIES.items()}, "rccl": "RCCL"}

#: Variables that name other kernels, by the section that tells them, and whether an empty one counts.
OVERRIDES = (
    ("tensile_catalog", "HIPBLASLT_TENSILE_LIBPATH", True),
    ("tensile_catalog", "ROCBLAS_TENSILE_LIBPATH", True),
    ("miopen_catalog", "MIOPEN_SYSTEM_DB_PATH", False),
    ("rocfft_catalog", "ROCFFT_RTC_SYS_CACHE_PATH", False),
)
SEARCHED = "LD_LIBRARY_PATH"

#: Who maps the libraries, by the process that was looked at; any other is a prediction.
MAPPING = {"self": "the process has mapped", "torch_child": "a process with torch maps"}

#: Where the files lie that a section describes; those of any other lie under the ROCm root.
DESCRIBED = {"pytorch_build": "beside torch"}

#: Digits of a digest that tell two files apart at a glance.
DIGITS = 12

SHOWN = 4


def library_rows(known: Document) -> Iterator[tuple[str, str]]:
    """Yield a row for each library that is there; an empty text where that could not be seen."""
    for section, (name, catalog, menu) in LIBRARIES.items():
        version, digest = known.text(f"{section}.package_version"), known.text(f"{section}.lib_hash")
        library = digest or known.text(f"{section}.lib_path")
        kernels = _kernels(known, f"{catalog}.{menu}")
        if version or library:
            told = (
                f"library {_short(digest)}" if digest else "library not hashed" if library else "no library"
            )
            yield name, ", ".join(text for text in (version or "version unknown", told, kernels) if text)
        elif kernels:
            yield name, f"no library, {kernels}"
        elif known.ran(section) and not known.kinds(section, "lib_path") <= {"absent"}:
            yield name, ""
    if known.get("rocfft_catalog.kernel_cache.present") is True:
        digest = known.text("rocfft_catalog.kernel_cache.sha256")
        yield "rocFFT", f"kernel cache {_short(digest) or 'not hashed'}"


def library_notes(known: Document) -> Iterator[str]:
    """Yield the lines."""
    overrides = [text for section, name, empty in OVERRIDES if (text := _set(known, section, name, empty))]
    if overrides:
        yield f"set, and deciding which kernel files are read: {listed(overrides, SHOWN)}"
    copies = list(_in_front(known))
    if copies:
        yield f"{SEARCHED} puts another copy in front: {listed(copies, SHOWN)}"
    if known.get("library_linkage.rocm_rpath") is True and known.text(f"env_vars.{SEARCHED}"):
        number, scanned = (known.get(f"library_linkage.census.{name}") for name in ("rpath", "scanned"))
        counted = isinstance(number, int) and isinstance(scanned, int) and number > 0
        which = f"{number} of {scanned} ROCm libraries" if counted else "ROCm libraries"
        yield f"{which} have an RPATH, which goes before {SEARCHED}"
    uncovered: dict[str, list[str]] = {}
    for section in ("hipblaslt", "rocblas"):
        archs = known.get(f"tensile_catalog.{section}.uncovered_gpu_archs")
        if isinstance(archs, list) and archs:
            uncovered.setdefault(", ".join(map(str, archs)), []).append(NAMES[section])
    for targets, names in uncovered.items():
        yield f"no kernel file for {targets}, which this machine's GPUs are: {listed(names, SHOWN)}"
    yield from _loaded(known)


def _loaded(known: Document) -> Iterator[str]:
    """Yield what is mapped and is not the file that other sections describe, or is no file any more."""
    others: dict[tuple[str, str], list[str]] = {}
    gone: dict[str, list[str]] = {}
    for each in known.members("loaded_libraries"):
        who = MAPPING.get(str(each.get("process")), "an import of torch would map")
        what, differs = f"{each.get('library') or '?'} {each.get('path') or '?'}", each.get("differs_from")
        if each.get("deleted") is True:
            gone.setdefault(who, []).append(what)
        elif isinstance(differs, Mapping) and differs.get("path") and differs.get("same_content") is not True:
            place = DESCRIBED.get(str(differs.get("section")), "under the ROCm root")
            others.setdefault((who, place), []).append(what)
    for (who, place), names in others.items():
        yield f"{who} other copies than the ones {place}: {listed(names, SHOWN)}"
    for who, names in gone.items():
        yield f"{who} files that were removed or replaced since: {listed(names, SHOWN)}"


def _short(digest: str) -> str:
    return digest.rpartition(":")[2][:DIGITS]


def _kernels(known: Document, menu: str) -> str:
    """Return what a catalog is of and its digest, an empty text where there is none."""
    count = known.get(f"{menu}.file_count")
    if not isinstance(count, int):
        return "kernel files not seen" if known.text(f"{menu}.status") == "partial" else ""
    archs, method = known.get(f"{menu}.gfx_arch_coverage"), known.text(f"{menu}.digests")
    targets = f" ({listed(list(map(str, archs)), SHOWN)})" if isinstance(archs, list) and archs else ""
    digest = _short(known.text(f"{menu}.combined_content_hash"))
    content = f" content {digest}" if digest else " not hashed"
    how = f" by {method}" if digest and method not in ("full", "") else ""
    return f"{count} kernel file{'s' if count != 1 else ''}{targets}{content}{how}"


def _set(known: Document, section: str, name: str, empty: bool) -> str:
    """Return ``NAME=value`` of a variable that the libraries heed, else an empty text."""
    told = known.get(f"{section}.env_overrides")
    value = told.get(name) if isinstance(told, Mapping) else known.get(f"env_vars.{name}")
    if not isinstance(value, str) or not (value or empty):
        return ""
    return f"{name}={value or '(empty)'}"


def _in_front(known: Document) -> Iterator[str]:
    """Yield the copies that the loader finds by the variable, but for those behind the root's own."""
    searched = [posixpath.normpath(each) for each in known.text(f"env_vars.{SEARCHED}").split(":") if each]
    for section, name in NAMES.items():
        own = posixpath.dirname(known.text(f"{section}.lib_path"))
        roots = [
            f"{root}/lib" for root in (known.text("rocm.root"), known.text("rocm.root_resolved")) if root
        ]
        first = min(
            (searched.index(each) for each in (own, *roots) if each in searched), default=len(searched)
        )
        for copy in known.members(f"{section}.other_libraries"):
            path = str(copy.get("path") or "?")
            behind = posixpath.dirname(path) in searched[first:]
            if copy.get("origin") == SEARCHED and not behind:
                yield f"{name} {path}"
