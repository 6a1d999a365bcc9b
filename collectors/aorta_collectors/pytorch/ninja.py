"""What ``build.ninja`` of a source build says of how HIP code was compiled."""

import functools
import posixpath
import re
from typing import NamedTuple

from aorta.collect import Context
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.pytorch.model import NinjaHipcc, NinjaTarget
from aorta_collectors.pytorch.ninja_file import BuildFile, parse_words
from aorta_collectors.pytorch.source_tree import SourceTree

TARGETS = ("torch_hip", "torch_cpu", "c10_hip", "ck_sdpa", "mslk")

USE_DEFINES = (
    "USE_FLASH_ATTENTION",
    "USE_MEM_EFF_ATTENTION",
    "USE_ROCM_CK_SDPA",
    "USE_ROCM_CK_GEMM",
    "USE_AOTRITON",
    "DISABLE_AOTRITON",
    "USE_MKL",
    "FLASH_NAMESPACE",
    "CK_TILE_FMHA_FWD_FAST_EXP2",
    "CK_TILE_FMHA_FWD_APPENDKV_API",
    "CK_TILE_FMHA_FWD_PAGEDKV_API",
    "CK_TILE_FMHA_FWD_SPLITKV_API",
    "CK_TILE_FLOAT_TO_BFLOAT16_DEFAULT",
    "CK_USE_XDL",
    "CK_USE_FNUZ_FP8",
    "CK_USE_GFX94",
    "USE_LAYERNORM_FAST_RECIPROCAL",
    "UNFUSE_FMA",
    "FLASHATTENTION_DISABLE_ALIBI",
    "FLASHATTENTION_DISABLE_SOFTCAP",
    "HIPBLASLT_USE_ROCROLLER",
    "HIPBLASLT_HAS_GETINDEXFROMALGO",
    "HIPBLAS_V2",
    "HIPBLASLT_OUTER_VEC",
    "HIP_ENABLE_WARP_SYNC_BUILTINS",
    "ROCM_VERSION",
    "TORCH_HIP_VERSION",
)
CODEGEN_FLAGS = (
    "-fgpu-flush-denormals-to-zero",
    "-ffast-math",
    "-fno-fast-math",
    "-ffp-contract=fast",
    "-ffp-contract=on",
    "-ffp-contract=off",
    "-fdenormal-fp-math",
)

PIECE = 4 << 20
#: The most different compile lines that are remembered, and the most macros of a target.
LINES_LIMIT, DEFINES_LIMIT = 256, 10_000


class Line(NamedTuple):
    """What one compile line comes to."""

    target: str | None
    defines: dict[str, str | None]
    flags: frozenset[str]
    archs: frozenset[str]


class Gathered:
    """What the compile lines of one target have, and what all of them have."""

    def __init__(self, line: Line) -> None:
        self.defines = dict(line.defines)
        self.common = dict(line.defines)
        self.flags = set(line.flags)
        self.archs = set(line.archs)
        self.count = 0

    def add(self, line: Line) -> None:
        """Take another compile line in. Raises ValueError where there are too many macros."""
        self.defines = {**line.defines, **self.defines}
        theirs = line.defines
        self.common = {
            name: value for name, value in self.common.items() if name in theirs and theirs[name] == value
        }
        self.flags |= line.flags
        self.archs |= line.archs
        if max(len(self.defines), len(self.archs)) > DEFINES_LIMIT:
            raise ValueError(f"more than {DEFINES_LIMIT} macros in one target")

    def told(self) -> NinjaTarget:
        """Return it as it stands in the document."""
        return NinjaTarget(
            defines=dict(sorted(self.defines.items())),
            use_defines_present={name: name in self.defines for name in USE_DEFINES},
            codegen_flags_present={flag: flag in self.flags for flag in CODEGEN_FLAGS},
            offload_archs=tuple(sorted(self.archs)),
            mixed_defines=tuple(sorted(self.defines.keys() - self.common.keys())),
            compile_lines=self.count,
        )


class Compiled:
    """All compile statements of a build file, by target."""

    def __init__(self) -> None:
        self.targets: dict[str, Gathered] = {}
        self.count = 0
        self._known: dict[tuple[str, str, str], str | None] = {}

    def add(self, statement: tuple[str, str, str]) -> None:
        """Take a statement (rule, DEFINES, FLAGS) in. Most have the same text as one before."""
        self.count += 1
        if statement not in self._known:
            if len(self._known) >= LINES_LIMIT:
                self._known.clear()
            line = parse_line(*statement)
            self._known[statement] = line.target
            if line.target is not None:
                self.targets.setdefault(line.target, Gathered(line)).add(line)
        target = self._known[statement]
        if target is not None:
            self.targets[target].count += 1


