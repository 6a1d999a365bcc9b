"""Where a library makes the dynamic linker look: the tag that counts, and a census of directories.

DT_RPATH is searched before LD_LIBRARY_PATH, and for all that is loaded below the library too, so one
RPATH anywhere can undo the variable without a word. DT_RUNPATH is searched after it.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

from aorta.collect import Answer, Context, Elf
from aorta.model.fact import Fact
from aorta.model.frozen import evolve, frozen
from aorta.model.vocabulary import ReasonKind, Word
from aorta_collectors.tree.libraries import is_library, is_rocm_library
from aorta_collectors.tree.links import resolve

FILE_LIMIT = 4096
EXAMPLE_LIMIT = 12


class Tag(Word):
    """What counts for the linker in one library."""

    RPATH = "rpath"
    RUNPATH = "runpath"
    NONE = "none"
    UNKNOWN = "unknown"


class Selection(Word):
    """Which libraries of the directories were read."""

    ALL = "all"
    ROCM_NAMES = "rocm_names"


@frozen
class Census:
    """The libraries of some directories, each real file once. Counts go by the effective tag."""

    dirs: Annotated[
        tuple[str, ...] | None, Fact("Directories that were listed; what lies deeper was not looked at.")
    ] = None
    unlistable_dirs: Annotated[
        tuple[str, ...] | None, Fact("Directories that are there and would not list.")
    ] = None
    selection: Annotated[
        Selection | None,
        Fact("all, or rocm_names: in directories shared with other software, known names alone."),
    ] = None
    scanned: Annotated[int | None, Fact("Files whose name is a shared library's.")] = None
    rpath: Annotated[int | None, Fact("Those in which RPATH counts.")] = None
    runpath: Annotated[int | None, Fact("Those in which RUNPATH counts.")] = None
    none: Annotated[int | None, Fact("Those in which neither counts; an empty RPATH does not.")] = None
    unreadable: Annotated[
        int | None, Fact("Those of which nothing is known: linker scripts, damaged or forbidden files.")
    ] = None
    truncated: Annotated[
        bool | None, Fact("Whether files were left out: more than 4,096, no time, no answer.")
    ] = None
    rpath_examples: Annotated[
        tuple[str, ...] | None, Fact("Names of the first twelve in which RPATH counts.")
    ] = None


def present_tags(elf: Elf) -> tuple[Tag, ...]:
    """Return the tags that stand in a library, whether they count or not."""
    found = ((Tag.RPATH, elf.rpath), (Tag.RUNPATH, elf.runpath))
    return tuple(tag for tag, text in found if text is not None)


def effective_tag(elf: Elf) -> Tag:
    """Return the tag that counts: RUNPATH hides RPATH, and an empty RPATH leads nowhere."""
    if elf.runpath is not None:
        return Tag.RUNPATH
    return Tag.RPATH if elf.rpath else Tag.NONE


def dynamic_facts(ctx: Context, path: str) -> Answer[Elf]:
    """Return what a library says to the linker; a file without a dynamic segment says nothing."""
    answer = ctx.elf(path)
    if answer.value is not None and not answer.value.dynamic:
        text = f"{path}: an ELF file without a dynamic segment"
        return Answer(kind=ReasonKind.UNPARSED, subject=path, detail=text)
    return answer


@frozen
class Counted:
    """A census, and why it does not speak for all libraries (None: it does).

    ``unread`` is the answer of the first file of which nothing is known.
    """

    census: Census
    trouble: Answer[Any] | None = None
    unread: Answer[Any] | None = None


def take_census(ctx: Context, directories: Iterable[str], selection: Selection) -> Counted:
    """Count the libraries of directories by the tag that counts.

    What this user may not read, or what is no ELF file, the user's linker can not load either: it is
    counted as unreadable and makes the rest no less complete.
    """
    listed, unlistable, places = [], [], []
    seen: set[str] = set()
    for directory in directories:
        real = resolve(ctx, directory)
        if real.absent or real.value in seen:
            continue
        answer = real if real.value is None else ctx.scan(real.value)
        if answer.value is None:
            if not answer.absent:
                unlistable.append((directory, answer))
            continue
        seen.add(real.value or directory)
        listed.append(directory)
        places.append(real.value or directory)
    refused = tuple(place for place, _ in unlistable)
    if refused and not listed:
        return Counted(census=Census(unlistable_dirs=refused), trouble=unlistable[0][1])
    counted = _count(ctx, _files(ctx, places, _chosen(selection)))
    census = evolve(counted.census, dirs=tuple(listed), unlistable_dirs=refused, selection=selection)
    return evolve(counted, census=census, trouble=unlistable[0][1] if refused else counted.trouble)


def _chosen(selection: Selection) -> Callable[[str], bool]:
    return is_library if selection is Selection.ALL else is_rocm_library


def _files(ctx: Context, directories: Iterable[str], chosen: Callable[[str], bool]) -> Iterator[Answer[str]]:
    """Yield the real path of each library once, or why a link can not be followed."""
    known: set[str] = set()
    for directory in directories:
        entries = ctx.scan(directory).value or ()
        kinds = {entry.name: entry.kind for entry in entries}
        for name, kind in kinds.items():
            path = posixpath.join(directory, name)
            if not chosen(name) or kind not in ("file", "link"):
                continue
            real: Answer[str] = Answer(value=path, subject=path)
            if kind == "link":
                target = ctx.link(path)
                if chosen(target.value or "") and kinds.get(target.value or "") in ("file", "link"):
                    continue  # it stands in this list itself
                real = resolve(ctx, path)
                looked = ctx.stat(real.value) if real.value is not None else None
                if real.absent or (looked is not None and looked.value and looked.value.kind != "file"):
                    continue
            if real.value is None or real.value not in known:
                known.add(real.value or "")
                yield real


def _count(ctx: Context, files: Iterator[Answer[str]]) -> Counted:
    counts = dict.fromkeys(Tag, 0)
    examples: list[str] = []
    trouble: Answer[Any] | None = None
    unread: Answer[Any] | None = None
    for file in files:
        if sum(counts.values()) >= FILE_LIMIT:
            text = f"more than {FILE_LIMIT} libraries: the others were not read"
            trouble = Answer(kind=ReasonKind.FAILED, subject=file.subject, detail=text)
            break
        answer: Answer[Any] = dynamic_facts(ctx, file.value) if file.value is not None else file
        if answer.absent:
            continue
        tag = effective_tag(answer.value) if answer.value is not None else Tag.UNKNOWN
        counts[tag] += 1
        if tag is Tag.RPATH and len(examples) < EXAMPLE_LIMIT:
            examples.append(posixpath.basename(file.value or ""))
        if answer.ok:
            continue
        unread = unread or answer
        if answer.kind not in (ReasonKind.UNPARSED, ReasonKind.DENIED):
            trouble = trouble or answer
            if not ctx.remaining():
                break
    census = Census(
        scanned=sum(counts.values()),
        rpath=counts[Tag.RPATH],
        runpath=counts[Tag.RUNPATH],
        none=counts[Tag.NONE],
        unreadable=counts[Tag.UNKNOWN],
        truncated=trouble is not None,
        rpath_examples=tuple(examples),
    )
    return Counted(census=census, trouble=trouble, unread=unread)
