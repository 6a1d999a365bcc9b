"""Declared types compile to shapes, or say what the document cannot hold."""

import enum
from typing import Annotated, Any, Literal

import attrs
import pytest

from aorta.model.fact import Fact
from aorta.model.shape import empty, fields_of, nothing, shape_of


class Colour(str, enum.Enum):
    RED = "red"


@attrs.frozen(kw_only=True)
class Inner:
    """A part."""

    size: Annotated[int | None, Fact("Bytes.")] = None


@attrs.frozen(kw_only=True)
class Outer:
    """A whole."""

    inner: Annotated[Inner, Fact("The part.")] = attrs.field(factory=Inner)
    colour: Annotated[Colour | None, Fact("A colour.")] = None
    word: Annotated[Literal["a", "b"] | None, Fact("A word.")] = None
    names: Annotated[tuple[str, ...] | None, Fact("Names.")] = None
    parts: Annotated[tuple[Inner, ...] | None, Fact("Parts.")] = None
    by_name: Annotated[dict[str, Inner] | None, Fact("Parts by name.", keys=("x", "y"))] = None
    mixed: Annotated[int | str | None, Fact("A number or text.")] = None
    anything: Annotated[Any, Fact("JSON.")] = None


def test_each_kind():
    kinds = {name: shape.kind for name, shape in shape_of(Outer).fields}
    assert kinds == {
        "inner": "object",
        "colour": "enum",
        "word": "enum",
        "names": "list",
        "parts": "list",
        "by_name": "map",
        "mixed": "any",
        "anything": "any",
    }


def test_facts_are_found_inside_and_outside_of_optional():
    fact = Fact("Text.")
    assert shape_of(Annotated[str | None, fact]).fact is fact
    assert shape_of(Annotated[str, fact] | None).fact is fact
    assert shape_of(Annotated[str, fact] | None).nullable


def test_the_failure_shape_keeps_objects_and_named_keys():
    assert empty(shape_of(Outer)) == {
        "inner": {"size": None},
        "colour": None,
        "word": None,
        "names": None,
        "parts": None,
        "by_name": {"x": {"size": None}, "y": {"size": None}},
        "mixed": None,
        "anything": None,
    }
    assert nothing(shape_of(Outer)) == Outer()
    assert nothing(shape_of(Annotated[str | None, Fact("x")])) is None


def test_fields_of_walks_into_members():
    assert [path for path, _ in fields_of(Outer)] == [
        "inner", "inner.size", "colour", "word", "names", "parts", "parts[].size", "by_name", "by_name[].size", "mixed", "anything",
    ]  # fmt: skip


@attrs.frozen
class Quoted:
    """Annotations as text."""

    part: "Annotated[Inner | None, Fact('x')]" = None


@attrs.frozen
class Loop:
    """It holds itself."""

    next: "Annotated[Loop | None, Fact('x')]" = None


@attrs.frozen
class Unknown:
    """A name that is nowhere."""

    part: "Nowhere" = None  # noqa: F821


def test_annotations_as_text():
    assert shape_of(Quoted).fields[0][1].cls is Inner


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (bytes, "not a type the document can hold"),
        (set[str], "not a type the document can hold"),
        (None, "not a type the document can hold"),
        (list, "not a type the document can hold"),
        (tuple[int, str], "any number of one type"),
        (tuple[()], "any number of one type"),
        (dict[int, str], "keys of a mapping are str"),
        (int | Inner, "more than scalars"),
        (Literal[1, 2], "words of a Literal are str"),
        (Loop, "Loop holds itself"),
        (Unknown, "Unknown.part: name 'Nowhere' is not defined"),
    ],
)
def test_what_the_document_cannot_hold(declared, text):
    with pytest.raises(TypeError, match=text) as caught:
        shape_of(declared)
    assert len(str(caught.value)) < 300
