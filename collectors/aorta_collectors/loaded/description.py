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
from aorta_collectors.loaded.model import Basis, LoadedLibrary
from aorta_collectors.loaded.origin import find_homes, origin_of
from aorta_collectors.loaded.versions import Versions
from aorta_collectors.loaded.wheels import library_dirs
from aorta_collectors.providers.mapped_libraries import SELF, TORCH_CHILD
from aorta_collectors.providers.python_facts import PythonFacts
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.providers.torch_facts import TorchFacts

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
    places = find_places(ctx, roots.lib_dirs, torch.lib_dir, library_dirs(ctx, _sites(ctx, torch)))
    compared = Compared(ctx, roots, torch.lib_dir)
    versions = Versions(torch, found, elves)
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
            other_copies=copies_of(ctx, places, homes, file.path),
            differs_from=ctx.take(compared.difference(mapped), "differs_from"),
            banners=banners_of(ctx, file.path) if file.family == "rccl" and file.process else None,
        )


def _torch_dirs(torch: TorchFacts) -> tuple[str | None, ...]:
    return (torch.lib_dir, posixpath.join(torch.package, "lib") if torch.package else None)


def _sites(ctx: Context, torch: TorchFacts) -> tuple[str, ...]:
    """Return the directories that Python packages with libraries may lie in."""
    beside = (posixpath.dirname(torch.package),) if torch.package else ()
    return (*beside, *ctx.need(PythonFacts).sites)


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
