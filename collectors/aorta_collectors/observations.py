"""What the interpreter says of itself, with its form checked: a recording may hold anything."""

from typing import Any

from aorta.collect import Answer, Context
from aorta.model.vocabulary import ReasonKind


def mapping(ctx: Context, key: str) -> Answer[dict[str, Any]]:
    """Return an observation that is a mapping: ``unsupported`` where nothing is told, else ``unparsed``."""
    answer = ctx.observe(key)
    if answer.kind is not None or isinstance(answer.value, dict):
        return answer
    if answer.value is None:
        return Answer(kind=ReasonKind.UNSUPPORTED, subject=key, detail=f"{key}: not told")
    text = f"{key}: no mapping but {type(answer.value).__name__}"
    return Answer(kind=ReasonKind.UNPARSED, subject=key, detail=text)


def text(answer: Answer[dict[str, Any]], name: str) -> str | None:
    """Return a text of a mapping; None where it is missing, empty or no text."""
    value = (answer.value or {}).get(name)
    return value if isinstance(value, str) and value else None


def machine(ctx: Context) -> str:
    """Return uname's machine, x86_64 where it is not told: the name in directories of libraries."""
    return text(mapping(ctx, "uname"), "machine") or "x86_64"
