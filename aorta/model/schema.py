"""JSON Schema (2020-12) of the document, made from the declared types.

Every leaf of a section may be null, since null is what stands for a value that was not seen; members
of lists too. Objects require all their keys and allow others: a newer minor version adds keys, and
its documents are to be readable by this schema. ``x-provenance``, ``x-scope``, ``x-detail``,
``x-caveat`` and ``x-volatile`` carry what else is declared of a section or field; each field has the
``x-provenance`` of what it is a part of, where it has none of its own.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from aorta.model.fact import Fact
from aorta.model.sections import ORDER
from aorta.model.shape import Shape, rests_on, shape_of
from aorta.model.snapshot import SCHEMA_VERSION, Collection
from aorta.model.vocabulary import Detail, Provenance, Scope

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


class Section(Protocol):
    """What the schema needs to know of a section; ``CollectorSpec`` is one."""

    @property
    def section(self) -> str:
        """Return the key in the document."""

    @property
    def shape(self) -> Shape:
        """Return the compiled shape of the value."""

    @property
    def provenance(self) -> tuple[Provenance, ...]:
        """Return the classes of evidence."""

    @property
    def scope(self) -> Scope:
        """Return how long the value may be reused."""

    @property
    def detail(self) -> Detail:
        """Return when it is collected."""

    @property
    def summary(self) -> str:
        """Return what it is, in a line."""


class Sections(Protocol):
    """What the schema needs to know of a registry."""

    @property
    def collectors(self) -> Mapping[str, Any]:
        """Return the sections by name."""


#: What is said of a section that no collector makes.
_UNBUILT = {"description": "No collector in this version."}


def document_schema(registry: Sections) -> dict[str, Any]:
    """Return the schema of the whole document for the collectors of a registry."""
    known = registry.collectors
    names = dict.fromkeys([*ORDER, *(name for name in known if "." not in name)])
    sections = {name: section_schema(known[name]) if name in known else dict(_UNBUILT) for name in names}
    properties = {
        "schema_version": {
            "type": "string",
            "pattern": rf"^{SCHEMA_VERSION.partition('.')[0]}\.[0-9]+$",
            "description": "Version of the document's form. A newer minor version only adds.",
        },
        "schema_compat": {
            "type": "string",
            "description": "The 1.x version whose keys and shapes all stand in the document.",
        },
        "captured_at": {
            "type": ["string", "null"],
            "format": "date-time",
            "description": "When the snapshot was taken, UTC.",
        },
        **sections,
        "partial": {
            "type": "boolean",
            "description": "Whether something that should have been seen was not.",
        },
        "partial_reasons": {
            "type": "array",
            "items": {"type": "string"},
            "description": "One line for each reason that makes the snapshot partial.",
        },
        "collection": _node(shape_of(Collection), (), leaf_null=False),
        "extensions": _extensions(spec for name, spec in known.items() if "." in name),
    }
    return {
        "$schema": DIALECT,
        "title": f"aorta snapshot {SCHEMA_VERSION}",
        "description": "What a process ran on, as it was seen. Null stands for what was not seen.",
        **_object(properties),
    }


def section_schema(spec: Section) -> dict[str, Any]:
    """Return the schema of one section's value, with what is declared of it."""
    kinds = rests_on(spec.shape, spec.provenance)
    return {
        **_node(spec.shape, kinds),
        "description": spec.summary,
        "x-provenance": [kind.value for kind in kinds],
        "x-scope": spec.scope.value,
        "x-detail": spec.detail.value,
    }


def _extensions(outside: Iterable[Section]) -> dict[str, Any]:
    form = _object({"schema": {"type": "string"}, "data": {}})
    known = {
        spec.section: _object({"schema": {"const": f"{spec.section}/1"}, "data": section_schema(spec)})
        for spec in outside
    }
    return {
        "type": "object",
        "description": "Sections of plugins that are not part of aorta, by vendor.name.",
        "properties": known,
        "required": list(known),
        "additionalProperties": form,
    }


Kinds = tuple[Provenance, ...]


def _node(shape: Shape, above: Kinds, *, leaf_null: bool = True) -> dict[str, Any]:
    """Return the schema of a part of what rests on ``above``; with ``leaf_null`` every leaf may be null."""
    null, kinds = shape.nullable or leaf_null, rests_on(shape, above)
    return {**_plain(shape, kinds, null=null, leaf_null=leaf_null), **_told(shape.fact, kinds)}


def _plain(shape: Shape, kinds: Kinds, *, null: bool, leaf_null: bool) -> dict[str, Any]:
    if shape.kind == "scalar" and shape.cls is not None:
        return {"type": _or_null(_TYPES[shape.cls], null=null)}
    if shape.kind == "enum":
        return {"enum": [*shape.values, *([None] if null else [])]}
    if shape.kind == "list" and shape.item is not None:
        return {"type": _or_null("array", null=null), "items": _node(shape.item, kinds, leaf_null=leaf_null)}
    if shape.kind == "map" and shape.item is not None:
        return _map(shape, _node(shape.item, kinds, leaf_null=leaf_null), null=null)
    if shape.kind == "object":
        members = {name: _node(member, kinds, leaf_null=leaf_null) for name, member in shape.fields}
        doc = (shape.cls.__doc__ or "").strip().partition("\n")[0] if shape.cls is not None else ""
        return {**({"description": doc} if doc else {}), **_object(members, null=shape.nullable)}
    return {}


def _map(shape: Shape, member: Mapping[str, Any], *, null: bool) -> dict[str, Any]:
    keys = shape.fact.keys if shape.fact is not None else ()
    if not keys:
        return {"type": _or_null("object", null=null), "additionalProperties": member}
    return {
        "type": _or_null("object", null=shape.nullable),
        "properties": dict.fromkeys(keys, member),
        "required": list(keys),
        "additionalProperties": member,
    }


def _object(members: Mapping[str, Any], *, null: bool = False) -> dict[str, Any]:
    return {
        "type": _or_null("object", null=null),
        "properties": dict(members),
        "required": list(members),
        "additionalProperties": True,
    }


def _or_null(word: str, *, null: bool) -> str | list[str]:
    return [word, "null"] if null else word


def _told(fact: Fact | None, kinds: Kinds) -> dict[str, Any]:
    if fact is None:
        return {}
    told: dict[str, Any] = {"description": fact.doc}
    if fact.caveat:
        told["x-caveat"] = fact.caveat
    if kinds:
        told["x-provenance"] = [kind.value for kind in kinds]
    if fact.detail is Detail.FULL:
        told["x-detail"] = fact.detail.value
    if fact.volatile:
        told["x-volatile"] = True
    return told
