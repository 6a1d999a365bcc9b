"""What torch was built from and with, as it says itself and as its files show.

What a device or a library would say belongs to other sections: nothing here comes from either.
"""

import re
from typing import Annotated, Any

from aorta.collect import Answer, Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope, Word
from aorta.plugin import collector
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.providers.torch_symbols import MARKERS, TorchSymbols
from aorta_collectors.pytorch.cmake_cache import CmakeCache
from aorta_collectors.pytorch.cmake_cache import describe as cmake_cache
from aorta_collectors.pytorch.config import (
    BUILD_FLAGS,
    BuildConfig,
    build_config,
    defines_option,
)
from aorta_collectors.pytorch.flags import PROCESS, Flags, options, runtime
from aorta_collectors.pytorch.flags import describe as describe_flags
from aorta_collectors.pytorch.ninja import NinjaHipcc
from aorta_collectors.pytorch.ninja import describe as ninja_hipcc
from aorta_collectors.pytorch.source_tree import (
    VARIABLE,
    InstallKind,
    SourceTree,
    SubmoduleCommits,
    source_tree,
    submodule_commits,
)
from aorta_collectors.tree.libraries import by_version
from aorta_collectors.tree.versions import TorchVersion, parse_torch_version

FILES = (Provenance.FILESYSTEM,)
COMPILED = "What torch was compiled with, not what is loaded."
BUNDLED = ("libaotriton_v2.so",)
CK_OPTIONS = ("USE_ROCM_CK_SDPA", "USE_ROCM_CK_GEMM")


class VersionSource(Word):
    """Who told the version."""

    TORCH = "torch"
    VERSION_PY = "version.py"
    METADATA = "metadata"


@frozen
class BinaryIntrospection:
    """What the files beside torch show."""

    libtorch_hip_symbol_counts: Annotated[
        dict[str, int | None] | None,
        Fact(
            "Defined dynamic symbols of libtorch_hip.so that mention each text, as c++filt would print them;"
            " a text with :: begins with a whole name.",
            caveat="Some: it was compiled in. None proves nothing: symbols may be hidden.",
            keys=MARKERS,
        ),
    ] = None
    torch_lib_bundled: Annotated[
        dict[str, bool | None] | None,
        Fact("Whether a file of that name, or with a version after it, lies beside them.", keys=BUNDLED),
    ] = None
    cxx_flags_use_defines: Annotated[
        dict[str, bool | None] | None,
        Fact(
            "Whether CXX_FLAGS turns these options on.",
            caveat="Options of the build: exporting them at run time does nothing.",
            keys=CK_OPTIONS,
        ),
    ] = None


