"""JSON Schema (2020-12) of recipes, for editors: made from the model, the checks and the table of keys.

What values must be to each other (``rules``) no schema can say, so what it accepts may still be refused.
"""

import types
import typing
from collections.abc import Mapping
from typing import Any, Final

import attrs

from aorta.sweep.recipe import keys
from aorta.sweep.recipe.checks import checks_of
from aorta.sweep.recipe.described import DESCRIPTIONS
from aorta.sweep.recipe.detectors import COLLECTORS
from aorta.sweep.recipe.model import COMMAND, PROBE, SCHEMA_VERSION, TRIAGE, Change, Recipe
from aorta.sweep.recipe.structure import fields_of
from aorta.sweep.recipe.values import VARIABLE

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TYPES: Final = {bool: "boolean", int: "integer", float: "number", str: "string"}


def recipe_schema() -> dict[str, Any]:
    """Return the schema of a recipe."""
    definitions: dict[str, Any] = {}
    properties = {
        name: {"description": DESCRIPTIONS[name], **_member(Recipe, name, kind, default, definitions)}
        for name, kind, default in fields_of(Recipe)
        if name in keys.KEYS
    }
    return {
        "$schema": DIALECT,
        "title": f"aorta sweep recipe {SCHEMA_VERSION}",
        "description": "What `aorta sweep run --recipe` runs.",
        "type": "object",
        "properties": properties,
        "required": [name for name in keys.REQUIRED[PROBE] if name in keys.REQUIRED[TRIAGE]],
        "additionalProperties": False,
        "if": {"properties": {"mode": {"const": PROBE}}, "required": ["mode"]},
        "then": _of_mode(PROBE, COMMAND),
        "else": {
            "if": {"properties": {"workload": {"const": COMMAND}}, "required": ["workload"]},
            "then": _of_mode(TRIAGE, COMMAND),
            "else": _of_mode(TRIAGE, ""),
        },
        "$defs": definitions,
    }


def _of_mode(mode: str, workload: str) -> dict[str, Any]:
    may = keys.allowed(mode, workload)
    return {
        "required": list(keys.required(mode, workload)),
        "properties": {name: False for name in keys.KEYS if name not in may},
    }


def _member(
    cls: type[Any], name: str, kind: Any, default: Any, definitions: dict[str, Any]
) -> dict[str, Any]:
    if name == "collect":
        return _collect()
    made = _type(kind, definitions)
    for check in checks_of(cls, name):
        made = _merged(made, check.schema)
    if (
        default is not attrs.NOTHING
        and getattr(default, "factory", None) is None
        and default not in (None, ())
    ):
        made["default"] = default
    return made


def _type(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if kind in _TYPES:
        return {"type": _TYPES[kind]}
    if origin in (typing.Union, types.UnionType):
        return _union([each for each in inner if each is not type(None)], type(None) in inner, definitions)
    if origin is tuple:
        return {"type": "array", "items": _type(inner[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type(inner[1], definitions)}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}
        definitions[kind.__name__] = _object(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _union(members: list[Any], null: bool, definitions: dict[str, Any]) -> dict[str, Any]:
    made = [_type(each, definitions) for each in members]
    if len(made) == 1 and "type" in made[0]:
        return {**made[0], "type": [made[0]["type"], "null"]}
    return {"anyOf": [*made, *([{"type": "null"}] if null else [])]}


def _object(cls: type[Any], definitions: dict[str, Any]) -> dict[str, Any]:
    doc = (cls.__doc__ or "").strip().partition("\n")[0]
    made = {
        "type": "object",
        "properties": {
            name: _member(cls, name, kind, default, definitions) for name, kind, default in fields_of(cls)
        },
        "required": [name for name, _, default in fields_of(cls) if default is attrs.NOTHING],
        "additionalProperties": False,
    }
    if cls is Change:
        short = {
            "type": "object",
            "propertyNames": {"pattern": VARIABLE},
            "additionalProperties": {"type": "string"},
        }
        return {"description": doc, "anyOf": [short, made]}
    return {"description": doc, **made}


def _collect() -> dict[str, Any]:
    names = {"enum": list(COLLECTORS)}
    options = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}
    return {
        "anyOf": [
            {"type": "array", "items": names, "uniqueItems": True},
            {"type": "object", "propertyNames": names, "additionalProperties": options},
        ]
    }


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return two schemas as one; words that null may stand for have it among them."""
    made = dict(first)
    for key, value in second.items():
        own = made.get(key)
        made[key] = _merged(own, value) if isinstance(own, dict) and isinstance(value, dict) else value
    kinds = made.get("type")
    if "enum" in second and isinstance(kinds, list) and None not in made["enum"]:
        made["enum"] = [*made["enum"], None]
    return made
