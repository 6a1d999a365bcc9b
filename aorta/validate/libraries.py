"""Where a document says which library a process has: the sections, and their fields that identify it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aorta.model.text import listed
from aorta.validate.document import Document
from aorta.validate.value import State, known, shown, state, told

Path = tuple[str, ...]


@dataclass(frozen=True)
class Library:
    """A library and the paths of what identifies it; one of them is enough."""

    name: str
    fields: tuple[Path, ...]
    #: Whether every installation of ROCm for training has it, so that its absence is worth a word.
    expected: bool = False

    @property
    def sections(self) -> tuple[str, ...]:
        """Return the sections that speak of it."""
        return tuple(dict.fromkeys(path[0] for path in self.fields))


def _of(name: str, *fields: str, expected: bool = False) -> Library:
    return Library(name, tuple(tuple(field.split(".")) for field in fields), expected)


#: The libraries of which documents have sections, by the names that the client's graph gives them.
LIBRARIES = {
    library.name: library
    for library in (
        _of("pytorch", "pytorch_version", "pytorch_build.git_commit"),
        _of("rocm", "rocm.version", "hip.version", "pytorch_build.hip_version"),
        _of(
            *("hipblaslt", "hipblaslt.package_version", "hipblaslt.lib_hash", "hipblaslt.rocm_release_tweak"),
            expected=True,
        ),
        _of(
            *("rocblas", "rocblas.package_version", "rocblas.lib_hash", "rocblas.rocm_release_tweak"),
            expected=True,
        ),
        _of(
            *("miopen", "miopen.package_version", "miopen.lib_hash", "miopen.rocm_release_tweak"),
            expected=True,
        ),
        _of("rccl", "rccl.version", "rccl.lib_hash", expected=True),
        _of("triton", "triton.package_version", "triton.commit"),
        _of("fbgemm", "fbgemm.package_version", "fbgemm.commit"),
        _of("aiter", "aiter.package_version", "aiter.commit"),
        _of("aotriton", "aotriton.bundled_version", "aotriton.bundled_lib_hash"),
        _of("composable_kernel", "composable_kernel.system.version", "composable_kernel.system.commit"),
    )
}

#: Their sections that every version of the document has.
SECTIONS = tuple(
    section
    for library in LIBRARIES.values()
    if library.name not in ("pytorch", "rocm")
    for section in library.sections
)


def values(document: Document, library: Library) -> dict[str, Any]:
    """Return the values of the fields by their dotted paths."""
    return {".".join(path): document.at(*path) for path in library.fields}


def identified(document: Document, library: Library) -> bool:
    """Tell whether a document identifies a library: by its section, or as mapped by the very process."""
    return any(map(known, values(document, library).values())) or _observed(document, library.name)


def _observed(document: Document, name: str) -> bool:
    # What was only predicted to be loaded was not seen.
    rows = [row for row in document.listed("loaded_libraries") if isinstance(row, dict)]
    return any(
        row.get("library") == name
        and row.get("basis") == "observed"
        and any(known(row.get(field)) for field in ("digest", "build_id", "version"))
        for row in rows
    )


def lacking(document: Document, library: Library) -> str:
    """Return what stands where the identity of a library should, each way in its own words."""
    if state(document.at(library.sections[0])) is State.NULL and len(library.sections) == 1:
        return f"the section {library.sections[0]} is null"
    if all(state(document.at(section)) is State.MISSING for section in library.sections):
        sections = listed(library.sections)
        return (
            f"the section {sections} is missing" if len(library.sections) == 1 else f"{sections} are missing"
        )
    for section in library.sections:
        whole = document.at(section)
        if len(library.sections) == 1 and not isinstance(whole, dict):
            return f"the section {section} is {shown(whole)}: a wrong type"
    found = values(document, library)
    there = {path: value for path, value in found.items() if state(value) is not State.MISSING}
    if not there:
        return f"none of {listed(list(found))} is there"
    return ", ".join(f"{path} {told(value)}" for path, value in there.items())


def meaningless(document: Document, library: Library) -> Iterator[str]:
    """Yield each field of a library that holds a text which says nothing: an empty one, a placeholder."""
    for path, value in values(document, library).items():
        if isinstance(value, str) and not known(value):
            yield f"{path} {told(value)}"
