"""One ROCm tree: whether a path is one, which layout it has, and where its parts lie."""

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from aorta.collect import Answer, Context, parsed
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.observations import machine
from aorta_collectors.tree.versions import parse_rocm_version

WHEEL_PREFIX = "_rocm_sdk_"
MARKER_LIMIT = 4096
_FAMILY = re.compile(r"[^0-9A-Za-z]+")


@frozen
class Tree:
    """The parts of one tree, each tuple in the order of looking. ``lib_roots`` hold math libraries."""

    root: str
    layout: str
    lib_root: str
    include_root: str
    prefixes: tuple[str, ...]
    bin_dirs: tuple[str, ...]
    lib_dirs: tuple[str, ...]
    lib_roots: tuple[str, ...]


def version_of(ctx: Context, prefixes: tuple[str, ...], marker: str = "version") -> Answer[str]:
    """Read ``.info/<marker>`` below the first prefix that has it."""
    answer: Answer[str] = Answer(kind=ReasonKind.ABSENT, detail=f"no .info/{marker}")
    for prefix in prefixes:
        path = posixpath.join(prefix, ".info", marker)
        answer = parsed(ctx.text(path, MARKER_LIMIT), parse_rocm_version)
        if not answer.absent:
            return answer
    return answer


def look(ctx: Context, root: str, *, strict: bool) -> Answer[Tree]:
    """Look whether a directory is a ROCm tree.

    A path that someone named (not ``strict``) needs ``.info``, ``bin``, ``lib``, ``lib64`` or ``core``
    in it; else it must carry a version or a library directory, since a left-over ``bin`` is no ROCm.
    """
    looks = {name: ctx.stat(posixpath.join(root, name)) for name in (".info", "lib", "lib64", "core", "bin")}
    there = {name for name, seen in looks.items() if seen.ok}
    refusals = {name: seen for name, seen in looks.items() if not (seen.ok or seen.absent)}
    # What lies below a part that cannot be seen is asked for all the same, and says why it is missing.
    prefixes = (root,) if looks["core"].absent else (root, posixpath.join(root, "core"))
    signs = list(_signs(ctx, there, prefixes, strict=strict))
    if any(sign.ok for sign in signs):
        return Answer(
            value=_laid_out(ctx, root, {*there, *refusals}, unsure="core" in refusals), subject=root
        )
    for seen in (*refusals.values(), *(sign for sign in signs if not sign.absent)):
        return seen.failure
    return Answer(kind=ReasonKind.ABSENT, subject=root, detail=f"{root}: no ROCm in it")


def _signs(
    ctx: Context, there: set[str], prefixes: tuple[str, ...], *, strict: bool
) -> Iterator[Answer[Any]]:
    """Yield what may speak for a tree: any seen answer makes it one."""
    if there & {"lib", "lib64"} or (there and not strict):
        yield Answer(value=True)
    elif there & {".info", "core"}:
        yield version_of(ctx, prefixes)
        yield version_of(ctx, prefixes, "version-dev")
        if len(prefixes) > 1:
            yield ctx.stat(posixpath.join(prefixes[1], "lib"))


def _laid_out(ctx: Context, root: str, there: set[str], *, unsure: bool) -> Tree:
    """Return the parts of a tree; ``unsure``: whether there is a core in it could not be seen."""
    core = posixpath.join(root, "core") if "core" in there else root
    lib_root = root if there & {"lib", "lib64"} else core
    has_headers = core == root or unsure or not ctx.stat(posixpath.join(root, "include")).absent
    native = core != root or re.fullmatch(r"core(-[\d.]{1,20})?", posixpath.basename(root)) is not None
    libraries = [posixpath.join(lib_root, "lib")]
    if "lib64" in there:
        libraries.append(posixpath.join(root, "lib64"))
    return Tree(
        root=root,
        layout="unknown" if unsure else "native" if native else "classic",
        lib_root=lib_root,
        include_root=root if has_headers else core,
        prefixes=tuple(dict.fromkeys((root, core))),
        bin_dirs=tuple(dict.fromkeys(posixpath.join(prefix, "bin") for prefix in (root, core))),
        lib_dirs=tuple(libraries),
        lib_roots=(lib_root,),
    )


