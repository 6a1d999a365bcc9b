"""Small documents to be compared, and what a comparison of them finds."""

import functools

from aorta.cli.declared import knowledge
from aorta.compare import compare
from aorta.plugin.discovery import discover


@functools.cache
def known():
    return knowledge(discover(outside=False))


def document(*reasons, status=None, version="2.0", upgraded_from=None, **sections):
    """Return a document with these sections, all of them looked at.

    A reason is ``(section, field, kind)``; ``status`` maps sections to another status than ok.
    """
    records = {name: {"status": (status or {}).get(name, "ok")} for name in sections}
    return {
        "schema_version": version,
        "captured_at": "2026-01-01T00:00:00Z",
        **sections,
        "collection": {
            "collectors": {} if upgraded_from else records,
            "upgraded_from": upgraded_from,
            "reasons": [
                {"section": section, "field": field, "kind": kind, "subject": None, "detail": "why"}
                for section, field, kind in reasons
            ],
        },
        "extensions": {},
    }


class Found:
    """What was found: by kind the paths, and rows by their path."""

    def __init__(self, a, b, sections=None):
        self.comparison = compare(a, b, known(), sections)
        rows = (
            *self.comparison.differences,
            *self.comparison.informational,
            *self.comparison.unknown,
        )
        self.rows = {row.path: row for row in rows}
        self.differences = [row.path for row in self.comparison.differences]
        self.informational = [row.path for row in self.comparison.informational]
        self.unknown = [row.path for row in self.comparison.unknown]

        assert all(len(paths) == len(set(paths)) for paths in self.kinds)

    @property
    def kinds(self):
        return self.differences, self.informational, self.unknown
