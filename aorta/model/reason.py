"""``Reason``: a typed statement of why something is missing."""

from aorta.model.frozen import frozen
from aorta.model.text import explained
from aorta.model.vocabulary import PARTIAL_KINDS, ReasonKind


@frozen
class Reason:
    """Why ``section.field`` is missing.

    ``field`` is a dotted path below the section, empty for the whole of it. ``subject`` is the
    path, command or variable concerned, ``detail`` a sentence for the reader.
    """

    section: str
    kind: ReasonKind
    field: str = ""
    subject: str | None = None
    detail: str = ""

    @property
    def partial(self) -> bool:
        """Tell whether this makes the snapshot partial."""
        return self.kind in PARTIAL_KINDS

    @property
    def text(self) -> str:
        """Return the line of ``partial_reasons``."""
        where = f"{self.section}.{self.field}" if self.field else self.section
        return f"{where}: {explained(self.kind.value, self.detail, self.subject or '')}"
