"""Whether any installed distribution declares entry points of a group, told without ``importlib.metadata``.

That module costs more to import than all else here together, and most machines have no plugin.
"""

import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def may_declare(group: str) -> bool:
    """Tell whether a distribution on ``sys.path`` may declare entry points of ``group``.

    True when it does, and whenever this look is not enough to say: an archive on the path, a finder of
    distributions that is not the usual one, a file that cannot be read.
    """
    wanted = group.encode()
    others = [finder for finder in sys.meta_path if finder is not PathFinder]
    if any(hasattr(finder, "find_distributions") for finder in others):
        return True
    for entry in dict.fromkeys(sys.path):
        folder = entry or "."
        try:
            if any(wanted in text for text in _declarations(folder)):
                return True
        except (FileNotFoundError, PermissionError):
            continue
        except OSError:
            return True
    return False


def declared(group: str) -> "list[EntryPoint]":
    """Return the entry points of a group in the order of their names.

    Nothing of ``importlib.metadata`` is imported where none is declared. Raises what that raises for
    metadata that it cannot read, which may be any exception.
    """
    if not may_declare(group):
        return []
    from importlib import metadata

    return sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value))


def owner_of(point: "EntryPoint") -> str | None:
    """Return name and version of the distribution that declares an entry point, as far as it says them."""
    try:
        known = (point.dist.name, point.dist.version) if point.dist is not None else ()
    except Exception:
        # Metadata without a version: the plugin itself may be sound.
        return None
    return " ".join(filter(None, known)) or None


def _declarations(folder: str) -> Iterator[bytes]:
    for name in os.listdir(folder):
        if not name.lower().endswith((".dist-info", ".egg-info", ".egg")):
            continue
        inner = "EGG-INFO/entry_points.txt" if name.lower().endswith(".egg") else "entry_points.txt"
        try:
            with open(f"{folder}/{name}/{inner}", "rb") as stream:
                yield stream.read()
        except (FileNotFoundError, NotADirectoryError):
            continue
