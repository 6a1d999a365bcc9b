"""A library with kernels beside it: what its header says, which file it is, where its kernels lie."""

import posixpath
import re
from collections.abc import Iterator
from typing import Annotated, Any

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.providers.python_facts import PythonFacts
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.tree.catalog import DEFAULT, Family, Place, coverage, names, revision
from aorta_collectors.tree.copies import Copy, other_copies
from aorta_collectors.tree.headers import first_header, version, word
from aorta_collectors.tree.layout import WHEEL_PREFIX
from aorta_collectors.tree.libraries import pick
from aorta_collectors.tree.links import absolute

LIBRARIES = f"{WHEEL_PREFIX}libraries"
_VERSIONED = re.compile(r"\d{1,9}(?:\.\d{1,9}){1,4}")


@frozen
class KernelLibrary:
    """One library of the kind.

    ``kernels`` is the directory of its kernels, relative to that of the library. ``variable`` names
    another one for a run; ``empty_counts``: the library takes the variable even when it is empty.
    """

    soname: str
    headers: tuple[str, ...]
    prefix: str
    kernels: str
    family: Family
    variable: str
    empty_counts: bool


@frozen
class LibraryCopy:
    """Another file of the same library that a process could load, with the kernels beside it."""

    path: Annotated[str | None, Fact("Real path of the library.")] = None
    origin: Annotated[
        str | None, Fact("LD_LIBRARY_PATH, torch (inside its wheel), wheel (a ROCm wheel) or ld.so.conf.")
    ] = None
    kernel_db_dir: Annotated[str | None, Fact("Its own kernels; null where none lie beside it.")] = None
    gfx_arch_coverage: Annotated[
        tuple[str, ...] | None, Fact("Architectures in the names of these kernels.")
    ] = None


@frozen
class Header:
    """What a version header says; ``seen`` is the answer that tells why a value is missing."""

    seen: Answer[dict[str, str]]
    path: str | None = None
    tweak: str | None = None
    version: str | None = None


def read_header(ctx: Context, roots: RocmRoots, library: KernelLibrary) -> Header:
    """Read the first header that tells a version; where none does, the first that is there."""
    if roots.unseen is not None:
        return Header(seen=roots.unseen)
    first: Header | None = None
    for name in library.headers:
        answer = first_header(ctx, roots.include_root, (name,))
        defines = answer.value or {}
        header = Header(
            seen=answer,
            path=answer.subject if answer.ok else None,
            tweak=word(defines, f"{library.prefix}TWEAK"),
            version=version(defines, library.prefix),
        )
        if header.version is not None:
            return header
        if not answer.absent:
            first = first or header
    place = posixpath.join(roots.include_root, "include", library.headers[0])
    text = f"{place}: no such header, as in runtime installs"
    return first or Header(seen=Answer(kind=ReasonKind.ABSENT, subject=place, detail=text))


def note_header(ctx: Context, header: Header, prefix: str, **fields: str) -> None:
    """Note why a header gave no path, no tweak and no version; ``fields`` maps these to field names."""
    missing = {"tweak": (ReasonKind.ABSENT, "no TWEAK, or none alone")}
    for what, field in fields.items():
        if getattr(header, what) is not None:
            continue
        if not header.seen.ok:
            ctx.take(header.seen, field)
            continue
        kind, text = missing.get(what, (ReasonKind.UNPARSED, "no MAJOR, MINOR and PATCH"))
        ctx.note(kind, field, f"{header.path}: {text} of {prefix}", subject=header.path)


def find_library(ctx: Context, roots: RocmRoots, library: KernelLibrary) -> tuple[Answer[str], str | None]:
    """Return the real path of the root's library, and the library directory that it was found in."""
    if roots.unseen is not None:
        return roots.unseen, None
    found: Answer[str] = pick(ctx, (), library.soname)
    for directory in roots.lib_dirs:
        found = pick(ctx, (directory,), library.soname)
        if not found.absent:
            return found, directory
    return found, None


def packaged(ctx: Context, roots: RocmRoots, library: KernelLibrary) -> Place:
    """Return the kernels that were installed with the root's library."""
    if roots.unseen is not None:
        return Place(path=None, source=DEFAULT, trouble=roots.unseen)
    found, home = find_library(ctx, roots, library)
    homes = tuple(dict.fromkeys((*((home,) if home else ()), *roots.lib_dirs)))
    for directory in homes:
        place = _beside(ctx, directory, library, versioned=roots.layout == "distribution")
        if not (place.trouble is not None and place.trouble.absent):
            return place
    path = posixpath.normpath(posixpath.join((homes or (f"{roots.lib_root}/lib",))[0], library.kernels))
    if found.ok:
        text = f"{library.soname} is there, its kernels in {path} are not"
        return Place(
            path=path,
            source=DEFAULT,
            trouble=Answer(kind=ReasonKind.EXPECTED, subject=path, detail=text),
        )
    gone: Answer[Any] = Answer(kind=ReasonKind.ABSENT, subject=path, detail=f"{path}: no such directory")
    return Place(path=path, source=DEFAULT, trouble=gone)


