"""Old documents, damaged at random: a clear refusal or a document that claims nothing of its own."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aorta.model.codec import Codec, DocumentError, dump, version_of
from aorta.model.downgrade import as_1_17
from aorta.model.fieldpath import Step, shown_step
from aorta.model.upgrade import SET_ASIDE, upgraded
from aorta.model.upgrade.keys import KEYS
from aorta.model.vocabulary import ReasonKind
from tests.parts.old_documents import ENVELOPE, VERSIONS, facts, invented, models, old

MODELS = models()
CODEC = Codec(MODELS)
DOCUMENTS = {version: old(version) for version in VERSIONS}

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(
        ["absent", "baremetal", "none", "unknown", "native", "1.17", "\udcff", "collect_env: x", "docker"]
    )
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(
    [*KEYS, "gpus", "collection", "extensions", "isolation", "schema_compat", "?", "a.b", "commit", "reason"]
) | st.text(max_size=5)


def places(value, path=()):
    """Yield the path of every member of a document."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, member in members:
        yield (*path, name)
        yield from places(member, (*path, name))


# env_vars alone has half of all places: it is drawn as often as any other section.
PLACES = {
    version: {section: [place for place in places(document) if place[0] == section] for section in document}
    for version, document in DOCUMENTS.items()
}


@st.composite
def damaged(draw):
    """Return a document with one to four places dropped, retyped or added to."""
    version = draw(st.sampled_from(VERSIONS))
    document = copy.deepcopy(DOCUMENTS[version])
    for _ in range(draw(st.integers(1, 4))):
        section = draw(st.sampled_from(list(PLACES[version])))
        *above, name = draw(st.sampled_from(PLACES[version][section]))
        parent = document
        try:
            for step in above:
                parent = parent[step]
            parent[name]
        except (KeyError, IndexError, TypeError):
            continue
        kind = draw(st.sampled_from(["drop", "null", "retype", "add"]))
        if name == "schema_version":
            kind = "add"
        if kind == "drop":
            del parent[name]
        elif kind == "null":
            parent[name] = None
        elif kind == "retype":
            parent[name] = draw(VALUES)
        elif isinstance(parent, dict):
            extra = draw(NAMES)
            if extra != "schema_version":
                parent[extra] = draw(VALUES)
    return document


@pytest.mark.timeout(300)
@settings(
    max_examples=2000,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(damaged())
def test_any_damage_is_refused_or_claims_nothing(document):
    before = json.dumps(document)
    check_upgraded(document, upgraded(document, version_of(document), MODELS))
    try:
        snapshot = CODEC.load(document)
    except DocumentError:
        return
    finally:
        assert json.dumps(document) == before
    after = dump(snapshot)
    assert after == json.loads(json.dumps(after))
    check_upgraded(json.loads(before), after)
    check_as_1_17(after, as_1_17(after))


def check_upgraded(before, after):
    """Everything that is said stands in the old document, everything else is told to be missing."""
    claims = {
        path: value
        for path, value in invented(before, after).items()
        if not (isinstance(value, str) and ("\\x" in value or "[redacted]" in value))
    }
    assert claims == {}
    said = {(reason["section"], reason["field"]) for reason in after["collection"]["reasons"]}
    for name in set(KEYS) - ENVELOPE:
        if name not in before:
            assert (name, "") in said
    kept = after["extensions"].get(SET_ASIDE, {}).get("data", {})
    assert {shown_step(Step("name", name), first=True) for name in set(before) - set(KEYS)} <= set(kept)


def check_as_1_17(current, made):
    """The old form has exactly its keys and says nothing that the new one does not."""
    assert list(made) == list(KEYS)
    assert made["partial"] is bool(made["partial_reasons"])
    assert all(isinstance(line, str) for line in made["partial_reasons"])
    # Without an answer of Buck, 1.x has an empty list.
    unasked = made["buck_invocation"]["status"] not in (None, "success")
    empty = {"library_introspection", "library_introspection_alternates"} if unasked else set()
    claims = {path: value for path, value in invented(current, made).items() if path != "rocm.layout"}
    assert {path: value for path, value in claims.items() if path not in empty or value} == {}
    assert set(facts(made)) - empty <= set(facts(current))


@pytest.mark.timeout(120)
@settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(NAMES, VALUES, max_size=6), st.integers(0, 30))
def test_any_object_with_a_version(members, minor):
    document = {**members, "schema_version": f"1.{minor}"}
    try:
        after = dump(CODEC.load(document))
    except DocumentError:
        return
    assert invented(document, after) == {}
    assert any(r["kind"] == ReasonKind.NOT_RECORDED.value for r in after["collection"]["reasons"])
    as_1_17(after)


@pytest.mark.timeout(120)
@settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(NAMES, VALUES, max_size=6))
def test_any_object_as_1_17(members):
    made = as_1_17(members)
    assert list(made) == list(KEYS)
    json.dumps(made)
