"""Collectors of outside plugins, run in a process of their own.

Whatever native code, a plugin's own mistakes or its daemons do there, this process goes on: the child
holds the plugin's code alone, and asks this one every question of its ``Context`` over a socket.
"""

from aorta.collect.apart.parent import (
    START_S,
    LostError,
    NotApartError,
    evaluate_apart,
    is_importable,
    may_run_apart,
    run_apart,
)

__all__ = [
    "START_S",
    "LostError",
    "NotApartError",
    "evaluate_apart",
    "is_importable",
    "may_run_apart",
    "run_apart",
]
