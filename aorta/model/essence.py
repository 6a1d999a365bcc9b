"""What of a document stays when it is embedded or compared: no nulls, and nothing that is volatile."""

from typing import Any

from aorta.model.shape import Shape


def without_nulls(value: Any) -> Any:
    """Return a JSON value whose objects have no members that are null; members of lists stay."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(member) for member in value] if isinstance(value, list) else value


def lasting(value: Any, shape: Shape) -> Any:
    """Return a section's JSON value without what is declared to change by itself, and without nulls."""
    if shape.fact is not None and shape.fact.volatile:
        return None
    if shape.kind == "object" and isinstance(value, dict):
        members = {name: lasting(value.get(name), member) for name, member in shape.fields}
        return {name: member for name, member in members.items() if member is not None}
    if shape.kind == "map" and isinstance(value, dict) and shape.item is not None:
        return {name: lasting(member, shape.item) for name, member in value.items() if member is not None}
    if shape.kind == "list" and isinstance(value, list) and shape.item is not None:
        return [lasting(member, shape.item) for member in value]
    return without_nulls(value)
