"""Which Composable Kernel headers are installed, and what torch was built with of its own copy.

Composable Kernel is a library of headers: there is no file that a process loads. torch holds what
was compiled from a copy of its own, which may be another version.
"""

import posixpath
import re
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Provenance, ReasonKind, Scope
from aorta.plugin import collector
from aorta_collectors.providers.rocm_roots import RocmRoots
from aorta_collectors.providers.torch_facts import TorchFacts
from aorta_collectors.providers.torch_symbols import COMPOSABLE_KERNEL as NAMESPACE
from aorta_collectors.providers.torch_symbols import TorchSymbols
from aorta_collectors.tree.headers import first_header, version, word

HEADER = "ck/version.h"
TILE = "ck_tile/core/config.hpp"
CAVEAT = "An option of the build: exporting it at run time does nothing."


@frozen
class SystemCk:
    """The installed headers."""

    version: Annotated[str | None, Fact("CK_VERSION_MAJOR, MINOR and PATCH, e.g. 1.1.0.")] = None
    commit: Annotated[
        str | None, Fact("CK_COMMIT_ID: a commit of Composable Kernel itself, 7 to 40 digits.")
    ] = None
    header_path: Annotated[str | None, Fact("The header that was read.")] = None
    ck_tile_present: Annotated[bool | None, Fact("Whether the headers of CK Tile are installed.")] = None


@frozen
class BundledCk:
    """What torch's library holds."""

    present: Annotated[
        bool | None,
        Fact(
            "Whether libtorch_hip.so has symbols of Composable Kernel; null where there is no such library.",
            caveat="None proves nothing: symbols may be hidden.",
        ),
    ] = None
    symbol_count: Annotated[
        int | None,
        Fact(
            "Defined dynamic symbols that name something in the namespace ck; block:: and the like are none.",
            caveat="CK Tile has a namespace of its own: see pytorch_build.binary_introspection.",
        ),
    ] = None


@frozen
class ComposableKernel:
    """The installed headers, and torch's own copy."""

    system: Annotated[SystemCk, Fact("Headers under the root, not those that torch was built with.")] = (
        SystemCk()
    )
    pytorch_bundled: Annotated[BundledCk, Fact("What libtorch_hip.so holds.")] = BundledCk()
    pytorch_use_ck_sdpa: Annotated[
        bool | None,
        Fact(
            "Whether torch's configuration text names USE_ROCM_CK_SDPA as on.",
            caveat=CAVEAT,
            provenance=(Provenance.PROCESS,),
        ),
    ] = None
    pytorch_use_ck_gemm: Annotated[
        bool | None,
        Fact(
            "Whether torch's configuration text names USE_ROCM_CK_GEMM as on.",
            caveat=CAVEAT,
            provenance=(Provenance.PROCESS,),
        ),
    ] = None


@collector(
    section="composable_kernel",
    model=ComposableKernel,
    provenance=Provenance.FILESYSTEM,
    scope=Scope.NAMESPACE,
    needs=(RocmRoots, TorchFacts, TorchSymbols),
    timeout_s=10,
)
def collect(ctx: Context) -> ComposableKernel:
    """Composable Kernel headers under the root, and what torch has of it."""
    return ComposableKernel(
        system=_system(ctx),
        pytorch_bundled=_bundled(ctx),
        pytorch_use_ck_sdpa=_option(ctx, "USE_ROCM_CK_SDPA", "pytorch_use_ck_sdpa"),
        pytorch_use_ck_gemm=_option(ctx, "USE_ROCM_CK_GEMM", "pytorch_use_ck_gemm"),
    )


def _bundled(ctx: Context) -> BundledCk:
    symbols = ctx.need(TorchSymbols)
    if symbols.counts is not None:
        count = symbols.counts[NAMESPACE]
        return BundledCk(present=count > 0, symbol_count=count)
    if symbols.gap is not None:
        symbols.gap.note(ctx, "pytorch_bundled")
    return BundledCk()


def _option(ctx: Context, option: str, field: str) -> bool | None:
    torch = ctx.need(TorchFacts)
    if not torch.installed:
        ctx.take(torch.told("config"), field)
        return None
    from aorta_collectors.pytorch.config import build_config, built_with

    config = ctx.take(build_config(torch), field)
    value = built_with(config, option) if config is not None else None
    if config is not None and value is None:
        text = "torch's configuration text has no compiler flags"
        ctx.note(ReasonKind.ABSENT, field, text, subject="torch.__config__")
    return value


def _system(ctx: Context) -> SystemCk:
    roots = ctx.need(RocmRoots)
    answer = roots.unseen or first_header(ctx, roots.include_root, (HEADER,))
    defines = answer.value
    if defines is None:
        for field in ("version", "commit", "header_path"):
            ctx.take(answer, f"system.{field}")
        return SystemCk(ck_tile_present=_tile(ctx, roots))
    number = version(defines, "CK_VERSION_")
    if number is None:
        ctx.note(ReasonKind.UNPARSED, "system.version", "no version in the header", subject=answer.subject)
    commit = (word(defines, "CK_COMMIT_ID") or "").lower()
    known = re.fullmatch(r"[0-9a-f]{7,40}", commit) is not None
    if not known:
        kind = ReasonKind.UNPARSED if commit else ReasonKind.ABSENT
        text = f"CK_COMMIT_ID is {commit!r}, no commit" if commit else "no CK_COMMIT_ID in the header"
        ctx.note(kind, "system.commit", text, subject=answer.subject)
    return SystemCk(
        version=number,
        commit=commit if known else None,
        header_path=answer.subject,
        ck_tile_present=_tile(ctx, roots),
    )


def _tile(ctx: Context, roots: RocmRoots) -> bool | None:
    """Tell whether CK Tile is there; without a root nobody can say that it is not."""
    seen = roots.unseen or ctx.stat(posixpath.join(roots.include_root, "include", TILE))
    if seen.ok:
        return True
    if seen.absent and roots.found:
        return False
    ctx.take(seen, "system.ck_tile_present")
    return None
