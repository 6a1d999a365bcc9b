"""What a process that imports torch would map, told by the files alone: nothing is loaded or executed.

The dynamic linker's own way: what each library needs, by RPATH (its own and that of whatever led to it),
``LD_LIBRARY_PATH``, RUNPATH, the directories of ld.so.conf and the linker's own. What a program opens by
itself later, as RCCL does with network plugins, stands in no file.
"""

import collections
import posixpath
from collections.abc import Iterable, Iterator
from typing import Any

from aorta.collect import Answer, Context, Elf
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.loaded.wheels import library_dirs
from aorta_collectors.observations import mapping, text
from aorta_collectors.tree.libraries import configured_dirs, search_path
from aorta_collectors.tree.links import resolve

#: What an import of torch loads first, and its own libraries, for a torch whose extension cannot be read.
FIRST = "libtorch_global_deps.so"
EXTENSION = "_C."
OWN = ("libtorch_python.so", "libtorch.so", "libtorch_cpu.so", "libtorch_hip.so", "libtorch_cuda.so")

#: A torch of ROCm wheels has this file, and loads their libraries by path before anything else.
PRELOADS = "_rocm_init.py"

#: Libraries of the C library, which any interpreter has loaded before.
ALWAYS = ("libc.so.", "libm.so.", "libdl.so.", "libpthread.so.", "librt.so.", "libutil.so.", "ld-linux")

OBJECT_LIMIT = 512


@frozen
class Prediction:
    """The real paths of what would be mapped, in the order of loading, and why some of it is not known."""

    paths: tuple[str, ...] = ()
    troubles: tuple[Answer[Any], ...] = ()


@frozen
class Loaded:
    """One file that the linker would have loaded, by the path that led to it."""

    path: str
    real: str
    elf: Elf
    parent: "Loaded | None" = None


def predict(ctx: Context, package: str) -> Prediction:
    """Return what an import of the torch in ``package`` would map."""
    linker = _Linker(ctx, package)
    linker.run()
    return Prediction(paths=tuple(linker.files), troubles=tuple(linker.troubles))


class _Linker:
    """Follows what libraries need; ``files`` are the real paths found, in order."""

    def __init__(self, ctx: Context, package: str) -> None:
        self._ctx = ctx
        self._package = package
        self._names: set[str] = set()
        self._todo: collections.deque[Loaded] = collections.deque()
        self._configured = configured_dirs(ctx)
        self._searched = search_path(ctx)
        self._wheels = library_dirs(ctx, (posixpath.dirname(package),))
        self._preloads = bool(self._wheels) and ctx.stat(posixpath.join(package, PRELOADS)).ok
        self.files: dict[str, None] = {}
        self.troubles: list[Answer[Any]] = []

    def run(self) -> None:
        """Load torch's libraries and all that they need."""
        program = self._program()
        for path in self._starts():
            self._open(path, program)
            self._follow()

    def _program(self) -> Loaded | None:
        """Return the interpreter, whose RPATH counts for all that is loaded; None where it is not told."""
        told = text(mapping(self._ctx, "interpreter"), "executable")
        real = resolve(self._ctx, told).value if told else None
        elf = self._ctx.elf(real).value if real else None
        return Loaded(path=real, real=real, elf=elf) if real and elf else None

    def _starts(self) -> Iterator[str]:
        """Yield the files that the import opens by path, those that are there."""
        lib = posixpath.join(self._package, "lib")
        names = [entry.name for entry in self._ctx.scan(self._package).value or ()]
        extension = [name for name in names if name.startswith(EXTENSION) and name.endswith(".so")]
        paths = [posixpath.join(self._package, name) for name in extension[:1]]
        known = bool(paths) and self._ctx.elf(paths[0]).ok
        listed = self._ctx.scan(lib)
        here = {entry.name for entry in listed.value or ()}
        if not (listed.ok or listed.absent):
            self.troubles.append(listed)
        for name in (FIRST, *(() if known else OWN)):
            if name in here:
                yield posixpath.join(lib, name)
        yield from paths if known else ()

    def _follow(self) -> None:
        while self._todo:
            at = self._todo.popleft()
            for name in at.elf.needed:
                if name in self._names:
                    continue
                if len(self._names) >= OBJECT_LIMIT or not self._ctx.remaining():
                    detail = f"not followed to the end: {len(self.files)} files were found until then"
                    kind = ReasonKind.FAILED if self._ctx.remaining() else ReasonKind.TIMED_OUT
                    self.troubles.append(Answer(kind=kind, subject=at.path, detail=detail))
                    self._todo.clear()
                    return
                self._names.add(name)
                self._search(name, at)

    def _search(self, name: str, asking: Loaded) -> None:
        hidden = self._configured.trouble
        for directory in self._directories(asking):
            path = posixpath.join(directory, name)
            seen = self._ctx.stat(path)
            if seen.ok:
                if self._open(path, asking):
                    return
            elif not seen.absent and seen.kind is not ReasonKind.DENIED:
                hidden = hidden or seen
        if name.startswith(ALWAYS):
            return
        if hidden is not None:
            self.troubles.append(hidden)
            return
        detail = f"{name}, which {asking.path} needs, is nowhere where the loader looks"
        self.troubles.append(Answer(kind=ReasonKind.ABSENT, subject=name, detail=detail))

    def _directories(self, asking: Loaded) -> Iterator[str]:
        """Yield where the linker looks for what a library needs, in its order."""
        if self._preloads:
            yield from self._wheels
        if asking.elf.runpath is None:
            at: Loaded | None = asking
            while at is not None:
                if at.elf.runpath is None:
                    yield from _expanded(at.elf.rpath, at.path)
                at = at.parent
        yield from self._searched
        yield from _expanded(asking.elf.runpath, asking.path)
        yield from self._configured.places
        # A torch of NVIDIA's wheels opens their libraries by path when the linker did not find them.
        yield from self._wheels

    def _open(self, path: str, asking: Loaded | None) -> bool:
        """Load a file; False for one that the linker passes over: of another machine, or not readable."""
        real = resolve(self._ctx, path)
        told = self._ctx.elf(real.value) if real.value is not None else None
        if real.value is None or told is None or told.kind is ReasonKind.DENIED:
            return False
        elf = told.value
        if elf is None:
            self.troubles.append(told)
            return True
        if asking is not None and (elf.bits, elf.machine) != (asking.elf.bits, asking.elf.machine):
            return False
        self._names.update(each for each in (posixpath.basename(path), elf.soname) if each)
        if real.value not in self.files:
            self.files[real.value] = None
            self._todo.append(Loaded(path=path, real=real.value, elf=elf, parent=asking))
        return True


def _expanded(paths: str | None, library: str) -> Iterable[str]:
    """Return the directories of an RPATH; those that the linker alone can tell (``$LIB``) are left out."""
    home = posixpath.dirname(library)
    for entry in (paths or "").split(":"):
        place = entry.replace("${ORIGIN}", home).replace("$ORIGIN", home)
        if place.startswith("/") and "$" not in place:
            yield posixpath.normpath(place)
