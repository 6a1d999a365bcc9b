"""What a reader wants to know of a document first: what is unusual, then an overview.

Works on the plain document alone and never fails for what it finds there, whatever version wrote it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Summary(NamedTuple):
    """``unusual`` are sentences, ``rows`` are labels with their texts."""

    unusual: list[str]
    rows: list[tuple[str, str]]


def summarize(document: Mapping[str, Any]) -> Summary:
    """Return the summary of a document."""
    return Summary([str(reason) for reason in document.get("partial_reasons") or []], [])
