"""``Codec``: snapshot to document and back, strictly.

A document is the JSON object of a snapshot. Dumping checks every value; loading takes nothing but the
declared types (``3`` is no text and ``"gfx942"`` is no list), and keeps what it does not know.
"""

import json
from collections.abc import Mapping
from typing import Any

from aorta.model.document import DocumentError as DocumentError
from aorta.model.document import parse_json as parse_json
from aorta.model.document import version_of as version_of
from aorta.model.dump import Dumper
from aorta.model.load import load
from aorta.model.shape import shape_of
from aorta.model.snapshot import SCHEMA_COMPAT, SCHEMA_VERSION, Collection, Snapshot

ENVELOPE = ("schema_version", "schema_compat", "captured_at")
TAIL = ("partial", "partial_reasons", "collection", "extensions")

#: The most faults that one error names.
SHOWN = 5


def dump(snapshot: Snapshot) -> dict[str, Any]:
    """Return the document of a snapshot: plain JSON values, keys in their order."""
    if snapshot.newer is not None:
        return dict(snapshot.newer)
    dumper = Dumper()
    head = {name: getattr(snapshot, name) for name in ENVELOPE}
    return {
        **head,
        **snapshot.plain,
        "partial": snapshot.partial,
        "partial_reasons": dumper.dump(snapshot.partial_reasons, shape_of(list[str]), "partial_reasons"),
        "collection": dumper.dump(snapshot.collection, shape_of(Collection)),
        "extensions": dict(snapshot.extensions),
    }


def to_json(document: Mapping[str, Any]) -> str:
    """Return a document as strict JSON text with a final newline."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


class Codec:
    """Loads and dumps with the models of a registry: ``models`` maps a section to its declared type."""

    def __init__(self, models: Mapping[str, Any]) -> None:
        self._models = models

    def dump(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the document of a snapshot."""
        return dump(snapshot)

    def load(self, document: Mapping[str, Any]) -> Snapshot:
        """Return the snapshot of a document of this major version, or of 1.x, which is upgraded.

        A section whose model is not known, or that a newer minor version changed, stays plain data.
        Raises DocumentError with every place that is not as declared.
        """
        major, minor = version_of(document)
        ours_major, ours_minor = map(int, SCHEMA_VERSION.split("."))
        if major == 1:
            document = self._upgraded(document, minor)
            major, minor = version_of(document)
        if major != ours_major:
            raise DocumentError(f"schema version {major}.{minor}; this aorta reads 1.x and {ours_major}.x")
        known = {*ENVELOPE, *TAIL}
        plain = {name: value for name, value in document.items() if name not in known}
        extensions = _typed(document.get("extensions", {}), dict[str, Any], "extensions")
        newer = minor > ours_minor
        return Snapshot(
            schema_version=f"{major}.{minor}",
            schema_compat=_typed(document.get("schema_compat", SCHEMA_COMPAT), str, "schema_compat"),
            captured_at=_typed(document.get("captured_at"), str | None, "captured_at"),
            sections=plain if newer else {name: self._section(name, value) for name, value in plain.items()},
            plain=plain,
            extensions=extensions,
            collection=_collection(document.get("collection"), newer=newer),
            newer=document if newer else None,
        )

    def _upgraded(self, document: Mapping[str, Any], minor: int) -> dict[str, Any]:
        from aorta.model.upgrade import upgraded

        try:
            return upgraded(document, (1, minor), self._models)
        except RecursionError:
            raise DocumentError("nested too deeply") from None

    def _section(self, name: str, value: Any) -> Any:
        model = self._models.get(name)
        return value if model is None else _typed(value, model, name)


def _collection(value: Any, *, newer: bool) -> Collection:
    """Return how the snapshot came about; of a newer version only as far as it is understood."""
    if not newer:
        collection: Collection = _typed(value, Collection, "collection")
        return collection
    understood: dict[str, Any] = {}
    for name, _ in shape_of(Collection).fields:
        if isinstance(value, Mapping) and name in value:
            try:
                partly = _typed({name: value[name]}, Collection, "collection")
            except DocumentError:
                continue
            understood[name] = getattr(partly, name)
    return Collection(**understood)


def _typed(value: Any, model: Any, name: str) -> Any:
    try:
        typed, faults = load(value, model, name)
    except RecursionError:
        raise DocumentError(f"{name}: nested too deeply") from None
    if faults:
        more = len(faults) - SHOWN
        raise DocumentError("; ".join(faults[:SHOWN]) + (f"; and {more} more" if more > 0 else ""))
    return typed