def _beside(ctx: Context, directory: str, library: KernelLibrary, *, versioned: bool) -> Place:
    """Return the kernels of a library in a directory; Debian puts a version between the two names."""
    path = posixpath.normpath(posixpath.join(directory, library.kernels))
    place = _looked(ctx, path)
    if versioned and place.trouble is not None and place.trouble.absent and "/" in library.kernels:
        above, name = posixpath.split(path)
        listed = [entry.name for entry in ctx.scan(above).value or () if _VERSIONED.fullmatch(entry.name)]
        for number in sorted(listed, key=lambda each: [int(part) for part in each.split(".")], reverse=True):
            other = _looked(ctx, posixpath.join(above, number, name))
            if other.trouble is None:
                return other
    return place


def _looked(ctx: Context, path: str, source: str = DEFAULT) -> Place:
    seen = ctx.stat(path)
    if seen.value is None:
        gone: Answer[Any] = Answer(kind=seen.kind, subject=path, detail=seen.detail)
        return Place(path=path, source=source, trouble=gone)
    if seen.value.kind != "dir":
        text = f"{path}: a {seen.value.kind}, no directory"
        return Place(
            path=path, source=source, trouble=Answer(kind=ReasonKind.EXPECTED, subject=path, detail=text)
        )
    return Place(path=path, source=source)


def effective(ctx: Context, roots: RocmRoots, library: KernelLibrary) -> Place:
    """Return the directory that a process with this environment reads: the variable's, else the packaged.

    The variable names one directory. Whatever it names, the library looks nowhere else.
    """
    name = library.variable
    value = ctx.env(name)
    if value is None or (not value and not library.empty_counts):
        return packaged(ctx, roots, library)
    if not value:
        text = f"{name} is set to nothing: the library takes that for its directory and finds no kernels"
        return _lost(None, name, ReasonKind.EXPECTED, text)
    path = absolute(ctx, value)
    if path.value is None:
        kind = ReasonKind.EXPECTED if path.absent else path.kind or ReasonKind.FAILED
        return _lost(None, name, kind, f"{name}: {path.detail}")
    place = _looked(ctx, path.value, name)
    trouble = place.trouble
    if trouble is None:
        return place
    if not trouble.absent:
        return _lost(path.value, name, trouble.kind or ReasonKind.FAILED, f"{name}: {trouble.detail}")
    text = f"{name} names {path.value}, which is not there"
    return _lost(
        path.value,
        name,
        ReasonKind.EXPECTED,
        f"{text}; it takes one directory, not a list" if ":" in value else text,
    )


def _lost(path: str | None, name: str, kind: ReasonKind, text: str) -> Place:
    return Place(path=path, source=name, trouble=Answer(kind=kind, subject=path or name, detail=text))


def describe(ctx: Context, library: KernelLibrary) -> tuple[Header, dict[str, Any]]:
    """Return the header, and by name the values that every such library has, with their gaps noted."""
    roots = ctx.need(RocmRoots)
    header = read_header(ctx, roots, library)
    fields = {"tweak": "rocm_release_tweak", "version": "package_version", "path": "header_path"}
    note_header(ctx, header, library.prefix, **fields)
    found, _ = find_library(ctx, roots, library)
    path = ctx.take(found, "lib_path")
    place = packaged(ctx, roots, library)
    if place.trouble is not None:
        ctx.take(place.trouble, "kernel_db_dir")
    listed = place.trouble or names(ctx, place.path or "/", library.family)
    return header, {
        "rocm_release_tweak": header.tweak,
        "package_version": header.version,
        "header_path": header.path,
        "lib_path": path,
        "lib_hash": ctx.take(ctx.digest(path) if path else found, "lib_hash"),
        "kernel_db_dir": place.path if place.trouble is None else None,
        "kernel_db_revision": ctx.take(revision(listed), "kernel_db_revision"),
        "other_libraries": other_libraries(ctx, roots, library, path),
    }


def other_libraries(
    ctx: Context, roots: RocmRoots, library: KernelLibrary, own: str | None
) -> tuple[LibraryCopy, ...] | None:
    """Return the other files of a library with their kernels; None where some were hidden."""
    copies = other_copies(ctx, library.soname, own, _wheels(ctx, roots))
    return tuple(_copy(ctx, library, copy) for copy in copies) if copies is not None else None


def _wheels(ctx: Context, roots: RocmRoots) -> Iterator[str]:
    """Yield the library directories of ROCm's Python packages."""
    torch = ctx.module("torch").value
    for site in _sites(ctx, roots, torch.locations[:1] if torch else ()):
        for entry in ctx.scan(site).value or ():
            if entry.name.startswith(LIBRARIES):
                yield posixpath.join(site, entry.name, "lib")


def _sites(ctx: Context, roots: RocmRoots, torch: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directories that Python packages with ROCm libraries may lie in."""
    beside = [posixpath.dirname(root) for root in roots.lib_roots if WHEEL_PREFIX in root]
    return tuple(dict.fromkeys((*beside, *map(posixpath.dirname, torch), *ctx.need(PythonFacts).sites)))


def _copy(ctx: Context, library: KernelLibrary, copy: Copy) -> LibraryCopy:
    kernels = _beside(ctx, copy.place, library, versioned=False)
    listed = names(ctx, kernels.path or copy.place, library.family) if kernels.trouble is None else None
    return LibraryCopy(
        path=copy.path,
        origin=copy.origin,
        kernel_db_dir=kernels.path if kernels.trouble is None else None,
        gfx_arch_coverage=coverage(listed.value) if listed is not None and listed.value is not None else None,
    )
