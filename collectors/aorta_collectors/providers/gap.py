"""``Gap``: a provider's own reason for what it could not see, for its users to note against their fields."""

from typing import Any

from aorta.collect import Answer, Context
from aorta.model.frozen import frozen
from aorta.model.vocabulary import ReasonKind


@frozen
class Gap:
    """Why something could not be told; ``subject`` is the path, link or variable concerned."""

    kind: ReasonKind
    subject: str
    detail: str

    @classmethod
    def of(cls, answer: Answer[Any], subject: str) -> "Gap":
        """Return the gap that a failed answer leaves."""
        return cls(
            kind=answer.kind or ReasonKind.FAILED,
            subject=answer.subject or subject,
            detail=answer.detail or f"{subject}: no answer",
        )

    def note(self, ctx: Context, field: str) -> None:
        """Note it against a field."""
        ctx.note(self.kind, field, self.detail, subject=self.subject)
