"""Names that a recipe may use: detectors and their tiers, and what can be collected."""

from typing import Final

from aorta.sweep.recipe.problems import shown

TIERS: Final = ("tier1", "tier2", "tier3", "tier4", "tier5")
COLLECTORS: Final = ("rocprof", "proton", "numerics", "layer_numerics", "amd_log")
#: The detectors that a recipe defines itself.
CUSTOM: Final = "custom:"


def known_detectors() -> frozenset[str]:
    """Return the names of the built-in detectors, ``tier4:hip_error``."""
    from aorta.sweep.command.catalogue import DETECTORS

    return DETECTORS


def detector_fault(name: str) -> str | None:
    """Return what is wrong with the name of a detector that is to be disabled."""
    known = known_detectors()
    if name in known or (name.startswith(CUSTOM) and len(name) > len(CUSTOM)):
        return None
    return f"{shown(name)!r} is no detector; allowed: {', '.join(sorted(known))}, custom:ID"