def describe(ctx: Context, tree: SourceTree) -> NinjaHipcc:
    """Return how HIP code was compiled; notes against ninja_hipcc what is not known."""
    if tree.path is None:
        ctx.take(tree.gap, "ninja_hipcc")
        return NinjaHipcc()
    path = posixpath.join(tree.path, "build", "build.ninja")
    file, compiled, read = BuildFile(), Compiled(), 0
    field = "ninja_hipcc.targets"
    try:
        for piece in ctx.pieces(path, PIECE):
            if piece.value is None:
                ctx.take(piece, field if read else "ninja_hipcc")
                return NinjaHipcc(_source_file=path if read else None)
            read += len(piece.value)
            for statement in file.feed(piece.value):
                compiled.add(statement)
            if ctx.remaining() <= 0:
                text = f"{path}: the time was over after {read >> 20} MiB"
                ctx.note(ReasonKind.TIMED_OUT, field, text, subject=path)
                return NinjaHipcc(_source_file=path)
        for statement in file.feed(b"", last=True):
            compiled.add(statement)
    except ValueError as error:
        ctx.note(ReasonKind.UNPARSED, field, f"{path}: {error}", subject=path)
        return NinjaHipcc(_source_file=path)
    return _told(ctx, path, compiled, seen=file.seen, legacy=file.legacy)


def _told(ctx: Context, path: str, compiled: Compiled, *, seen: bool, legacy: bool) -> NinjaHipcc:
    field = "ninja_hipcc.targets"
    if compiled.count:
        targets = {name: compiled.targets[name].told() for name in TARGETS if name in compiled.targets}
        return NinjaHipcc(_source_file=path, _parser="ninja_defines", targets=targets)
    if legacy:
        text = f"{path}: HIP sources are compiled by scripts of FindHIP, one a source, which are not read"
        ctx.note(ReasonKind.UNSUPPORTED, field, text, subject=path)
        return NinjaHipcc(_source_file=path, _parser="legacy_findhip_per_source", _legacy_scripts_scanned=0)
    if seen:
        text = f"{path}: it compiles no HIP sources"
        ctx.note(ReasonKind.ABSENT, field, text, subject=path)
    else:
        ctx.note(ReasonKind.UNPARSED, field, f"{path}: no build statements in it", subject=path)
    return NinjaHipcc(_source_file=path)


@functools.cache
def _rule() -> "re.Pattern[str]":
    """Return how CMake names a rule: by target, whether it is scanned for modules, configuration."""
    names = "|".join(TARGETS)
    known = "Debug|Release|RelWithDebInfo|MinSizeRel"
    return re.compile(rf"HIP_COMPILER__({names})(?:_(?:un)?scanned(?:_\w*)?|_(?:{known})?)?")


@functools.cache
def _macro() -> "re.Pattern[str]":
    return re.compile(r"([A-Za-z_]\w{0,200})(?:\([^()]{0,200}\))?(?:=(.*))?", re.DOTALL | re.ASCII)


def parse_line(rule: str, defines: str, flags: str) -> Line:
    """Return what a compile line comes to.

    Its target is the one whose ``-D<target>_EXPORTS`` is there, else the one that the rule is called by:
    a static library exports nothing.
    """
    macros: dict[str, str | None] = {}
    found, archs = set[str](), set[str]()
    words = iter((*parse_words(defines), *parse_words(flags)))
    for first in words:
        word = first
        if first in ("-D", "-U", "--offload-arch"):
            word = f"{first}{'=' if first.startswith('--') else ''}{next(words, '')}"
        if word.startswith("-D"):
            macro = _macro().fullmatch(word, 2)
            if macro is not None:
                macros[macro[1]] = macro[2]
        elif word.startswith("-U"):
            macros.pop(word[2:], None)
        elif word.startswith("--offload-arch="):
            archs.update(arch for arch in word[15:].split(",") if arch)
        elif word.startswith("--no-offload-arch="):
            archs = set() if word[18:] == "all" else archs - set(word[18:].split(","))
        elif word in CODEGEN_FLAGS:
            found.add(word)
        elif word.startswith("-fdenormal-fp-math="):
            found.add("-fdenormal-fp-math")
    exported = [name for name in TARGETS if f"{name}_EXPORTS" in macros]
    named = _rule().fullmatch(rule)
    target = exported[0] if exported else named[1] if named is not None else None
    return Line(target=target, defines=macros, flags=frozenset(found), archs=frozenset(archs))
