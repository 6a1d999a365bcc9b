"""Overlays: what the layers of a cell make of the variables that a trial gets.

Layers lie on the variables of this process, lowest first: the environment's, the mitigations' in their
order, the recipe's ``extra_env``, the cell's.
"""

from collections.abc import Mapping, Sequence

from aorta.model.frozen import frozen
from aorta.sweep.recipe.model import Change


@frozen
class Layer:
    """One layer.

    ``source`` says what it is (``environment local``, ``mitigation xnack``, ``recipe extra_env``, ``cell
    extra_env``), ``owner`` who defines that (``aorta``, ``sidecar:site.json``, ``recipe``).
    """

    source: str
    change: Change
    owner: str = "recipe"


def overlay_of(layers: tuple[Layer, ...], base: Mapping[str, str]) -> dict[str, str | None]:
    """Return the variables that layers change, lowest layer first, as they end: a value, or None for unset.

    ``base`` is what ``prepend`` puts its values in front of; a higher layer's value stands before a lower
    one's. Where there is nothing, or an empty text, no colon is added: an empty member of a search path
    means the working directory.
    """
    overlay: dict[str, str | None] = {}
    for layer in layers:
        change = layer.change
        overlay.update(dict.fromkeys(change.unset))
        overlay.update(change.set)
        for name, value in change.prepend.items():
            present = overlay[name] if name in overlay else base.get(name)
            overlay[name] = f"{value}:{present}" if value and present else value or present or ""
    return overlay


def environ_under(overlay: Mapping[str, str | None], base: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with an overlay on it."""
    whole = {**base, **overlay}
    return {name: value for name, value in whole.items() if value is not None}


def conflicts(layers: Sequence[Layer]) -> list[str]:
    """Return where mitigations undo each other, a sentence for each variable and pair.

    Two that set a variable to different values, and one whose change is lost because a later one sets or
    unsets the variable. A later ``prepend`` loses nothing.
    """
    told: list[str] = []
    for number, later in enumerate(layers):
        for earlier in layers[:number]:
            for name in sorted(_touched(earlier) & {*later.change.set, *later.change.unset}):
                before, after = _deed(earlier, name), _deed(later, name)
                if before == after:
                    continue
                # A value may be a secret.
                how = "sets it to another value" if before[0] == after[0] else f"{after[0]} it"
                told.append(f"{earlier.source} {before[0]} {name}, and {later.source} {how}")
    return told


def _touched(layer: Layer) -> set[str]:
    return {*layer.change.set, *layer.change.unset, *layer.change.prepend}


def _deed(layer: Layer, name: str) -> tuple[str, str | None]:
    """Return what a layer does to a variable, and with which value."""
    change = layer.change
    if name in change.set:
        return "sets", change.set[name]
    if name in change.unset:
        return "unsets", None
    return "puts something in front of", change.prepend[name]
