"""``Codec``: snapshot to document and back, strictly.

A document is the JSON object of a snapshot. Dumping checks every value; loading takes nothing but the
declared types (``3`` is no text and ``"gfx942"`` is no list), and keeps what it does not know.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aorta.model.dump import Dumper
from aorta.model.shape import SCALARS, shape_of
from aorta.model.snapshot import SCHEMA_COMPAT, SCHEMA_VERSION, Collection, Snapshot

if TYPE_CHECKING:
    import cattrs

ENVELOPE = ("schema_version", "schema_compat", "captured_at")
TAIL = ("partial", "partial_reasons", "collection", "extensions")

#: The most faults that one error names.
SHOWN = 5


class DocumentError(ValueError):
    """A document that cannot be read; the text says where it is wrong."""


def dump(snapshot: Snapshot) -> dict[str, Any]:
    """Return the document of a snapshot: plain JSON values, keys in their order."""
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


def parse_json(text: str) -> dict[str, Any]:
    """Return the JSON object of a text. Raises DocumentError for anything else, NaN included."""
    try:
        document = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise DocumentError(f"a JSON {type(document).__name__}, not an object")
    return document


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not strict JSON")


def version_of(document: Mapping[str, Any]) -> tuple[int, int]:
    """Return the schema version as two numbers. Raises DocumentError where there is none."""
    text = document.get("schema_version")
    parts = text.split(".") if isinstance(text, str) else []
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):
        raise DocumentError(f"schema_version is {text!r}: not a snapshot of aorta")
    return int(parts[0]), int(parts[1])


class Codec:
    """Loads and dumps with the models of a registry: ``models`` maps a section to its declared type."""

    def __init__(self, models: Mapping[str, Any]) -> None:
        self._models = models

    def dump(self, snapshot: Snapshot) -> dict[str, Any]:
        """Return the document of a snapshot."""
        return dump(snapshot)

    def load(self, document: Mapping[str, Any]) -> Snapshot:
        """Return the snapshot of a document of this major version.

        A section whose model is not known, or that a newer minor version changed, stays plain data.
        Raises DocumentError with every place that is not as declared.
        """
        major, minor = version_of(document)
        ours_major, ours_minor = map(int, SCHEMA_VERSION.split("."))
        if major != ours_major:
            raise DocumentError(f"schema version {major}.{minor}; this aorta reads {ours_major}.x")
        converter = strict_converter()
        known = {*ENVELOPE, *TAIL}
        plain = {name: value for name, value in document.items() if name not in known}
        newer = minor > ours_minor
        sections = {
            name: value if newer else self._typed(converter, name, value) for name, value in plain.items()
        }
        return Snapshot(
            schema_version=f"{major}.{minor}",
            schema_compat=str(document.get("schema_compat", SCHEMA_COMPAT)),
            captured_at=document.get("captured_at"),
            sections=sections,
            plain=plain,
            extensions=document.get("extensions", {}),
            collection=_structure(converter, document.get("collection"), Collection, "collection"),
        )

    def _typed(self, converter: "cattrs.Converter", name: str, value: Any) -> Any:
        model = self._models.get(name)
        return value if model is None else _structure(converter, value, model, name)


def _structure(converter: "cattrs.Converter", value: Any, model: Any, name: str) -> Any:
    import cattrs

    try:
        return converter.structure(value, model)
    except cattrs.BaseValidationError as error:
        places = cattrs.transform_error(error, path=name)
        more = f"; and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
        raise DocumentError("; ".join(places[:SHOWN]) + more) from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DocumentError(f"{name}: {error}") from error


def strict_converter() -> "cattrs.Converter":
    """Return a converter that coerces nothing: cattrs alone would turn 3 into "3"."""
    import cattrs

    converter = cattrs.Converter()
    converter.register_structure_hook_func(lambda kind: kind in SCALARS, _scalar)
    converter.register_structure_hook_factory(_is_sequence, lambda kind: _sequence(converter, kind))
    return converter


def _scalar(value: Any, wanted: type[Any]) -> Any:
    if type(value) is wanted or (wanted is float and type(value) is int):
        return wanted(value)
    raise TypeError(f"expected {wanted.__name__}, got {type(value).__name__}")


def _is_sequence(kind: Any) -> bool:
    return getattr(kind, "__origin__", kind) in (list, tuple)


def _sequence(converter: "cattrs.Converter", kind: Any) -> Any:
    item = kind.__args__[0] if getattr(kind, "__args__", ()) else Any
    make = getattr(kind, "__origin__", kind)

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, got {type(value).__name__}")
        return make(converter.structure(member, item) for member in value)

    return structure