def look_at_wheel(ctx: Context, component: str) -> Answer[Tree]:
    """Return the wheel tree that a package directory such as ``_rocm_sdk_core`` belongs to.

    The packages lie side by side; libraries come as one package or as one for each GPU family. A lone
    component stands for all three.
    """
    site, own = posixpath.split(component)
    listed = ctx.scan(site)
    if listed.value is not None:
        names = [entry.name for entry in listed.value if entry.kind in ("dir", "link")]
    else:
        lone = ctx.stat(component)
        if not lone.ok:
            return lone.failure
        names = [own]
    if not any(name.startswith(WHEEL_PREFIX) for name in names):
        return Answer(kind=ReasonKind.ABSENT, subject=component, detail=f"{component}: no such package")
    core = _named(names, "_rocm_sdk_core")[:1]
    root = posixpath.join(site, core[0]) if core else component
    libraries = _by_family(_named(names, "_rocm_sdk_libraries"), ctx.env("ROCM_SDK_TARGET_FAMILY"))
    lib_roots = tuple(posixpath.join(site, name) for name in libraries) or (root,)
    devel = [posixpath.join(site, name) for name in _named(names, "_rocm_sdk_devel")[:1]]
    named = [component] if own in names and own not in libraries else []
    return Answer(
        value=Tree(
            root=root,
            layout="wheel",
            lib_root=lib_roots[0],
            include_root=(devel or [root])[0],
            prefixes=(root,),
            bin_dirs=_unique(root, *named, *devel, below="bin"),
            lib_dirs=_unique(*lib_roots, root, *named, below="lib"),
            lib_roots=lib_roots,
        ),
        subject=root,
    )


def _named(names: list[str], package: str) -> list[str]:
    """Return the package's own name first, then those with a family or build suffix."""
    return sorted(name for name in names if name == package or name.startswith(package + "_"))


def _by_family(libraries: list[str], family: str | None) -> list[str]:
    wanted = _FAMILY.sub("_", family or "").strip("_").lower()
    plain = "_rocm_sdk_libraries"
    return sorted(
        libraries,
        key=lambda name: (name != plain, not wanted or name.lower() != f"{plain}_{wanted}", name),
    )


def _unique(*roots: str, below: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(posixpath.join(root, below) for root in roots))


def look_at_distribution(ctx: Context, root: str = "/usr") -> Answer[Tree]:
    """Look whether HIP was installed by the distribution's own packages, as Debian and Fedora do."""
    sign = ctx.stat(posixpath.join(root, "share/hip/version"))
    if not sign.ok:
        return sign.failure
    triplet = f"{machine(ctx)}-linux-gnu"
    places = [
        posixpath.join(root, "lib", triplet),
        posixpath.join(root, "lib64"),
        posixpath.join(root, "lib"),
    ]
    return Answer(
        value=Tree(
            root=root,
            layout="distribution",
            lib_root=root,
            include_root=root,
            prefixes=(root,),
            # A distribution puts its tools on PATH; who took them off means it.
            bin_dirs=(),
            lib_dirs=tuple(place for place in places if ctx.stat(place).ok),
            lib_roots=(root,),
        ),
        subject=root,
    )


def unseen(root: str) -> Tree:
    """Return the tree that a path would be, for a path that could not be looked at."""
    library = posixpath.join(root, "lib")
    return Tree(
        root=root,
        layout="wheel" if posixpath.basename(root).startswith(WHEEL_PREFIX) else "classic",
        lib_root=root,
        include_root=root,
        prefixes=(root,),
        bin_dirs=(posixpath.join(root, "bin"),),
        lib_dirs=(library,),
        lib_roots=(root,),
    )
