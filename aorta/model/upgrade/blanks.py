"""The null shapes of the sections: what stands where an old document holds nothing."""

from collections.abc import Mapping
from typing import Any

from aorta.model.sections import ORDER
from aorta.model.shape import Shape, empty, shape_of
from aorta.model.upgrade.keys import NULLABLE


def blanks_of(models: Mapping[str, Any]) -> dict[str, Any]:
    """Return the null shape of every section of this version.

    An object holds its keys, and ``NULLABLE`` if it may be null as a whole; ``[shape]`` is that of the
    members of a list.
    """
    known = {name: _blank(shape_of(model)) for name, model in models.items()}
    return {name: known.get(name) for name in ORDER}


def nothing(blank: Any) -> Any:
    """Return what stands in the document for a null shape."""
    if not isinstance(blank, Mapping) or NULLABLE in blank:
        return None
    return {name: nothing(member) for name, member in blank.items()}


def _blank(shape: Shape) -> Any:
    if shape.kind == "object":
        marked = {NULLABLE: None} if shape.nullable else {}
        return {**marked, **{name: _blank(member) for name, member in shape.fields}}
    if shape.kind == "list" and shape.item is not None and shape.item.kind == "object":
        return [_blank(shape.item)]
    return empty(shape) if shape.kind == "map" else None
