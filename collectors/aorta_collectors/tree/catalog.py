"""What lies in a directory of kernels: names, counts, architectures and digests of its files.

A catalog says what is installed. Which of its kernels a run picks is decided at run time.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from aorta.collect import Answer, Context, Entry, TreeDigest, TreeFile, names_digest
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Detail, ReasonKind, Word
from aorta_collectors.tree.arch import is_arch, parse_archs, parse_device_ids

#: The source of a directory that no variable named.
DEFAULT = "default"


class CatalogStatus(Word):
    """Whether a catalog could be taken."""

    OK = "ok"
    ABSENT = "absent"
    PARTIAL = "partial"


class CatalogLayout(Word):
    """Where the kernel files lie."""

    FLAT = "flat"
    NESTED = "nested"
    MIXED = "mixed"


@frozen
class CatalogFile:
    """One file of a catalog."""

    name: Annotated[str | None, Fact("Name below the directory, e.g. gfx942/x.dat.")] = None
    size: Annotated[int | None, Fact("Bytes, of the file that a link leads to.")] = None
    suffix: Annotated[str | None, Fact("The suffix that makes it a member, e.g. .fdb.txt.")] = None
    is_logic: Annotated[
        bool | None, Fact("Whether solutions are chosen from it; else kernels, models or lists.")
    ] = None
    sha256: Annotated[str | None, Fact("sha256 of the content; null where it could not be read.")] = None
    identity: Annotated[
        str | None, Fact("Digest of size and parts of the content, where that method was used.")
    ] = None


@frozen
class Menu:
    """The files in one directory of kernels."""

    status: Annotated[
        CatalogStatus | None,
        Fact("ok, absent (no such directory) or partial (named and not there, or not all could be seen)."),
    ] = None
    reason: Annotated[str | None, Fact("Why the status is not ok.")] = None
    dir: Annotated[str | None, Fact("The directory, also one that is named and not there.")] = None
    layout: Annotated[
        CatalogLayout | None,
        Fact(
            "flat, nested (a directory for each architecture) or mixed.",
            caveat="Some releases look in the one place only.",
        ),
    ] = None
    logic_file_count: Annotated[int | None, Fact("Files that solutions are chosen from.")] = None
    file_count: Annotated[int | None, Fact("All files of the catalog.")] = None
    gfx_arch_coverage: Annotated[
        tuple[str, ...] | None, Fact("Architectures in the names of the files, sorted.")
    ] = None
    gfx_targets: Annotated[
        tuple[str, ...] | None, Fact("The same with features where a name has them, e.g. gfx90a:xnack+.")
    ] = None
    compute_units: Annotated[
        dict[str, tuple[int, ...]] | None,
        Fact("Compute units that names of MIOpen's databases tell, by architecture."),
    ] = None
    device_ids: Annotated[
        tuple[str, ...] | None, Fact("PCI device ids that files are made for, e.g. 75a0.")
    ] = None
    files: Annotated[
        tuple[CatalogFile, ...] | None, Fact("Every file, sorted by name.", detail=Detail.FULL)
    ] = None
    digests: Annotated[
        str | None, Fact("How the files were hashed: full (sha256), identity (size and parts) or none.")
    ] = None
    combined_content_hash: Annotated[
        str | None,
        Fact(
            "content-sha256 over names and digests of all files, content-identity-sha256 where these are of"
            " the identity method; null unless every file was hashed.",
            caveat="Installed files, not the kernels that a run picks.",
        ),
    ] = None


@frozen
class Family:
    """Which files make a catalog, by their suffix.

    ``revision`` are the suffixes whose names make ``kernel_db_revision``, as the 1.x line made it, with
    the compressed forms of the same files.
    """

    logic: tuple[str, ...]
    other: tuple[str, ...]
    revision: tuple[str, ...]
    nested: bool

    @functools.cached_property
    def suffixes(self) -> tuple[str, ...]:
        """Return all suffixes, longest first."""
        return tuple(sorted((*self.logic, *self.other), key=lambda suffix: (-len(suffix), suffix)))

    def suffix(self, name: str) -> str | None:
        """Return the suffix that makes a file a member; None for a file that is none."""
        lower = name.lower()
        return next((suffix for suffix in self.suffixes if lower.endswith(suffix)), None)

    def member(self, name: str) -> bool:
        """Tell whether a file belongs to the catalog."""
        return name.lower().endswith(self.suffixes)

    def descends(self, name: str) -> bool:
        """Tell whether a directory holds more of the catalog."""
        return self.nested and is_arch(name)

    def revised(self, name: str) -> bool:
        """Tell whether a file's name counts for the revision."""
        return name.lower().endswith(self.revision)


TENSILE = Family(
    logic=(".dat", ".yaml", ".dat.zlib", ".yaml.zlib"),
    other=(".co", ".hsaco", ".txt", ".kpack"),
    revision=(".dat", ".yaml", ".co", ".dat.zlib", ".yaml.zlib"),
    nested=True,
)
MIOPEN = Family(
    logic=(".kdb", ".fdb.txt", ".db.txt", ".pdb.txt", ".db"),
    other=(".ktn.model", ".tn.model", ".model", ".txt", ".bin"),
    revision=(".txt",),
    nested=False,
)


@frozen
class Place:
    """A directory of kernels. ``source`` is the variable that named it, or ``default``.

    ``trouble`` says why it is not looked into: it is not there, or cannot be seen.
    """

    path: str | None
    source: str
    trouble: Answer[Any] | None = None


@frozen
class _Names:
    """What ``names`` told last of a directory, and of which listing."""

    listed: Answer[list[Entry]]
    nested: bool
    told: Answer[tuple[str, ...]]

    def of(self, listed: Answer[list[Entry]]) -> bool:
        """Tell whether this is still so: within one capture, or of the very same entries in a later one."""
        return self.listed is listed or (not self.nested and self.listed.value is listed.value)


