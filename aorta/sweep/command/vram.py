"""Memory of GPUs in use, as the driver's files tell it without any tool."""

import os

from aorta.sweep.command.catalogue import fired
from aorta.sweep.outcome import Finding

#: A card that keeps this much more than before lost it.
GROWTH_BYTES = 256 << 20
_CARDS = "/sys/class/drm"


class Vram:
    """The cards of this machine. Which there are is looked up once."""

    def __init__(self, cards: str = _CARDS) -> None:
        self._files = _files(cards)

    def __bool__(self) -> bool:
        """Tell whether there is a card."""
        return bool(self._files)

    def used(self) -> dict[str, int]:
        """Return the bytes in use by card; a card that does not tell is left out."""
        found = {}
        for card, path in self._files.items():
            try:
                with open(path, "rb") as file:
                    found[card] = int(file.read(64))
            except (OSError, ValueError):
                continue
        return found


def _files(cards: str) -> dict[str, str]:
    try:
        names = sorted(os.listdir(cards))
    except OSError:
        return {}
    found = {}
    for name in names:
        path = f"{cards}/{name}/device/mem_info_vram_used"
        if name.startswith("card") and name[4:].isdigit() and os.access(path, os.R_OK):
            found[name] = path
    return found


def grown(before: dict[str, int], after: dict[str, int]) -> Finding | None:
    """Return the warning about the card that kept most, if it is that much."""
    growth = {card: after[card] - used for card, used in before.items() if card in after}
    card = max(growth, key=growth.__getitem__, default="")
    if not card or growth[card] < GROWTH_BYTES:
        return None
    text = f"{growth[card] >> 20} MiB more of {card}'s memory are in use than before"
    return fired("tier3:vram_growth", text, card)
