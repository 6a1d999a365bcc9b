"""A torch build, described by all that tells of it."""

import posixpath
import re
from typing import Any

from aorta.collect import Answer, Context
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.providers.torch_facts import TorchFacts, VersionSource
from aorta_collectors.providers.torch_symbols import MARKERS, TorchSymbols
from aorta_collectors.pytorch.cmake_cache import describe as cmake_cache
from aorta_collectors.pytorch.config import BuildConfig, build_config, defines_option
from aorta_collectors.pytorch.flags import describe as describe_flags
from aorta_collectors.pytorch.flags import options, runtime
from aorta_collectors.pytorch.metadata import own_version
from aorta_collectors.pytorch.model import BUNDLED, CK_OPTIONS, BinaryIntrospection, PytorchBuild
from aorta_collectors.pytorch.ninja import describe as ninja_hipcc
from aorta_collectors.pytorch.source_tree import source_tree
from aorta_collectors.pytorch.submodules import submodule_commits
from aorta_collectors.tree.libraries import by_version
from aorta_collectors.tree.versions import TorchVersion, parse_torch_version


def describe(ctx: Context, torch: TorchFacts) -> PytorchBuild:
    """Return what is known of a build; of a torch that is not installed only the sources may be there."""
    if not torch.installed:
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
    own = own_version(ctx, torch) if version is None else None
    if own:
        version, source = own, VersionSource.METADATA
    if version is None:
        ctx.take(torch.told("version"), "version")
    parts = parse_torch_version(version) if version else TorchVersion(base="")
    others = torch.distribution.others if torch.distribution is not None else ()
    if torch.distribution is not None and torch.distribution.path and not metadata:
        _note_unread(ctx, torch.distribution.path)
    return {
        "version": version,
        "version_source": source if version is not None else None,
        "rocm_local": parts.rocm,
        "git_local": parts.git,
        "distribution_version": metadata if metadata != version else None,
        "other_metadata": tuple(others) or None,
        "git_commit": _commit(ctx, torch),
        "hip_version": _backend(ctx, torch, "hip"),
        "cuda_version": _backend(ctx, torch, "cuda"),
        "rocm_version": _text(ctx, torch, "rocm", "rocm_version"),
        "debug": _debug(ctx, torch),
    }


def _note_unread(ctx: Context, metadata: str) -> None:
    """Note why metadata that are there tell no version."""
    text = ctx.resource(posixpath.join(metadata, "METADATA"))
    if text.ok or text.absent:
        ctx.note(ReasonKind.ABSENT, "distribution_version", f"{metadata}: no version in it", subject=metadata)
    else:
        ctx.take(text, "distribution_version")


def _text(ctx: Context, torch: TorchFacts, name: str, field: str) -> str | None:
    value = ctx.take(torch.told(name), field)
    return value if isinstance(value, str) else None


def _backend(ctx: Context, torch: TorchFacts, name: str) -> str | None:
    """Return the version of a back end; torch itself says so where it was built without."""
    value = _text(ctx, torch, name, f"{name}_version")
    if value is None and torch.told(name).ok:
        text = f"this torch was not built with {name.upper()}"
        ctx.note(ReasonKind.ABSENT, f"{name}_version", text, subject="torch")
    return value


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
    tree = source_tree(ctx, torch)
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
