"""Identity of the RCCL under the resolved root, and how its network plugin would be chosen.

What a process has really loaded is in ``loaded_libraries``, the version that torch was compiled
with in ``pytorch_build``: one unlabelled number would be wrong for somebody.
"""

import posixpath
import re
from typing import Annotated

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope, Word
from aorta.plugin import collector
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.rocm import Rocm
from aorta_collectors.tree.copies import other_copies
from aorta_collectors.tree.headers import dotted, first_header, number
from aorta_collectors.tree.libraries import pick
from aorta_collectors.tree.net_plugin import NetPlugin, find_plugin
from aorta_collectors.tree.versions import release_numbers

HEADERS = ("rccl/rccl.h", "rccl.h")
NAME = "librccl.so"
BUILT_IN_SINCE = (7, 2, 1)


class PluginMode(Word):
    """Where RCCL's network code comes from."""

    INTERNAL = "internal"
    EXTERNAL = "external"
    UNKNOWN = "unknown"


class BuiltInAnp(Word):
    """What RCCL_AINIC_ROCE comes to."""

    OFF = "off"
    REQUESTED = "requested"
    OVERRIDDEN = "overridden"
    NO_EFFECT = "no_effect"


@frozen
class RcclCopy:
    """Another librccl that a loader could take."""

    path: Annotated[str | None, Fact("Real path of the library.")] = None
    origin: Annotated[str | None, Fact("LD_LIBRARY_PATH, ld.so.conf or torch (inside its wheel).")] = None


@frozen
class Rccl:
    """The RCCL of the resolved root."""

    version_code: Annotated[
        int | None,
        Fact("NCCL_VERSION_CODE of rccl.h, e.g. 22707.", caveat="The header's: runtime installs have none."),
    ] = None
    version: Annotated[
        str | None,
        Fact("The version code in words, e.g. 2.27.7.", caveat="NCCL's number, not the package's."),
    ] = None
    header_path: Annotated[str | None, Fact("The header that was read.")] = None
    lib_path: Annotated[
        str | None, Fact("Real path of the library file.", caveat="Installed, not loaded.")
    ] = None
    lib_hash: Annotated[str | None, Fact("sha256 of that file.", caveat="Installed, not loaded.")] = None
    net_plugin_mode: Annotated[
        PluginMode | None,
        Fact(
            "internal (none is named or lies where the loader looks, or the variable says none),"
            " external (one resolves) or unknown (one is named and not found).",
            provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
            always=True,
        ),
    ] = None
    plugin_path: Annotated[
        str | None,
        Fact("The plugin file that would be loaded.", provenance=(Provenance.PROCESS, Provenance.FILESYSTEM)),
    ] = None
    plugin_lib_hash: Annotated[str | None, Fact("sha256 of exactly that file.")] = None
    anp_lib_hash: Annotated[
        str | None,
        Fact("sha256 of librccl-anp.so beside the library.", caveat="Lying there is not being used."),
    ] = None
    net_lib_hash: Annotated[
        str | None,
        Fact("sha256 of librccl-net.so beside the library.", caveat="Lying there is not being used."),
    ] = None
    builtin_anp: Annotated[
        BuiltInAnp | None,
        Fact(
            "What RCCL_AINIC_ROCE asks for: off, requested, overridden (a plugin comes first) or no_effect"
            " (ROCm before 7.2.1 has no AI NIC code inside RCCL). Null when the variable is not set.",
            caveat="Told by the ROCm release, not by the library.",
            provenance=(Provenance.PROCESS,),
        ),
    ] = None
    other_libraries: Annotated[
        tuple[RcclCopy, ...] | None, Fact("Other librccl files that this process's loader could take.")
    ] = None


def decode(code: int) -> str:
    """Return a version code in words: 22707 is 2.27.7, the older form 2804 is 2.8.4."""
    unit = 10_000 if code >= 10_000 else 1_000
    return f"{code // unit}.{code % unit // 100}.{code % 100}"


