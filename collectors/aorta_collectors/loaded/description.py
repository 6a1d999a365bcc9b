"""All that is known of files which a process has mapped, or would map."""

import posixpath
from collections.abc import Iterator, Sequence
from typing import Any

from aorta.collect import Answer, Context, Elf
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.loaded.content import digests_of
from aorta_collectors.loaded.copies import copies_of, find_places
from aorta_collectors.loaded.difference import Compared, Mapped
from aorta_collectors.loaded.found import Found
from aorta_collectors.loaded.log import banners_of
from aorta_collectors.loaded.model import Basis, LoadedLibrary, Origin, VersionSource
from aorta_collectors.loaded.origin import SITES, find_homes, origin_of
from aorta_collectors.loaded.versions import parse_library_versions, parse_suffix
from aorta_collectors.loaded.wheels import library_dirs
from aorta_collectors.providers.mapped_libraries import SELF, TORCH_CHILD
from aorta_collectors.providers.python_facts import PythonFacts
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.providers.torch_facts import CHILD, IN_PROCESS, TorchFacts

#: What a process does with a file, by the process: null is one that nobody has started.
DEEDS = {
    SELF: "this process has mapped",
    TORCH_CHILD: "a process that imports torch maps",
    None: "a process that imports torch would map",
}


def described(ctx: Context, found: Sequence[Found]) -> Iterator[LoadedLibrary]:
    """Yield what is known of each file."""
    torch, roots = ctx.need(TorchFacts), ctx.need(RocmRoots)
    here = [file.path for file in found if not file.deleted]
    elves: dict[str, Answer[Elf]] = {path: ctx.elf(path) for path in here}
    digests = digests_of(ctx, here)
    homes = find_homes(ctx, roots, _torch_dirs(torch))
    places = find_places(ctx, homes, roots.lib_dirs, torch.lib_dir, library_dirs(ctx, _sites(ctx, torch)))
    compared = Compared(ctx, roots, torch.lib_dir)
    versions = _Versions(torch, found, elves)
    for file in found:
        gone = _gone(ctx, file)
        elf = _taken(ctx, gone or elves[file.path], ("soname", "build_id"))
        origin = origin_of(homes, file.path)
        version, source = versions.of(file, origin)
        mapped = Mapped(
            family=file.family, path=file.path, deed=DEEDS.get(file.process, ""), deleted=file.deleted
        )
        yield LoadedLibrary(
            library=file.family,
            path=file.path,
            soname=elf.soname if elf else None,
            build_id=elf.build_id if elf else None,
            digest=_taken(ctx, gone or digests[file.path], ("digest",)),
            version=version,
            version_source=source,
            origin=origin,
            deleted=file.deleted,
            replaced=_replaced(ctx, file) if file.deleted else None,
            basis=Basis.OBSERVED if file.process else Basis.PREDICTED,
            process=file.process,
            other_copies=copies_of(ctx, places, file.path),
            differs_from=ctx.take(compared.difference(mapped), "differs_from"),
            banners=banners_of(ctx, file.path) if file.family == "rccl" and file.process else None,
        )


def _torch_dirs(torch: TorchFacts) -> tuple[str | None, ...]:
    return (torch.lib_dir, posixpath.join(torch.package, "lib") if torch.package else None)


def _sites(ctx: Context, torch: TorchFacts) -> tuple[str, ...]:
    """Return the directories that Python packages with libraries may lie in."""
    beside = (posixpath.dirname(torch.package),) if torch.package else ()
    return (*beside, *(each for each in ctx.need(PythonFacts).path if each.endswith(SITES)))


def _taken(ctx: Context, answer: Answer[Any], fields: Sequence[str]) -> Any:
    """Return a value, or note once against each field why there is none."""
    for field in fields:
        if answer.kind is ReasonKind.NOT_REQUESTED:
            ctx.note(answer.kind, field, "left out by --digests none")
        else:
            ctx.take(answer, field)
    return answer.value


def _replaced(ctx: Context, file: Found) -> bool | None:
    """Tell whether another file is where the mapped one was; None where that cannot be seen."""
    seen = ctx.stat(file.path)
    if seen.ok or seen.absent:
        return seen.ok
    ctx.take(seen, "replaced")
    return None


def _gone(ctx: Context, file: Found) -> Answer[Any] | None:
    """Return why a file that is mapped cannot be read any more; None for one that is there."""
    if not file.deleted:
        return None
    seen = ctx.stat(file.path)
    now = "another file is" if seen.ok else "no file is" if seen.absent else "it cannot be seen what is"
    detail = f"{file.path}: mapped, and removed or replaced since; {now} there now"
    return Answer(kind=ReasonKind.ABSENT, subject=file.path, detail=detail)


class _Versions:
    """Who tells which version of what."""

    def __init__(self, torch: TorchFacts, found: Sequence[Found], elves: dict[str, Answer[Elf]]) -> None:
        self._asked = {IN_PROCESS: SELF, CHILD: TORCH_CHILD}.get(torch.strategy)
        near = [file for file in found if file.process == self._asked]
        families = [file.family for file in near]
        self._alone = {family for family in families if families.count(family) == 1}
        linked = (elves[file.path].value for file in near if file.family == "torch" and file.path in elves)
        self._needed = {name for elf in linked if elf is not None for name in elf.needed}
        self._sonames = {path: elf.value.soname for path, elf in elves.items() if elf.value is not None}
        self._nccl = torch.text("nccl")
        self._config = parse_library_versions(torch.text("config") or "")

    def of(self, file: Found, origin: Origin) -> tuple[str | None, VersionSource | None]:
        """Return a version and who told it. Torch speaks of what it is linked with, if there is one such."""
        used = {posixpath.basename(file.path), self._sonames.get(file.path)}
        told_here = file.process is not None and file.process == self._asked
        if told_here and file.family in self._alone and not self._needed.isdisjoint(used):
            if file.family in ("rccl", "nccl") and self._nccl:
                return self._nccl, VersionSource.TORCH
            told = self._config.get(file.family)
            if told and (file.family != "miopen" or origin is Origin.TORCH_BUNDLED):
                return told, VersionSource.TORCH_CONFIG
        named = parse_suffix(file.path)
        return named, VersionSource.FILE_NAME if named else None
