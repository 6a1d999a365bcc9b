"""Where ROCm is: the tree that this process would use, and every other one on the machine.

First hit wins: ``ROCM_PATH``, ``ROCM_HOME``, ``/opt/rocm``, the TheRock wheels of the interpreter, the
tree behind a ROCm tool on PATH, a distribution's packages in ``/usr``, the only ``/opt/rocm-*``.
An override that cannot be read stays the root: another tree's facts would be worse than none.
"""

import posixpath
from collections.abc import Iterator
from typing import Any

from aorta.collect import Answer, Context
from aorta.model.frozen import evolve, frozen
from aorta.model.vocabulary import PARTIAL_KINDS, Coverage, ReasonKind, Scope
from aorta.plugin import provider
from aorta_collectors.observations import mapping, text
from aorta_collectors.tree.layout import (
    WHEEL_PREFIX,
    Tree,
    look,
    look_at_distribution,
    look_at_wheel,
    unseen,
    version_of,
)
from aorta_collectors.tree.links import absolute, resolve
from aorta_collectors.tree.versions import parse_assignments, parse_torch_version

#: Roots in which other software lies too.
SHARED_PREFIXES = ("/", "/usr", "/usr/local")
ASSUMED = "/opt/rocm"
OVERRIDES = ("ROCM_PATH", "ROCM_HOME")
TOOLS = ("hipcc", "hipconfig", "rocminfo")
CORE = "_rocm_sdk_core"
PIP = "pip:rocm-sdk-core"
NONE, UNKNOWN = "none", "unknown"

#: Troubles of the search that hide nothing: what they tell of is known not to be ROCm.
SEEN_THROUGH = (ReasonKind.EXPECTED, ReasonKind.UNPARSED, ReasonKind.ABSENT)


@frozen
class RocmStack:
    """One ROCm on the machine. ``root`` is null where only pip metadata speaks of it.

    ``via`` says what led to it: a variable, ``opt_rocm``, ``scan:/opt``, ``import:_rocm_sdk_core``,
    ``pip:rocm-sdk-core``, a tool's name, ``distribution`` or ``torch`` (libraries inside the wheel).
    """

    root: str | None
    version: str | None
    via: str


@frozen
class Trouble:
    """Something that kept the search from seeing all; ``path`` is the place."""

    kind: ReasonKind
    path: str
    text: str


@frozen
class RocmRoots:
    """The resolved ROCm roots.

    ``root_source`` is ROCM_PATH, ROCM_HOME, opt_rocm, import:_rocm_sdk_core, pip:rocm-sdk-core,
    tool:NAME, distribution, opt_rocm_versioned, none or unknown (nothing was found, and not all was
    seen); for the last two the paths are the assumed /opt/rocm and the tuples are empty. ``layout`` is
    classic, native (TheRock packages under ``core``), wheel, distribution, none or unknown.
    ``prefixes`` hold ``.info`` and ``share``, ``bin_dirs`` tools, ``lib_dirs``
    libraries, each in the order of looking; headers are in ``include_root``/include. ``lib_roots`` are
    all packages that may hold math libraries. ``resolved`` is the root's real path, ``opt_rocm_target``
    that of a link at /opt/rocm. ``troubles`` say what could not be seen. ``candidates`` are all stacks
    that were found, the chosen one first.
    """

    root: str = ASSUMED
    resolved: str | None = None
    lib_root: str = ASSUMED
    include_root: str = ASSUMED
    root_source: str = NONE
    layout: str = NONE
    prefixes: tuple[str, ...] = ()
    bin_dirs: tuple[str, ...] = ()
    lib_dirs: tuple[str, ...] = ()
    lib_roots: tuple[str, ...] = ()
    opt_rocm_target: str | None = None
    candidates: tuple[RocmStack, ...] = ()
    troubles: tuple[Trouble, ...] = ()

    @property
    def found(self) -> bool:
        """Tell whether a root was found or named."""
        return self.root_source not in (NONE, UNKNOWN)

    @property
    def hidden(self) -> Answer[Any] | None:
        """Return why there may be more ROCm than was found; None where all was seen."""
        for trouble in self.troubles:
            if trouble.kind not in SEEN_THROUGH:
                return Answer(kind=trouble.kind, subject=trouble.path, detail=trouble.text)
        return None

    @property
    def unseen(self) -> Answer[Any] | None:
        """Return why it is not known whether there is a root at all; None where one, or none, was found."""
        return None if self.found else self.hidden


def shares_directories(ctx: Context, roots: RocmRoots) -> bool:
    """Tell whether the library directories also hold what has nothing to do with ROCm."""
    python = mapping(ctx, "interpreter")
    prefixes = (*SHARED_PREFIXES, text(python, "prefix"), text(python, "base_prefix"))
    return roots.layout == "distribution" or not {roots.root, roots.resolved}.isdisjoint(prefixes)


