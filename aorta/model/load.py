"""From a JSON value to a typed value, strictly: the mirror of ``dump``.

Nothing is coerced: ``3`` is no text, ``"gfx942"`` is no list and a text is no object. Keys that are
not declared are passed over (the document keeps them); declared ones that are missing are faults only
where there is no default. Every fault names its place.
"""

from typing import Any

import attrs

from aorta.model.shape import Shape


class Loader:
    """Turns JSON values of a declared shape into typed values; ``faults`` collects what did not fit."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def load(self, value: Any, shape: Shape, path: str) -> Any:
        """Return the typed value; None and a fault where the value is not as declared."""
        if value is None:
            return None if shape.nullable else self._wrong(value, shape, path)
        return getattr(self, f"_{shape.kind}")(value, shape, path)

    def _wrong(self, value: Any, shape: Shape, path: str) -> None:
        self.faults.append(f"{path}: expected {_wanted(shape)}, got {_JSON.get(type(value), '?')}")

    def _scalar(self, value: Any, shape: Shape, path: str) -> Any:
        if type(value) is shape.cls:
            return value
        if shape.cls is float and type(value) is int:
            return float(value)
        return self._wrong(value, shape, path)

    def _enum(self, value: Any, shape: Shape, path: str) -> Any:
        if not isinstance(value, str) or value not in shape.values:
            shown = repr(value)[:60]
            self.faults.append(f"{path}: {shown} is none of {', '.join(shape.values)}")
            return None
        return shape.cls(value) if shape.cls is not None else value

    def _list(self, value: Any, shape: Shape, path: str) -> Any:
        if not isinstance(value, list) or shape.item is None:
            return self._wrong(value, shape, path)
        item = shape.item
        return tuple(self._member(member, item, f"{path}[{n}]") for n, member in enumerate(value))

    def _map(self, value: Any, shape: Shape, path: str) -> Any:
        if not isinstance(value, dict) or shape.item is None:
            return self._wrong(value, shape, path)
        item = shape.item
        return {key: self._member(member, item, f"{path}.{key}") for key, member in value.items()}

    def _member(self, value: Any, item: Shape, path: str) -> Any:
        """Load a member of a list or mapping; one that could not be written stands there as null."""
        return None if value is None else self.load(value, item, path)

    def _object(self, value: Any, shape: Shape, path: str) -> Any:
        if not isinstance(value, dict) or shape.cls is None:
            return self._wrong(value, shape, path)
        before = len(self.faults)
        known = {name: value[name] for name, _ in shape.fields if name in value}
        given = {
            name: self.load(known[name], member, f"{path}.{name}")
            for name, member in shape.fields
            if name in known
        }
        for field in attrs.fields(shape.cls):
            if field.default is attrs.NOTHING and field.name not in given:
                self.faults.append(f"{path}.{field.name} is missing")
        return shape.cls(**given) if len(self.faults) == before else None

    def _any(self, value: Any, shape: Shape, path: str) -> Any:  # noqa: ARG002 - one of the kinds
        return value


_JSON = {
    type(None): "null",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}


def _wanted(shape: Shape) -> str:
    if shape.kind == "scalar" and shape.cls is not None:
        return _JSON[shape.cls]
    return {"list": "a list", "map": "an object", "object": "an object"}.get(shape.kind, "one word")
