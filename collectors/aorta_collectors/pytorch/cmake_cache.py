"""What ``CMakeCache.txt`` of a source build says of the features that were configured."""

import posixpath

from aorta.collect import Context
from aorta.model.redact import redact_value
from aorta.model.vocabulary import ReasonKind
from aorta_collectors.pytorch.model import CacheEntry, CmakeCache
from aorta_collectors.pytorch.source_tree import SourceTree

#: A cache of torch's has a few thousand lines.
LIMIT = 16 << 20

PREFIXES = (
    "USE_",
    "CK_",
    "AITER_",
    "FLASH_",
    "HIPBLAS",
    "DISABLE_",
    "AOTRITON",
    "ROCM_",
    "HIP_PLATFORM",
    "HIP_RUNTIME",
    "HIP_COMPILER",
    "HIP_VERSION",
    "PYTORCH_ROCM_ARCH",
    "TORCH_BUILD_VERSION",
    "BUILD_TYPE",
    "CMAKE_BUILD_TYPE",
)

#: How entries end by which CMake remembers something of another entry.
_PROPERTIES = ("-ADVANCED", "-MODIFIED", "-STRINGS")


def describe(ctx: Context, tree: SourceTree) -> CmakeCache:
    """Return the entries of the build's CMake cache; notes against cmake_cache what is not known."""
    if tree.path is None:
        ctx.take(tree.gap, "cmake_cache")
        return CmakeCache()
    path = posixpath.join(tree.path, "build", "CMakeCache.txt")
    content = ctx.take(ctx.data(path, LIMIT), "cmake_cache")
    if content is None:
        return CmakeCache()
    field = "cmake_cache.entries"
    if b"\0" in content:
        ctx.note(ReasonKind.UNPARSED, field, f"{path}: it holds NUL bytes", subject=path)
        return CmakeCache(_source_file=path)
    if len(content) == LIMIT:
        # What comes later counts, so what was read does not.
        ctx.note(ReasonKind.UNPARSED, field, f"{path}: more than {LIMIT >> 20} MiB", subject=path)
        return CmakeCache(_source_file=path)
    entries = parse_cache(content.decode("utf-8", "surrogateescape"))
    chosen = {name: entry for name, entry in sorted(entries.items()) if name.startswith(PREFIXES)}
    if not entries:
        ctx.note(ReasonKind.UNPARSED, field, f"{path}: no entries in it", subject=path)
        return CmakeCache(_source_file=path)
    return CmakeCache(_source_file=path, entries={name: _shown(ctx, name, *chosen[name]) for name in chosen})


def _shown(ctx: Context, name: str, kind: str, value: str) -> CacheEntry:
    shown = redact_value(name, value)
    if shown != value:
        ctx.redacted.add(f"cmake_cache.entries.{name}.value")
    return CacheEntry(type=kind, value=shown)


def parse_cache(text: str) -> dict[str, tuple[str, str]]:
    """Return type and value of each entry ``NAME:TYPE=VALUE`` of a CMake cache, by name.

    A name with a colon stands in double quotes, a value with blanks at an end in single ones; a line
    without a type has the type UNINITIALIZED. What CMake remembers of other entries
    (``NAME-ADVANCED``) is left out.
    """
    found: dict[str, tuple[str, str]] = {}
    for line in text.split("\n"):
        entry = line.strip(" \t\r")
        if not entry or entry.startswith(("#", "//")):
            continue
        head, colon, rest = entry[1:].partition('":') if entry[0] == '"' else entry.partition(":")
        kind, equals, value = rest.partition("=")
        if "=" in head and entry[0] != '"':
            # As CMake reads a line without a type, whatever it holds further on.
            (head, colon, value), kind = entry.partition("="), "UNINITIALIZED"
        elif not equals or not kind.isalpha() or not kind.isascii():
            continue
        if not colon or not head:
            continue
        if kind == "INTERNAL" and head.endswith(_PROPERTIES):
            continue
        quoted = len(value) > 1 and value[0] == value[-1] == "'"
        found[head] = (kind, value[1:-1] if quoted else value)
    return found