@collector(
    section="rccl",
    model=Rccl,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots, Rocm),
    timeout_s=45,
)
def collect(ctx: Context) -> Rccl:
    """RCCL version, library digest and network plugin."""
    roots = ctx.need(RocmRoots)
    code, version, header = _header(ctx, roots)
    picked = roots.unseen or pick(ctx, roots.lib_dirs, NAME)
    library = ctx.take(picked, "lib_path")
    plugin = find_plugin(ctx, roots.lib_dirs, roots.unseen)
    if plugin.trouble is not None:
        ctx.take(plugin.trouble, "net_plugin_mode")
    return Rccl(
        version_code=code,
        version=version,
        header_path=header,
        lib_path=library,
        lib_hash=ctx.take(ctx.digest(library) if library else picked, "lib_hash"),
        net_plugin_mode=PluginMode(plugin.mode),
        plugin_path=plugin.path,
        plugin_lib_hash=ctx.take(ctx.digest(plugin.path), "plugin_lib_hash") if plugin.path else None,
        anp_lib_hash=_beside(ctx, roots, "librccl-anp.so", "anp_lib_hash"),
        net_lib_hash=_beside(ctx, roots, "librccl-net.so", "net_lib_hash"),
        builtin_anp=_builtin_anp(ctx, plugin),
        other_libraries=_others(ctx, library),
    )


def _header(ctx: Context, roots: RocmRoots) -> tuple[int | None, str | None, str | None]:
    """Return code, words and path of the first header that tells the version; old ones only include it."""
    seen: Answer[dict[str, str]] | None = roots.unseen
    for name in () if roots.unseen else HEADERS:
        answer = first_header(ctx, roots.include_root, (name,))
        if answer.absent:
            continue
        defines = answer.value or {}
        code = number(defines, "NCCL_VERSION_CODE")
        words = decode(code) if code else dotted(defines, "NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH")
        if words is not None:
            if code is None:
                ctx.note(
                    ReasonKind.ABSENT, "version_code", "no NCCL_VERSION_CODE in it", subject=answer.subject
                )
            return code, words, answer.subject
        seen = seen or answer
    _note_header(ctx, roots, seen)
    return None, None, None


def _note_header(ctx: Context, roots: RocmRoots, seen: Answer[dict[str, str]] | None) -> None:
    for field in ("version_code", "version", "header_path"):
        if seen is None:
            place = posixpath.join(roots.include_root, "include", HEADERS[0])
            text = f"{place}: no such header, as in runtime installs"
            ctx.note(ReasonKind.ABSENT, field, text, subject=place)
        elif not seen.ok:
            ctx.take(seen, field)
        else:
            ctx.note(ReasonKind.UNPARSED, field, "no version in the header", subject=seen.subject)


def _beside(ctx: Context, roots: RocmRoots, name: str, field: str) -> str | None:
    """Return the digest of a plugin file beside the library; that there is none is no news."""
    found = roots.unseen or pick(ctx, roots.lib_dirs, name)
    if found.absent:
        return None
    return ctx.take(ctx.digest(found.value) if found.value else found, field)


def _builtin_anp(ctx: Context, plugin: NetPlugin) -> BuiltInAnp | None:
    asked = ctx.env("RCCL_AINIC_ROCE")
    if asked is None:
        return None
    if not re.fullmatch(r"[+-]?0*[1-9]\d{0,8}", asked.strip()):
        return BuiltInAnp.OFF
    if plugin.mode != PluginMode.INTERNAL:
        return BuiltInAnp.OVERRIDDEN
    release = ctx.need(Rocm).version
    if release is None:
        text = "whether RCCL has it inside is told by the ROCm release, which is not known"
        ctx.note(ReasonKind.UNSUPPORTED, "builtin_anp", text, subject="RCCL_AINIC_ROCE")
        return None
    if release_numbers(release) < BUILT_IN_SINCE:
        text = f"RCCL_AINIC_ROCE={asked} has no effect on ROCm {release}"
        ctx.note(ReasonKind.UNSUPPORTED, "builtin_anp", text, subject="RCCL_AINIC_ROCE")
        return BuiltInAnp.NO_EFFECT
    return BuiltInAnp.REQUESTED


def _others(ctx: Context, library: str | None) -> tuple[RcclCopy, ...] | None:
    copies = other_copies(ctx, NAME, library)
    if copies is None:
        return None
    return tuple(RcclCopy(path=copy.path, origin=copy.origin) for copy in copies)
