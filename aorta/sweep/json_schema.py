"""Parts of the JSON Schemas of sweeps, and a check against them that needs nothing installed."""

from collections.abc import Mapping, Sequence
from typing import Any

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: The largest number that every reader of JSON has.
_MOST = 1.7976931348623157e308

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**63}
INTEGER: Schema = {"type": "integer", "minimum": -(2**63), "maximum": 2**63}
NUMBER: Schema = {"type": "number", "minimum": -_MOST, "maximum": _MOST}
RATE: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def or_null(schema: Schema) -> Schema:
    """Return a schema that allows null too."""
    kinds = {**schema, "type": [schema["type"], "null"]}
    return {**kinds, "enum": [*kinds["enum"], None]} if "enum" in kinds else kinds


def one_of(words: Sequence[str]) -> Schema:
    """Return the schema of one of some words."""
    return {"type": "string", "enum": list(words)}


def list_of(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def by_name(schema: Schema) -> Schema:
    """Return the schema of an object whose members are all alike."""
    return {"type": "object", "additionalProperties": schema}


def object_of(optional: Sequence[str] = (), /, **members: Schema) -> Schema:
    """Return the schema of an object; a minor change may add members, so others are allowed."""
    required = [name for name in members if name not in optional]
    return {"type": "object", "properties": members, "required": required}


_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def complaint(value: Any, schema: Mapping[str, Any], place: str = "") -> str | None:
    """Return what is wrong with a document first, with its place; null for a sound one.

    It knows what the schemas of sweeps use of JSON Schema, no more.
    """
    where = place or "the document"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(isinstance(value, _KINDS[kind]) and _is_no_flag(value, kind) for kind in kinds):
        return f"{where} is no {' or '.join(kinds)}"
    if value is None:
        return None
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get(
        "maximum", value
    ):
        return f"{where} is out of range"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return f"{where} has {len(value)} members"
        members = [(f"{place}[{index}]", member, schema["items"]) for index, member in enumerate(value)]
    elif isinstance(value, dict):
        known = schema.get("properties", {})
        missing = next((name for name in schema.get("required", ()) if name not in value), None)
        if missing is not None:
            return f"{where} has no {missing}"
        others = schema.get("additionalProperties")
        members = [
            (f"{place}.{name}".lstrip("."), member, known.get(name, others)) for name, member in value.items()
        ]
    else:
        return None
    found = (complaint(member, part, path) for path, member, part in members if part is not None)
    return next((text for text in found if text), None)


def _is_no_flag(value: Any, kind: str) -> bool:
    return kind == "boolean" or not isinstance(value, bool)