#: Several sections ask for the names of the same large directories.
NAMES_KEPT = 16
_NAMES: dict[tuple[str, tuple[str, ...]], _Names] = {}


def names(ctx: Context, directory: str, family: Family) -> Answer[tuple[str, ...]]:
    """Return the names that make the revision, one level of architecture directories included.

    Not ok where the directory or one below it could not be listed: a part is not the whole.
    """
    # With details, since the catalog needs them: so the directory is listed once for all.
    listed = ctx.scan(directory, details=True)
    if listed.value is None:
        return listed.failure
    known = _NAMES.get((directory, family.revision))
    if known is not None and known.of(listed):
        return known.told
    told, nested = _names(ctx, directory, family, listed.value)
    while len(_NAMES) >= NAMES_KEPT:
        _NAMES.pop(next(iter(_NAMES)), None)
    _NAMES[directory, family.revision] = _Names(listed=listed, nested=nested, told=told)
    return told


def _names(
    ctx: Context, directory: str, family: Family, entries: Sequence[Entry]
) -> tuple[Answer[tuple[str, ...]], bool]:
    """Return the names, and whether they are of more than one directory."""
    found: list[str] = []
    nested = False
    for entry in entries:
        if entry.kind in ("dir", "link") and family.descends(entry.name):
            nested = True
            below = ctx.scan(f"{directory}/{entry.name}", details=True)
            if below.absent and entry.kind == "link":
                continue
            if below.value is None:
                return below.failure, nested
            found += [f"{entry.name}/{inner.name}" for inner in below.value if inner.kind != "dir"]
        elif entry.kind != "dir":
            found.append(entry.name)
    return Answer(value=tuple(sorted(filter(family.revised, found))), subject=directory), nested


def revision(listed: Answer[tuple[str, ...]]) -> Answer[str]:
    """Return the digest of names; a directory without any has none."""
    if listed.value is None:
        return listed.failure
    if not listed.value:
        detail = f"{listed.subject}: no kernel files in it"
        return Answer(kind=ReasonKind.ABSENT, subject=listed.subject, detail=detail)
    return Answer(value=names_digest(listed.value), subject=listed.subject)


def coverage(listed: Iterable[str]) -> tuple[str, ...]:
    """Return the architectures in the names of files, sorted."""
    return tuple(sorted({each.arch for name in listed for each in parse_archs(name)}))


def take_menu(ctx: Context, place: Place, family: Family, field: str) -> Menu:
    """Return the menu of a place and note against ``field`` what it lacks."""
    seen = place.trouble or ctx.digest_tree(place.path or "/", members=family.member, descend=family.descends)
    if seen.value is None:
        ctx.take(seen, field)
        gone = seen.absent and place.source == DEFAULT
        status = CatalogStatus.ABSENT if gone else CatalogStatus.PARTIAL
        return Menu(status=status, reason=seen.detail, dir=place.path)
    tree: TreeDigest = seen.value
    trouble = tree.trouble()
    if trouble is not None and trouble.kind is ReasonKind.NOT_REQUESTED:
        trouble = None
    for unlisted in tree.unlisted:
        ctx.take(unlisted, field)
    return Menu(
        status=CatalogStatus.OK if trouble is None else CatalogStatus.PARTIAL,
        reason=None if trouble is None else trouble.detail,
        dir=place.path,
        files=tuple(_file(file, family) for file in tree.files) if ctx.wants(Detail.FULL) else None,
        digests=tree.method,
        combined_content_hash=ctx.take(tree.combined(), f"{field}.combined_content_hash"),
        **(_counted(tuple(file.name for file in tree.files), family) if not tree.unlisted else {}),
    )


@functools.lru_cache(maxsize=8)
def _counted(listed: tuple[str, ...], family: Family) -> dict[str, Any]:
    """Return what the names of all files tell, each name read once; a later capture has the same names."""
    logic = 0
    archs: set[str] = set()
    targets: set[str] = set()
    units: dict[str, set[int]] = {}
    devices: set[str] = set()
    nested: set[bool] = set()
    for name in listed:
        logic += family.suffix(name) in family.logic
        named = parse_archs(name)
        for each in named:
            archs.add(each.arch)
            targets.add(each.target)
            if each.compute_units is not None:
                units.setdefault(each.arch, set()).add(each.compute_units)
        devices.update(parse_device_ids(name))
        if named or not name.endswith(".txt"):
            nested.add("/" in name)
    return {
        "layout": _LAYOUTS[frozenset(nested)],
        "logic_file_count": logic,
        "file_count": len(listed),
        "gfx_arch_coverage": tuple(sorted(archs)),
        "gfx_targets": tuple(sorted(targets)),
        "compute_units": {arch: tuple(sorted(units[arch])) for arch in sorted(units)} if units else None,
        "device_ids": tuple(sorted(devices)),
    }


#: Lists of kernel files lie above the directories of architectures and do not count.
_LAYOUTS = {
    frozenset(): None,
    frozenset({False}): CatalogLayout.FLAT,
    frozenset({True}): CatalogLayout.NESTED,
    frozenset({False, True}): CatalogLayout.MIXED,
}


def _file(file: TreeFile, family: Family) -> CatalogFile:
    digest = file.digest.value or ""
    suffix = family.suffix(file.name)
    return CatalogFile(
        name=file.name,
        size=file.size,
        suffix=suffix,
        is_logic=suffix in family.logic,
        sha256=digest if digest.startswith("sha256:") else None,
        identity=digest if digest.startswith("identity:") else None,
    )
