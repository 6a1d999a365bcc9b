"""Names that a recipe may use: detectors, and what can be collected."""

from typing import Final

from aorta.sweep.command.catalogue import DETECTORS
from aorta.sweep.recipe.problems import shown

COLLECTORS: Final = ("rocprof", "proton", "numerics", "layer_numerics", "amd_log")
#: The detectors that a recipe defines itself.
CUSTOM: Final = "custom:"


def detector_fault(name: str) -> str | None:
    """Return what is wrong with the name of a detector that is to be disabled."""
    if name in DETECTORS or (name.startswith(CUSTOM) and len(name) > len(CUSTOM)):
        return None
    return f"{shown(name)!r} is no detector; allowed: {', '.join(sorted(DETECTORS))}, custom:ID"
