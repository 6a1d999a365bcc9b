"""How a process of its own may fail a collector."""

from aorta.model.vocabulary import ReasonKind

#: Seconds that a process may take to start and import, beside what its collector may take.
START_S = 5.0


class LostError(Exception):
    """The process gave no value; ``kind`` and ``place`` (file:line) say why and where."""

    def __init__(self, kind: ReasonKind, text: str, place: str | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.place = place


class NotApartError(Exception):
    """No process of its own can be had; nothing of the plugin's code ran."""
