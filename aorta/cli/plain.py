"""Looking into a plain document without trusting it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aorta.model.text import explained, listed, printable

PARTIAL_KINDS_UNKNOWN = "partial"

#: The most members that are unlike the others in one line.
ODD = 4

#: The most characters of one value that a summary shows.
LIMIT = 300


class Document:
    """A document whose members may be missing, null or of another type."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def get(self, path: str) -> Any:
        """Return the value at a dotted path, None where there is none."""
        value: Any = self._document
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def has(self, path: str) -> bool:
        """Tell whether the member at a dotted path is there, if only as null."""
        folder, _, name = path.rpartition(".")
        parent = self.get(folder) if folder else self._document
        return isinstance(parent, Mapping) and name in parent

    def text(self, path: str) -> str:
        """Return a text or number at a path as text, an empty one where there is none."""
        value = self.get(path)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return ""
        return str(value)

    def members(self, path: str) -> list[Mapping[str, Any]]:
        """Return the objects of a list at a path."""
        value = self.get(path)
        return [member for member in value if isinstance(member, Mapping)] if isinstance(value, list) else []

    def ran(self, section: str) -> bool:
        """Tell whether a section was looked at; in a document without records all were."""
        records = self.get("collection.collectors")
        if not isinstance(records, Mapping):
            return True
        record = records.get(section)
        return isinstance(record, Mapping) and record.get("status") not in (None, "not_requested")

    def records(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the sections with their records."""
        records = self.get("collection.collectors")
        for section, record in records.items() if isinstance(records, Mapping) else ():
            if isinstance(record, Mapping):
                yield section, record

    def reasons(self, section: str, field: str = "") -> list[Mapping[str, Any]]:
        """Return the reasons why a field is null: its own and its parts', else those of what it lies in."""
        all_of_it = [
            reason for reason in self.members("collection.reasons") if reason.get("section") == section
        ]
        found = [reason for reason in all_of_it if str(reason.get("field") or "").startswith(f"{field}.")]
        while field:
            found += [reason for reason in all_of_it if reason.get("field") == field]
            if found:
                return found
            field = field.rpartition(".")[0]
        return [reason for reason in all_of_it if not reason.get("field")]

    def kinds(self, section: str, field: str) -> set[str]:
        """Return the kinds of these reasons."""
        return {str(reason.get("kind")) for reason in self.reasons(section, field)}

    def dead_mounts(self) -> list[str]:
        """Return the mount points that did not answer."""
        return [
            str(reason["subject"])
            for reason in self.members("collection.reasons")
            if reason.get("section") == "collection"
            and reason.get("kind") == "timed_out"
            and reason.get("subject")
        ]

    def partial_reasons(self) -> Iterator[tuple[str, str, str]]:
        """Yield kind, place and text of what makes the document partial; 1.x has the text alone."""
        texts = self.get("partial_reasons")
        lines = [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
        mounts = set(self.dead_mounts())
        kinds = dict(_by_line(self.members("collection.reasons")))
        for line in lines:
            kind, subject = kinds.get(line, (PARTIAL_KINDS_UNKNOWN, None))
            if subject in mounts and line.startswith("collection:"):
                continue
            where, colon, text = line.partition(": ")
            yield (kind, where, text) if colon else (kind, "", line)


def _by_line(reasons: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Yield the line that a reason has in ``partial_reasons``, with its kind and subject."""
    for reason in reasons:
        field, detail, subject = reason.get("field"), reason.get("detail") or "", reason.get("subject")
        where = f"{reason.get('section')}.{field}" if field else str(reason.get("section"))
        kind = str(reason.get("kind"))
        yield f"{where}: {explained(kind, str(detail), str(subject or ''))}", (kind, subject)


def clean(text: str) -> str:
    """Return a text fit for a terminal: no control characters, one line, not too long."""
    shown = printable(text)
    return shown if len(shown) <= LIMIT else f"{shown[:LIMIT]}…"


def odd_ones(found: Sequence[tuple[str, str]]) -> str:
    """Return the version that most have and who has another one; an empty text where all have the same.

    ``found`` are versions, each with its place.
    """
    counts = Counter(version for version, _ in found)
    if len(counts) < 2:
        return ""
    usual, number = counts.most_common(1)[0]
    odd = [f"{version} on {place}" for version, place in found if version != usual]
    return f"{usual} on {number}, {listed(odd, ODD)}"
