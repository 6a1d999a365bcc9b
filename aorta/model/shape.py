"""The shape of a declared type: one compiled tree that dumping, failure shapes and the schema walk.

A declared type is a scalar, an enum, a list, a string-keyed mapping, an attrs class whose fields are
``Annotated[TYPE | None, Fact(...)]``, or ``Any`` (a JSON value).
"""

import enum
import functools
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aorta.model.fact import Fact
from aorta.model.frozen import frozen, members_of
from aorta.model.vocabulary import Provenance

SCALARS = (bool, int, float, str)


@frozen
class Shape:
    """One node: ``kind`` is scalar, enum, list, map, object or any.

    ``cls`` is the scalar, enum or attrs class; ``item`` the shape of members of a list or map;
    ``fields`` the named members of an object; ``values`` the words of an enum or Literal.
    """

    kind: str
    cls: type[Any] | None = None
    nullable: bool = False
    fact: Fact | None = None
    item: "Shape | None" = None
    fields: tuple[tuple[str, "Shape"], ...] = ()
    values: tuple[str, ...] = ()


class FieldError(TypeError):
    """A field's type that the document cannot hold; the text names the field."""


@functools.cache
def shape_of(declared: Any) -> Shape:
    """Compile a declared type. Raises TypeError for a type that the document cannot hold."""
    return _compile(declared, fact=None, nullable=False)


def _compile(declared: Any, *, fact: Fact | None, nullable: bool) -> Shape:
    origin = typing.get_origin(declared)
    if origin is typing.Annotated:
        inner, *extras = typing.get_args(declared)
        facts = [extra for extra in extras if isinstance(extra, Fact)]
        return _compile(inner, fact=facts[0] if facts else fact, nullable=nullable)
    if origin in (typing.Union, types.UnionType):
        members = [member for member in typing.get_args(declared) if member is not type(None)]
        if len(members) == 1:
            return _compile(members[0], fact=fact, nullable=True)
        if set(members) <= set(SCALARS):
            return Shape(kind="any", nullable=True, fact=fact)
        raise TypeError(f"{declared} is a union of more than scalars")
    if origin is typing.Literal:
        words = typing.get_args(declared)
        if not all(isinstance(word, str) for word in words):
            raise TypeError(f"{declared}: the words of a Literal are str")
        return Shape(kind="enum", values=words, fact=fact, nullable=nullable)
    if origin in (list, tuple, Sequence):
        item, *others = typing.get_args(declared) or (None,)
        if origin is tuple and others != [...]:
            raise TypeError(f"{declared}: write tuple[TYPE, ...], any number of one type")
        return Shape(kind="list", item=shape_of(item), fact=fact, nullable=nullable)
    if origin in (dict, Mapping):
        key, value = typing.get_args(declared)
        if key is not str:
            raise TypeError(f"{declared}: the keys of a mapping are str")
        return Shape(kind="map", item=shape_of(value), fact=fact, nullable=nullable)
    return _plain(declared, fact=fact, nullable=nullable)


def _plain(declared: Any, *, fact: Fact | None, nullable: bool) -> Shape:
    if declared is Any or declared is object:
        return Shape(kind="any", fact=fact, nullable=True)
    if declared in SCALARS:
        return Shape(kind="scalar", cls=declared, fact=fact, nullable=nullable)
    if isinstance(declared, type) and issubclass(declared, enum.Enum):
        words = tuple(str(member.value) for member in declared)
        return Shape(kind="enum", cls=declared, values=words, fact=fact, nullable=nullable)
    if isinstance(declared, type) and (fields := members_of(declared)) is not None:
        members = tuple((name, _field(declared, name, hint)) for name, hint, _ in fields)
        return Shape(kind="object", cls=declared, fields=members, fact=fact, nullable=nullable)
    raise TypeError(f"{declared!r} is not a type the document can hold")


def _field(owner: type[Any], name: str, hint: Any) -> Shape:
    try:
        if isinstance(hint, str):
            hint = typing.get_type_hints(owner, include_extras=True)[name]
        return shape_of(hint)
    except FieldError:
        raise
    except RecursionError:
        raise FieldError(f"{owner.__name__} holds itself") from None
    except (TypeError, NameError) as error:
        raise FieldError(f"{owner.__name__}.{name}: {error}") from None


def rests_on(shape: Shape, above: tuple[Provenance, ...]) -> tuple[Provenance, ...]:
    """Return the evidence of a value: what is declared of it, else that of what it is a part of."""
    return (shape.fact.provenance if shape.fact is not None else ()) or above


def empty(shape: Shape) -> Any:
    """Return the failure shape: every key is there, nested objects are kept, every leaf is null."""
    if shape.kind == "object":
        return {name: empty(member) for name, member in shape.fields}
    if shape.kind == "map" and shape.fact is not None and shape.fact.keys:
        return {key: empty(shape.item) if shape.item is not None else None for key in shape.fact.keys}
    return None


def nothing(shape: Shape) -> Any:
    """Return the typed value that dumps to the failure shape."""
    if shape.kind == "object" and shape.cls is not None:
        return shape.cls()
    return empty(shape)


def fields_of(declared: Any) -> Iterator[tuple[str, Shape]]:
    """Walk a declared type: every field below it with its dotted path, lists as ``[]``."""
    yield from _walk("", shape_of(declared))


def _walk(path: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    for name, member in shape.fields:
        below = f"{path}.{name}" if path else name
        yield below, member
        yield from _walk(below, member)
    if shape.item is not None:
        yield from _walk(f"{path}[]", shape.item)
