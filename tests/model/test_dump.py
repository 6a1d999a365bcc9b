"""Whatever a collector returns becomes strict JSON of its declared shape, with problems that name places."""

import datetime as dt
import enum
import json
import math
import pathlib
import time
from typing import Annotated, Any, Literal

import attrs
import pytest

from aorta.model.dump import DEPTH_LIMIT, KEY_LIMIT, NUMBER_LIMIT, PROBLEM_LIMIT, TEXT_LIMIT, Dumper
from aorta.model.fact import Fact
from aorta.model.shape import shape_of
from aorta.model.vocabulary import Detail, ReasonKind


def dumped(value, declared, detail=Detail.FULL):
    dumper = Dumper(detail)
    plain = dumper.dump(value, shape_of(declared))
    text = json.dumps(plain, allow_nan=False)
    text.encode("utf-8").decode("utf-8")
    return plain, [(problem.kind.value, problem.path) for problem in dumper.problems]


class Word(str, enum.Enum):
    YES = "yes"


@attrs.frozen(kw_only=True)
class Part:
    """A part."""

    text: Annotated[str | None, Fact("x")] = None
    number: Annotated[int | None, Fact("x")] = None
    ratio: Annotated[float | None, Fact("x")] = None
    flag: Annotated[bool | None, Fact("x")] = None
    word: Annotated[Word | None, Fact("x")] = None
    names: Annotated[tuple[str, ...] | None, Fact("x")] = None
    table: Annotated[dict[str, int] | None, Fact("x")] = None
    json: Annotated[Any, Fact("x")] = None
    long: Annotated[str | None, Fact("x", detail=Detail.FULL)] = None


GOOD = {
    "text": "é", "number": 3, "ratio": 0.5, "flag": True, "word": Word.YES, "names": ("a",), "table": {"k": 1},
    "json": {"a": [1, None, "x", 2.5, False]}, "long": "l",
}  # fmt: skip


def test_good_values_stay():
    plain, problems = dumped(Part(**GOOD), Part)
    assert plain == {**GOOD, "word": "yes", "names": ["a"]}
    assert problems == []


def test_full_values_are_null_in_a_compact_snapshot():
    assert dumped(Part(**GOOD), Part, Detail.COMPACT)[0]["long"] is None


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("text", 3, "failed"),
        ("text", b"\xff", "failed"),
        ("text", pathlib.PurePosixPath("/x"), "failed"),
        ("text", "x" * (100 << 20), "unparsed"),
        ("number", "3", "failed"),
        ("number", True, "failed"),
        ("number", 1.0, "failed"),
        ("number", 10**400, "unparsed"),
        ("number", -NUMBER_LIMIT, "unparsed"),
        ("ratio", math.nan, "unparsed"),
        ("ratio", math.inf, "unparsed"),
        ("ratio", 10**400, "unparsed"),
        ("ratio", "0.5", "failed"),
        ("flag", 1, "failed"),
        ("flag", "true", "failed"),
        ("word", "no", "failed"),
        ("word", ["yes"], "failed"),
        ("names", "gfx942", "failed"),
        ("names", {"a"}, "failed"),
        ("table", [("k", 1)], "failed"),
        ("json", {1, 2}, "failed"),
        ("json", dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc), "failed"),
        ("json", math.nan, "unparsed"),
        ("json", 10**400, "unparsed"),
    ],
)
def test_what_does_not_fit_is_null_and_named(field, value, kind):
    plain, problems = dumped(Part(**{**GOOD, field: value}), Part)
    assert plain == {**GOOD, "word": "yes", "names": ["a"], field: None}
    assert problems == [(kind, field)]


def test_an_int_is_a_float():
    plain, problems = dumped(Part(ratio=2), Part)
    assert (plain["ratio"], type(plain["ratio"]), problems) == (2.0, float, [])


def test_members_are_checked_and_named():
    plain, problems = dumped(Part(names=("a", 3), table={"x": "y", 4: 1, "k" * 2000: 1}), Part)
    assert plain["names"] == ["a", None]
    assert plain["table"] == {"x": None}
    assert problems == [
        ("failed", "names[1]"),
        ("failed", "table.x"),
        ("failed", "table"),
        ("unparsed", "table"),
    ]


def test_a_nested_object_of_another_class_keeps_its_keys():
    @attrs.frozen
    class Whole:
        """x."""

        part: Annotated[Part, Fact("x")]

    plain, problems = dumped(Whole({"text": "x"}), Whole)
    assert set(plain["part"]) == set(GOOD)
    assert set(plain["part"].values()) == {None}
    assert problems == [("failed", "part")]
    assert dumped(Whole(None), Whole) == (plain, [])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\udcff", "a\\xff"),
        ("a\ud800b", "a\\ud800b"),
    ],
)
def test_lone_surrogates_are_escaped_and_told(text, written):
    assert dumped(Part(text=text), Part)[0]["text"] == written
    assert dumped(Part(text=text), Part)[1] == [("unparsed", "text")]
    assert dumped({text: text}, Any)[0] == {written: written}


def test_a_value_that_holds_itself_ends():
    loop: dict[str, Any] = {}
    loop["me"] = loop
    plain, problems = dumped(loop, Any)
    assert problems == [("unparsed", ".".join(["me"] * (DEPTH_LIMIT + 1)))]
    assert plain["me"]["me"]


def test_a_value_that_holds_itself_twice_ends_soon():
    loop: dict[str, Any] = {}
    loop["a"] = loop["b"] = loop["c"] = loop
    # The time limit of every test is the bound: without one of its own this would never end.
    dumper = Dumper()
    dumper.dump(loop, shape_of(Any))
    assert dumper.problems[0].kind is ReasonKind.UNPARSED


def test_problems_are_bounded():
    begun = time.monotonic()
    _, problems = dumped(list(range(200_000)), list[str])
    assert time.monotonic() - begun < 10
    assert len(problems) == PROBLEM_LIMIT + 1
    dumper = Dumper()
    dumper.dump(list(range(100)), shape_of(list[str]))
    assert dumper.problems[-1].text == f"and {100 - PROBLEM_LIMIT} more values that do not fit"


def test_keys_of_json_are_text():
    plain, problems = dumped({1: "int key", "x": 2, "k" * (KEY_LIMIT + 1): 3}, Any)
    assert plain == {"x": 2}
    assert problems == [("failed", ""), ("unparsed", "")]


def test_a_list_where_a_shape_has_none_is_null():
    assert dumped(None, list[str]) == (None, [])
    assert dumped(None, Part)[0] == dict.fromkeys(GOOD)
    assert dumped(None, Annotated[Part | None, Fact("x")]) == (None, [])
    assert dumped([None], list[Annotated[Part | None, Fact("x")]])[0] == [None]


def test_text_of_a_subclass_is_its_own_text():
    class Sly(str):
        __slots__ = ()

        def __str__(self):
            return "another"

    assert dumped(Sly("mine"), str) == ("mine", [])
    assert dumped({"a": Sly("mine")}, Any) == ({"a": "mine"}, [])
    assert dumped("a" * TEXT_LIMIT, str)[1] == []
    assert dumped("x", Literal["x", "y"]) == ("x", [])
