"""Overlays: what the layers of a cell make of the variables that a trial gets."""

from collections.abc import Mapping

from aorta.model.frozen import frozen
from aorta.sweep.recipe.model import Change


@frozen
class Layer:
    """One layer; ``source`` says whose (``environment local``, ``mitigation xnack``, ``extra_env``)."""

    source: str
    change: Change


def overlay_of(layers: tuple[Layer, ...], base: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that layers change, lowest layer first, as they end: a value, or None for unset.

    ``base`` is what ``prepend`` puts its values in front of.
    """
    raise NotImplementedError


def environ_under(overlay: Mapping[str, str | None], base: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with an overlay on it."""
    raise NotImplementedError
