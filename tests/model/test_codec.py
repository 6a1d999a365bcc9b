"""A document loads strictly, keeps what it does not know, and names every place that is wrong."""

import enum
import json
from typing import Annotated, Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aorta.instrumentation import capture
from aorta.model.codec import Codec, DocumentError, dump, parse_json, to_json, version_of
from aorta.model.fact import Fact
from aorta.model.reason import Reason
from aorta.model.snapshot import Collection, CommandRecord, Record, Snapshot, User
from aorta.model.vocabulary import Coverage, Outcome, Provenance, ReasonKind, Scope, Status
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost


class Word(str, enum.Enum):
    YES = "yes"
    NO = "no"


@attrs.frozen(kw_only=True)
class Part:
    """A part."""

    size: Annotated[int | None, Fact("x")] = None


@attrs.frozen(kw_only=True)
class Whole:
    """All kinds of fields."""

    text: Annotated[str | None, Fact("x")] = None
    number: Annotated[int | None, Fact("x")] = None
    ratio: Annotated[float | None, Fact("x")] = None
    flag: Annotated[bool | None, Fact("x")] = None
    word: Annotated[Word | None, Fact("x")] = None
    names: Annotated[tuple[str, ...] | None, Fact("x")] = None
    parts: Annotated[tuple[Part, ...] | None, Fact("x")] = None
    part: Annotated[Part, Fact("x")] = attrs.field(factory=Part)
    table: Annotated[dict[str, int] | None, Fact("x")] = None
    mixed: Annotated[int | str | None, Fact("x")] = None


CODEC = Codec({"whole": Whole, "listed": Annotated[tuple[Part, ...] | None, Fact("x")]})


def document(**sections: Any) -> dict[str, Any]:
    return {**dump(Snapshot()), **sections}


# JSON texts hold no lone surrogates, and a dumped number has 64 bits.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-(2**63), 2**64 - 1)
parts = st.builds(Part, size=st.none() | numbers)
wholes = st.builds(
    Whole,
    text=st.none() | texts,
    number=st.none() | numbers,
    ratio=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    flag=st.none() | st.booleans(),
    word=st.none() | st.sampled_from(Word),
    names=st.none() | st.lists(texts, max_size=3).map(tuple),
    parts=st.none() | st.lists(parts, max_size=3).map(tuple),
    part=parts,
    table=st.none() | st.dictionaries(texts, numbers, max_size=3),
    mixed=st.none() | numbers | texts,
)
records = st.builds(
    Record,
    status=st.sampled_from(Status),
    provenance=st.lists(st.sampled_from(Provenance), max_size=2).map(tuple),
    scope=st.none() | st.sampled_from(Scope),
    commands=st.lists(
        st.builds(CommandRecord, argv=st.lists(texts).map(tuple), outcome=st.sampled_from(Outcome)),
        max_size=2,
    ).map(tuple),
)
reasons = st.builds(
    Reason, section=texts, kind=st.sampled_from(ReasonKind), subject=st.none() | texts, detail=texts
)
collections = st.builds(
    Collection,
    collectors=st.dictionaries(texts, records, max_size=2),
    reasons=st.lists(reasons, max_size=3).map(tuple),
    argv=st.none() | st.lists(texts).map(tuple),
    user=st.builds(User, uid=st.none() | numbers, root=st.none() | st.booleans()),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(wholes, collections)
def test_round_trip(whole, collection):
    plain = dump(Snapshot(plain={"whole": plain_of(whole)}, collection=collection))
    loaded = CODEC.load(parse_json(to_json(plain)))
    assert loaded.sections["whole"] == whole
    assert loaded.collection == collection
    assert dump(loaded) == plain


def plain_of(whole):
    from aorta.model.dump import Dumper
    from aorta.model.shape import shape_of

    dumper = Dumper()
    plain = dumper.dump(whole, shape_of(Whole))
    assert dumper.problems == []
    return plain


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"text": 3}, "expected a text, got an integer @ whole.text"),
        ({"number": "3"}, "expected an integer, got a text @ whole.number"),
        ({"number": True}, "expected an integer, got a boolean @ whole.number"),
        ({"number": 3.0}, "expected an integer, got a number @ whole.number"),
        ({"ratio": "1"}, "expected a number, got a text @ whole.ratio"),
        ({"flag": 1}, "expected a boolean, got an integer @ whole.flag"),
        ({"word": "maybe"}, "'maybe' is none of yes, no @ whole.word"),
        ({"word": ["yes"]}, r"\['yes'\] is none of yes, no @ whole.word"),
        ({"names": "gfx942"}, "expected a list, got a text @ whole.names"),
        ({"names": ["a", 3]}, r"expected a text, got an integer @ whole.names\[1\]"),
        ({"parts": [{"size": "x"}]}, r"expected an integer, got a text @ whole.parts\[0\].size"),
        ({"part": "text"}, "expected an object, got a text @ whole.part"),
        ({"part": []}, "expected an object, got a list @ whole.part"),
        ({"part": None}, "expected an object, got null @ whole.part"),
        ({"table": {"k": "v"}}, r"expected an integer, got a text @ whole.table\['k'\]"),
        ({"table": []}, "expected an object, got a list @ whole.table"),
        ("text", "expected an object, got a text @ whole"),
    ],
)
def test_nothing_is_coerced(value, fault):
    with pytest.raises(DocumentError, match=fault):
        CODEC.load(document(whole=value))


