"""Whatever the documents hold: nothing differs from itself, both ways say the same, nothing is raised."""

import copy
import functools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aorta.compare import compare
from tests.parts.compared import Found, document, known
from tests.parts.old_documents import VERSIONS, codec, old

MANY = settings(max_examples=300, deadline=None, derandomize=True)

words = st.text(max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words
names = st.sampled_from(
    ["name", "present", "sha256", "identity", "path", "rocm", "gpus", "bdf", "kind", "x", "a.b", "[0]"]
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names | words, inner, max_size=4)
)


@functools.cache
def real():
    return [document(), *(codec().dump(codec().load(old(version))) for version in VERSIONS)]


@st.composite
def mutated(draw):
    """Return a document in which some members were replaced, dropped or added."""
    made = copy.deepcopy(draw(st.sampled_from(real())))
    for _ in range(draw(st.integers(0, 4))):
        folder = made
        for _ in range(draw(st.integers(0, 4))):
            inner = [
                member
                for member in (folder.values() if isinstance(folder, dict) else folder)
                if member and isinstance(member, (dict, list))
            ]
            if not inner:
                break
            folder = draw(st.sampled_from(inner))
        if isinstance(folder, list):
            folder.append(draw(values))
        elif folder and draw(st.booleans()):
            folder.pop(draw(st.sampled_from(sorted(folder))))
        else:
            folder[draw(st.sampled_from(sorted(folder)) if folder else words)] = draw(values)
    return made


def said(row):
    return (
        row.path,
        row.kind,
        json.dumps(row.a),
        json.dumps(row.b),
        row.why_a,
        row.why_b,
        row.note,
        row.side,
    )


def turned(row):
    side = {"a": "b", "b": "a"}.get(row.side, row.side)
    return (row.path, row.kind, json.dumps(row.b), json.dumps(row.a), row.why_b, row.why_a, row.note, side)


def rows(comparison):
    return (*comparison.differences, *comparison.informational, *comparison.unknown)


@MANY
@given(mutated())
def test_nothing_differs_from_itself(one):
    assert rows(compare(one, copy.deepcopy(one), known())) == ()


@MANY
@given(mutated(), mutated())
def test_both_ways_say_the_same(one, other):
    there, back = compare(one, other, known()), compare(other, one, known())
    notes = ("made by different methods",)
    assert {said(row) for row in rows(there) if not row.note.startswith(notes)} == {
        turned(row) for row in rows(back) if not row.note.startswith(notes)
    }
    assert len(rows(there)) == len(rows(back))
    assert [(row.path, row.verdict) for row in there.triage] == [
        (row.path, row.verdict) for row in back.triage
    ]


@MANY
@given(
    st.dictionaries(names | words | st.sampled_from(["collection", "extensions", "schema_version"]), values),
    mutated(),
)
def test_nothing_is_raised_for_what_is_no_document(one, other):
    for pair in ((one, other), (other, one), (one, {})):
        json.dumps([row.a for row in rows(compare(*pair, known()))])


@MANY
@given(st.dictionaries(st.sampled_from(["collectors", "reasons", "upgraded_from", "tool"]), values))
def test_nothing_is_raised_for_a_broken_collection(collection):
    one = {**document(rocm={"version": None}), "collection": collection}
    compare(one, document(rocm={"version": "7"}), known())


@pytest.mark.parametrize("depth", [50, 900, 5000])
def test_deep_nesting(depth):
    one, other = 1, 2
    for _ in range(depth):
        one, other = {"x": one}, {"x": other}
    found = Found(document(deep=one), document(deep=other))
    assert len(found.differences) + len(found.unknown) == 1
    lists = [[]]
    for _ in range(depth):
        lists = [lists]
    assert sum(map(len, Found(document(deep=lists), document(deep=[1])).kinds)) == 1
    assert sum(map(len, Found(document(deep=lists), document(deep=None)).kinds)) == 1


def test_the_comparison_needs_the_standard_library_alone():
    import subprocess
    import sys

    root = Path(__file__).resolve().parents[2]
    code = "import sys; sys.modules.update(dict.fromkeys(('attrs', 'cattrs', 'click', 'rich', 'yaml'))); import aorta.compare as c; print(c.compare({}, {}, c.Knowledge()).differences)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "()\n"


def test_lists_that_both_sides_may_hold_less_of_than_there_is():
    reason = {"section": "isolation", "kind": "denied", "field": "container", "detail": "x"}
    old = {"schema_version": "2.0", "collection": {"reasons": [reason]}}
    one, other = ({**old, "isolation": {"container": [value]}} for value in (None, False))
    [there], [back] = (
        [row for row in rows(compare(*pair, known())) if row.path == "isolation.container"]
        for pair in ((one, other), (other, one))
    )
    assert (there.side, back.side) == ("both", "both")