@frozen
class PytorchBuild:
    """One build of torch."""

    version: Annotated[str | None, Fact("Version of torch, as in pytorch_version.")] = None
    version_source: Annotated[
        VersionSource | None, Fact("Who told it: torch, its version.py, or the metadata of its package.")
    ] = None
    rocm_local: Annotated[
        str | None,
        Fact(
            "ROCm release in what follows the + of the version; null where none is named.",
            caveat="The builder's word. No such word says nothing: ROCm's own images have none.",
        ),
    ] = None
    git_local: Annotated[
        str | None, Fact("Commit in what follows the + of the version; null where none is named.")
    ] = None
    distribution_version: Annotated[
        str | None, Fact("Version in the package's metadata where that is another one; else null.")
    ] = None
    other_metadata: Annotated[
        tuple[str, ...] | None, Fact("Further metadata directories of torch, left over or of other copies.")
    ] = None
    git_commit: Annotated[str | None, Fact("torch.version.git_version, a commit of PyTorch.")] = None
    hip_version: Annotated[
        str | None,
        Fact(
            "torch.version.hip, e.g. 7.2.26015-fc0010cf6a; null for a build without HIP.",
            caveat=f"{COMPILED} HIP's number is not ROCm's.",
        ),
    ] = None
    cuda_version: Annotated[
        str | None,
        Fact("torch.version.cuda; null for a build without CUDA, as those for ROCm.", caveat=COMPILED),
    ] = None
    rocm_version: Annotated[
        str | None, Fact("torch.version.rocm, e.g. 7.2.0; only newer builds have one.", caveat=COMPILED)
    ] = None
    debug: Annotated[bool | None, Fact("torch.version.debug: a debug build.")] = None
    hip_runtime: Annotated[
        str | None,
        Fact(
            "HIP Runtime of torch's configuration text, e.g. 7.2.26015.",
            caveat="Named only where torch finds a device.",
            provenance=PROCESS,
        ),
    ] = None
    miopen_runtime: Annotated[
        str | None,
        Fact(
            "MIOpen of torch's configuration text, e.g. 3.5.1.",
            caveat="Named only where torch finds a device.",
            provenance=PROCESS,
        ),
    ] = None
    importable: Annotated[
        bool | None,
        Fact("Whether import torch came to a good end; null where it came to none.", provenance=PROCESS),
    ] = None
    import_error: Annotated[
        str | None, Fact("Last line of the exception that an import ended with.", provenance=PROCESS)
    ] = None
    import_ended: Annotated[
        str | None,
        Fact("How the process that imported torch ended, where not by itself.", provenance=PROCESS),
    ] = None
    import_stderr: Annotated[
        str | None,
        Fact(
            "What was printed while torch was imported and asked, its end.",
            caveat="Lines of native code are no failures of themselves.",
            provenance=PROCESS,
            volatile=True,
        ),
    ] = None
    file: Annotated[str | None, Fact("torch.__file__, or where it would be imported from.")] = None
    lib_dir: Annotated[str | None, Fact("The directory of torch's own libraries.")] = None
    install_kind: Annotated[
        InstallKind | None,
        Fact("wheel (any installed copy), editable, source, or unknown.", provenance=FILES),
    ] = None
    source_path: Annotated[
        str | None, Fact("Top of the source tree; null for an installed copy.", provenance=FILES)
    ] = None
    submodule_commits: Annotated[
        SubmoduleCommits, Fact("Commits checked out in the source tree now.", provenance=FILES)
    ] = SubmoduleCommits()
    flags: Annotated[Flags, Fact("The configuration text, taken apart.", provenance=PROCESS)] = Flags()
    build_flags: Annotated[
        dict[str, bool | str | None] | None,
        Fact(
            "Build options by name: on, off, or as they stand. Null where the text does not name it, which"
            " is not off.",
            caveat="Options of the build, no switches of run time.",
            provenance=PROCESS,
            keys=tuple(BUILD_FLAGS),
        ),
    ] = None
    binary_introspection: Annotated[
        BinaryIntrospection, Fact("What the files beside torch show.", provenance=FILES)
    ] = BinaryIntrospection()
    cmake_cache: Annotated[CmakeCache, Fact("CMake's cache of a source build.", provenance=FILES)] = (
        CmakeCache()
    )
    ninja_hipcc: Annotated[
        NinjaHipcc, Fact("How HIP code of a source build was compiled.", provenance=FILES)
    ] = NinjaHipcc()


@collector(
    section="pytorch_build",
    model=PytorchBuild,
    provenance=(Provenance.PROCESS, Provenance.FILESYSTEM),
    scope=Scope.PROCESS,
    needs=(TorchFacts, TorchSymbols),
    timeout_s=40,
)
def collect(ctx: Context) -> PytorchBuild:
    """Version, commit, flags and kernels of the torch build."""
    torch = ctx.need(TorchFacts)
    if not torch.installed:
        ctx.take(torch.told("version"), "")
        if not ctx.env(VARIABLE):
            return PytorchBuild()
        return PytorchBuild(**_source(ctx, torch))
    config = build_config(torch)
    return PytorchBuild(
        **_identity(ctx, torch),
        **_import(ctx, torch),
        **_source(ctx, torch),
        hip_runtime=runtime(ctx, torch, config, "hip_runtime"),
        miopen_runtime=runtime(ctx, torch, config, "miopen_runtime"),
        flags=describe_flags(ctx, torch, config),
        build_flags=options(ctx, torch, config),
        binary_introspection=_introspection(ctx, torch, config),
    )


