"""Why a document says that a value is not known: its own words, quoted."""

from typing import Any

from aorta.model.text import explained
from aorta.validate.document import Document
from aorta.validate.value import plain

#: The most characters of a reason that are repeated.
REASON = 300


def why(document: Document, section: str, field: str = "") -> str:
    """Return the document's reason for a field, else for its section; an empty text where it has none.

    Documents of 1.x, and extracts, have the lines of ``partial_reasons`` alone.
    """
    rows = [row for row in document.listed("collection", "reasons") if isinstance(row, dict)]
    for name in (field, "") if field else ("",):
        for row in rows:
            if row.get("section") == section and (row.get("field") or "") == name:
                return _words(row)
    record = document.at("collection", "collectors", section, "status")
    if isinstance(record, str) and record not in ("ok", "partial", "reused"):
        return f"the section was not collected: {plain(record, 40)}"
    start = f"{section}.{field}: " if field else f"{section}: "
    for line in document.listed("partial_reasons"):
        if isinstance(line, str) and line.startswith(start):
            return _line(line[len(start) :])
    return ""


def kind_of(document: Document, section: str, field: str) -> str:
    """Return the kind of a field's reason, such as ``absent``; an empty text where it has none."""
    for row in document.listed("collection", "reasons"):
        if isinstance(row, dict) and row.get("section") == section and row.get("field") == field:
            kind = row.get("kind")
            return kind if isinstance(kind, str) else ""
    return ""


def quoted(text: str, reason: str) -> str:
    """Return a text with the reason behind it, where there is one."""
    return f"{text}: {reason}" if reason else text


def reasons_of(document: Document, told: tuple[str, ...]) -> tuple[list[str], bool]:
    """Return the lines of ``partial_reasons`` but for those of fields already told; whether some are so."""
    lines = [line for line in document.listed("partial_reasons") if isinstance(line, str)]
    rest = [line for line in lines if line.partition(": ")[0] not in told]
    return [_line(line) for line in rest], len(rest) < len(lines)


def _words(row: dict[str, Any]) -> str:
    detail, subject, kind = (
        value if isinstance(value := row.get(name), str) else "" for name in ("detail", "subject", "kind")
    )
    return _line(explained(kind, detail, subject))


def _line(text: str) -> str:
    return plain(" ".join(text.split()), REASON)