@provider(model=RocmRoots, scope=Scope.NAMESPACE, timeout_s=30)
def find(ctx: Context) -> RocmRoots:
    """Find the ROCm tree that this process would use, and every other one on the machine."""
    return _Search(ctx).roots()


class _Search:
    """One search: the stacks found on the way by their real path, and what could not be seen."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.troubles: list[Trouble] = []
        self.stacks: dict[str, RocmStack] = {}
        self.aliases: set[str] = set()
        self.opt_rocm_target: str | None = None

    def roots(self) -> RocmRoots:
        """Look everywhere, in the order that decides."""
        found = [
            *self._overrides(),
            *self._opt_rocm(),
            *self._wheels(),
            *self._tools(),
            *self._distribution(),
        ]
        for via, tree in found:
            self._add(tree, via.removeprefix("tool:"))
        versioned = self._versioned()
        if not found and len(versioned) == 1 and all(each.kind in SEEN_THROUGH for each in self.troubles):
            found = [("opt_rocm_versioned", versioned[0])]
        self._bundled()
        return self._result(*found[0]) if found else self._nothing()

    def _trouble(self, answer: Answer[Any], words: str = "", kind: ReasonKind | None = None) -> None:
        reason = kind or answer.kind
        if reason is not None:
            self.troubles.append(Trouble(kind=reason, path=answer.subject or "", text=words or answer.detail))

    def _unless_absent(self, answer: Answer[Any]) -> None:
        """Remember what could not be seen; what was, or is positively not there, is no trouble."""
        if not answer.ok and not answer.absent:
            self._trouble(answer)

    def _unless_out_of_reach(self, answer: Answer[Any]) -> None:
        """Remember what could not be seen of a tool; one that this user may not reach leads nowhere."""
        if answer.kind is not ReasonKind.DENIED:
            self._unless_absent(answer)

    def _add(self, tree: Tree, via: str) -> None:
        """Remember a stack unless its real path is known."""
        reals = [resolve(self.ctx, prefix).value or prefix for prefix in tree.prefixes]
        if not self.aliases.isdisjoint(reals):
            return
        self.aliases.update(reals)
        version = version_of(self.ctx, tree.prefixes).value
        self.stacks[reals[0]] = RocmStack(root=reals[0], version=version, via=via)

    def _overrides(self) -> Iterator[tuple[str, Tree]]:
        for name in OVERRIDES:
            value = self.ctx.env(name)
            if not value:
                continue
            place = absolute(self.ctx, value)
            if place.value is None:
                self._trouble(place, f"{name}: {place.detail}")
                continue
            wheel = posixpath.basename(place.value).startswith(WHEEL_PREFIX)
            seen = (
                look_at_wheel(self.ctx, place.value) if wheel else look(self.ctx, place.value, strict=False)
            )
            if seen.value is not None:
                yield name, seen.value
            elif seen.absent:
                words = f"{name} names {place.value}, where there is no ROCm"
                self._trouble(place, words, ReasonKind.EXPECTED)
            else:
                self._trouble(seen)
                yield name, unseen(place.value)

    def _opt_rocm(self) -> Iterator[tuple[str, Tree]]:
        seen = look(self.ctx, ASSUMED, strict=True)
        real = resolve(self.ctx, ASSUMED)
        if self.ctx.link(ASSUMED).ok:
            self.opt_rocm_target = real.value or (real.subject if real.absent else None)
        if seen.value is not None:
            yield "opt_rocm", seen.value
        elif not seen.absent:
            self._trouble(seen)
        elif self.opt_rocm_target and real.absent:
            words = f"{ASSUMED} points to {self.opt_rocm_target}, which is not there"
            self._trouble(Answer(subject=ASSUMED), words, ReasonKind.EXPECTED)

    def _wheels(self) -> Iterator[tuple[str, Tree]]:
        module = self.ctx.module(CORE)
        if module.value is not None:
            places = module.value.locations or (posixpath.dirname(module.value.origin or ""),)
            for place in places:
                seen = look_at_wheel(self.ctx, place)
                if seen.value is not None:
                    yield f"import:{CORE}", seen.value
                    return
                if not seen.absent:
                    self._trouble(seen)
        else:
            self._unless_absent(module)
        yield from self._metadata()

    def _metadata(self) -> Iterator[tuple[str, Tree]]:
        """Yield the wheel beside the metadata of rocm-sdk-core, for a package that cannot be imported."""
        told = self.ctx.distribution("rocm-sdk-core")
        core = told.value
        if core is None:
            self._unless_absent(told)
            return
        if core.path:
            seen = look_at_wheel(self.ctx, posixpath.join(posixpath.dirname(core.path), CORE))
            if seen.value is not None:
                yield PIP, seen.value
                return
            self._unless_absent(seen)
        self.stacks[PIP] = RocmStack(root=None, version=core.version, via=PIP)

    def _tools(self) -> Iterator[tuple[str, Tree]]:
        for place in (self.ctx.env("PATH") or "").split(":"):
            if not place.startswith("/"):
                continue
            for tool in TOOLS:
                path = posixpath.join(place, tool)
                seen = self.ctx.stat(path, follow=False)
                if not seen.ok and not seen.absent:
                    self._unless_out_of_reach(seen)
                    break
                if not seen.ok:
                    continue
                real = resolve(self.ctx, path)
                if real.value is not None:
                    yield from self._behind(tool, posixpath.dirname(posixpath.dirname(real.value)))
                else:
                    self._unless_out_of_reach(real)

    def _behind(self, tool: str, root: str) -> Iterator[tuple[str, Tree]]:
        """Yield the tree that a tool's real path lies in, if it says that it is ROCm: a venv is not."""
        if posixpath.basename(root) == "hip":
            root = posixpath.dirname(root)
        if posixpath.basename(root).startswith(WHEEL_PREFIX):
            seen = look_at_wheel(self.ctx, root)
        else:
            seen = look(self.ctx, root, strict=True)
            version = version_of(self.ctx, seen.value.prefixes) if seen.value else None
            if version is None or not version.ok:
                self._unless_out_of_reach(version or seen)
                seen = look_at_distribution(self.ctx, root)
        if seen.value is not None:
            yield f"tool:{tool}", seen.value
        else:
            self._unless_out_of_reach(seen)

    def _distribution(self) -> Iterator[tuple[str, Tree]]:
        seen = look_at_distribution(self.ctx)
        if seen.value is not None:
            yield "distribution", seen.value
        else:
            self._unless_absent(seen)

    def _versioned(self) -> list[Tree]:
        """Add the trees that lie side by side, ``/opt/rocm-*`` and ``/opt/rocm/core-*``."""
        trees = []
        for place, start in (("/opt", "rocm-"), (ASSUMED, "core-")):
            listed = self.ctx.scan(place)
            self._unless_absent(listed)
            for entry in listed.value or ():
                if entry.kind == "dir" and entry.name.startswith(start):
                    seen = look(self.ctx, posixpath.join(place, entry.name), strict=True)
                    if seen.value is not None:
                        trees.append(seen.value)
                        self._add(seen.value, f"scan:{place}")
                    else:
                        self._unless_absent(seen)
        return trees

    def _bundled(self) -> None:
        """Add the ROCm libraries inside the torch wheel, by torch's own version text."""
        module = self.ctx.module("torch")
        self._unless_absent(module)
        for package in module.value.locations[:1] if module.value else ():
            place = posixpath.join(package, "lib")
            listed = self.ctx.scan(place)
            self._unless_absent(listed)
            names = [entry.name for entry in listed.value or ()]
            if not any(name.startswith("libamdhip64.so") for name in names):
                continue
            told = parse_assignments(self.ctx.text(posixpath.join(package, "version.py")).value or "")
            version = told.get("rocm") or parse_torch_version(told.get("__version__", "")).rocm
            self.stacks[place] = RocmStack(root=place, version=version, via="torch")

    def _result(self, source: str, tree: Tree) -> RocmRoots:
        real = resolve(self.ctx, tree.root).value
        chosen = self.stacks.pop(real or tree.root, None)
        first = [evolve(chosen, root=tree.root)] if chosen is not None else []
        prefix = text(mapping(self.ctx, "interpreter"), "prefix")
        scripts = (posixpath.join(prefix, "bin"),) if tree.layout == "wheel" and prefix else ()
        self._cover(seen=chosen is not None)
        return RocmRoots(
            root=tree.root,
            resolved=real,
            lib_root=tree.lib_root,
            include_root=tree.include_root,
            root_source=source,
            layout=tree.layout,
            prefixes=tree.prefixes,
            bin_dirs=tree.bin_dirs + scripts,
            lib_dirs=tree.lib_dirs,
            lib_roots=tree.lib_roots,
            opt_rocm_target=self.opt_rocm_target,
            candidates=(*first, *self.stacks.values()),
            troubles=tuple(self.troubles),
        )

    def _nothing(self) -> RocmRoots:
        self._cover(seen=False)
        found = RocmRoots(
            opt_rocm_target=self.opt_rocm_target,
            candidates=tuple(self.stacks.values()),
            troubles=tuple(self.troubles),
        )
        return evolve(found, root_source=UNKNOWN, layout=UNKNOWN) if found.hidden else found

    def _cover(self, *, seen: bool) -> None:
        unsure = any(
            trouble.kind in PARTIAL_KINDS or trouble.kind not in SEEN_THROUGH for trouble in self.troubles
        )
        state = Coverage.SEEN if seen or self.stacks else Coverage.UNKNOWN if unsure else Coverage.ABSENT
        self.ctx.cover("rocm", state)