def _identity(ctx: Context, torch: TorchFacts) -> dict[str, Any]:
    """Return what names the build."""
    version, source = torch.text("version"), torch.sources.get("version")
    metadata = torch.distribution.version if torch.distribution is not None else None
    if version is None and metadata:
        version, source = metadata, VersionSource.METADATA.value
    if version is None:
        ctx.take(torch.told("version"), "version")
    parts = parse_torch_version(version) if version else TorchVersion(base="")
    others = torch.distribution.others if torch.distribution is not None else ()
    return {
        "version": version,
        "version_source": VersionSource(source) if version is not None else None,
        "rocm_local": parts.rocm,
        "git_local": parts.git,
        "distribution_version": metadata if metadata != version else None,
        "other_metadata": tuple(others) or None,
        "git_commit": _commit(ctx, torch),
        "hip_version": _text(ctx, torch, "hip", "hip_version"),
        "cuda_version": _text(ctx, torch, "cuda", "cuda_version"),
        "rocm_version": _text(ctx, torch, "rocm", "rocm_version"),
        "debug": _debug(ctx, torch),
    }


def _text(ctx: Context, torch: TorchFacts, name: str, field: str) -> str | None:
    value = ctx.take(torch.told(name), field)
    return value if isinstance(value, str) else None


def _debug(ctx: Context, torch: TorchFacts) -> bool | None:
    value = ctx.take(torch.told("debug"), "debug")
    return value if isinstance(value, bool) else None


def _commit(ctx: Context, torch: TorchFacts) -> str | None:
    """Return the commit; a torch that was built outside of a checkout calls it Unknown."""
    told = _text(ctx, torch, "git_version", "git_commit")
    if told is None or re.fullmatch(r"[0-9a-f]{7,40}", told):
        return told
    text = f"torch.version.git_version is {told[:60]!r}, no commit"
    ctx.note(ReasonKind.ABSENT, "git_commit", text, subject="torch")
    return None


def _import(ctx: Context, torch: TorchFacts) -> dict[str, Any]:
    """Return how the import went, and where it led."""
    if torch.importable is None and torch.gap is not None:
        torch.gap.note(ctx, "importable")
    elif torch.gap is None and torch.ended:
        text = f"torch told all that it was asked, and then {torch.ended}"
        ctx.note(ReasonKind.FAILED, "import_ended", text, subject="torch")
    symbols = ctx.need(TorchSymbols)
    if torch.lib_dir is None and symbols.gap is not None:
        symbols.gap.note(ctx, "lib_dir")
    return {
        "importable": torch.importable,
        "import_error": torch.error,
        "import_ended": torch.ended or None,
        "import_stderr": torch.noise or None,
        "file": torch.text("file") or (torch.module.origin if torch.module is not None else None),
        "lib_dir": torch.lib_dir,
    }


def _source(ctx: Context, torch: TorchFacts) -> dict[str, Any]:
    """Return what the source tree tells, where there is one."""
    tree: SourceTree = source_tree(ctx, torch)
    return {
        "install_kind": tree.install_kind,
        "source_path": tree.path,
        "submodule_commits": submodule_commits(ctx, tree),
        "cmake_cache": cmake_cache(ctx, tree),
        "ninja_hipcc": ninja_hipcc(ctx, tree),
    }


def _introspection(ctx: Context, torch: TorchFacts, config: Answer[BuildConfig]) -> BinaryIntrospection:
    symbols, top = ctx.need(TorchSymbols), "binary_introspection"
    if symbols.gap is not None:
        symbols.gap.note(ctx, f"{top}.libtorch_hip_symbol_counts")
    counts = symbols.counts
    found = ctx.take(config, f"{top}.cxx_flags_use_defines")
    if found is not None and found.defines is None:
        text = "torch's configuration text has no CXX_FLAGS"
        ctx.note(ReasonKind.ABSENT, f"{top}.cxx_flags_use_defines", text, subject="torch.__config__")
    return BinaryIntrospection(
        libtorch_hip_symbol_counts={name: counts[name] for name in MARKERS} if counts is not None else None,
        torch_lib_bundled=_bundled(ctx, torch, f"{top}.torch_lib_bundled"),
        cxx_flags_use_defines={name: defines_option(found, name) for name in CK_OPTIONS} if found else None,
    )


def _bundled(ctx: Context, torch: TorchFacts, field: str) -> dict[str, bool | None] | None:
    """Tell which libraries lie beside torch's own."""
    if torch.lib_dir is None:
        gap = ctx.need(TorchSymbols).gap
        if gap is not None:
            gap.note(ctx, field)
        return None
    entries = ctx.take(ctx.scan(torch.lib_dir), field)
    return {name: bool(by_version(entries, name)) for name in BUNDLED} if entries is not None else None