def test_every_place_is_named_up_to_five():
    with pytest.raises(DocumentError) as caught:
        CODEC.load(document(whole={"names": [1, 2, 3, 4, 5, 6, 7]}))
    assert str(caught.value).count("whole.names[") == 5
    assert str(caught.value).endswith("; and 2 more")


def test_an_int_loads_as_a_float():
    assert CODEC.load(document(whole={"ratio": 2})).sections["whole"].ratio == 2.0


def test_a_member_that_could_not_be_written_loads():
    loaded = CODEC.load(document(whole={"names": ["a", None], "table": {"k": None}}))
    assert loaded.sections["whole"].names == ("a", None)


def test_w33_unknown_keys_are_kept():
    before = document(whole={"text": "x", "from_tomorrow": 1}, vendor_key={"a": [1]}, listed=None)
    loaded = CODEC.load(before)
    assert loaded.sections["vendor_key"] == {"a": [1]}
    assert loaded.sections["whole"] == Whole(text="x")
    assert dump(loaded) == before


def test_w33_a_newer_minor_is_passed_on_whole():
    newer = document(whole={"text": 5}, brand_new=[1])
    newer["schema_version"] = "2.99"
    newer["partial"], newer["partial_reasons"] = True, ["x: quarantined", 3]
    newer["collection"] |= {
        "reasons": [{"section": "x", "kind": "quarantined"}],
        "deadline_s": 5.0,
        "colour": "red",
    }
    loaded = CODEC.load(newer)
    assert dump(loaded) == newer
    assert loaded.schema_version == "2.99"
    assert loaded.partial
    assert loaded.partial_reasons == ["x: quarantined"]
    assert loaded.collection.deadline_s == 5.0
    assert loaded.collection.reasons == ()
    assert loaded.sections["whole"] == {"text": 5}


def test_a_newer_document_that_does_not_say_is_taken_as_partial():
    newer = {"schema_version": "2.99", "collection": "?"}
    loaded = CODEC.load(newer)
    assert loaded.partial
    assert loaded.partial_reasons == []
    assert loaded.collection == Collection()


@pytest.mark.parametrize("version", ["0.9", "3.0"])
def test_another_major_is_refused(version):
    with pytest.raises(DocumentError, match=f"schema version {version}; this aorta reads 1.x and 2.x"):
        CODEC.load({**document(), "schema_version": version})


@pytest.mark.parametrize(
    "version",
    [None, 2, "", "2", "2.", ".0", "2.0.0", "2.x", "-2.0", "2.-1", "٢.0", "2.999999", "v2.0", " 2.0"],
)
def test_no_version(version):
    with pytest.raises(DocumentError, match="not a snapshot of aorta"):
        version_of({"schema_version": version})


def test_version_of():
    assert version_of({"schema_version": "2.14"}) == (2, 14)
    assert version_of({"schema_version": "1.7"}) == (1, 7)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("extensions", None),
        ("extensions", []),
        ("captured_at", 5),
        ("schema_compat", None),
        ("collection", None),
        ("collection", "x"),
        ("collection", {"reasons": [{"kind": "absent"}]}),
        ("collection", {"reasons": [{"section": "a", "kind": "mood"}]}),
        ("collection", {"coverage": {"gpu": "maybe"}}),
    ],
)
def test_the_envelope_is_checked(key, value):
    with pytest.raises(DocumentError, match=key):
        CODEC.load({**document(), key: value})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nul",
        "[1]",
        '"x"',
        "null",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": 1e999}',
        "{" * 100_000,
        "[" * 100_000,
        '{"a": %s}' % ("9" * 5000),
    ],
)
def test_what_is_not_strict_json(text):
    with pytest.raises(DocumentError):
        parse_json(text)


def test_a_document_that_nests_without_end():
    with pytest.raises(DocumentError):
        parse_json('{"a":' * 100_000 + "1" + "}" * 100_000)


def test_partial_is_computed():
    def snapshot(*kinds):
        return Snapshot(
            collection=Collection(reasons=tuple(Reason(section="s", kind=kind) for kind in kinds))
        )

    assert not snapshot(
        ReasonKind.ABSENT, ReasonKind.NO_TOOL, ReasonKind.UNSUPPORTED, ReasonKind.NOT_REQUESTED
    ).partial
    assert snapshot(ReasonKind.ABSENT, ReasonKind.DENIED).partial
    assert snapshot(ReasonKind.ABSENT, ReasonKind.DENIED).partial_reasons == ["s: denied"]
    for kind in set(ReasonKind) - {
        ReasonKind.ABSENT,
        ReasonKind.NO_TOOL,
        ReasonKind.UNSUPPORTED,
        ReasonKind.NOT_REQUESTED,
    }:
        assert snapshot(kind).partial


def test_the_text_of_a_reason():
    assert (
        Reason(section="s", field="a.b", kind=ReasonKind.DENIED, subject="/x", detail="no").text
        == "s.a.b: no (/x)"
    )
    assert Reason(section="s", kind=ReasonKind.DENIED, subject="/x", detail="/x: no").text == "s: /x: no"


@pytest.mark.parametrize("host", [FakeHost, None])
def test_captures_round_trip(host):
    registry = discover(outside=False)
    codec = Codec({name: spec.model for name, spec in registry.collectors.items()})
    snapshot = capture(registry=registry, host=host() if host else None, detail="full")
    plain = codec.dump(snapshot)
    loaded = codec.load(parse_json(to_json(plain)))
    assert codec.dump(loaded) == plain
    assert loaded.collection == snapshot.collection
    assert json.loads(to_json(plain)) == plain
    assert snapshot.collection.coverage.gpu in Coverage
