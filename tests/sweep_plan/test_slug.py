"""Texts as names of directories."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aorta.sweep.slug import LONGEST, slug


@pytest.mark.parametrize(
    ("text", "name"),
    {
        "TICKET-1.2_x": "TICKET-1.2_x",
        "a b/c": "a_b_c",
        "": "_",
        ".": "_",
        "..": "_",
        "../../etc": ".._.._etc",
        "x" * LONGEST: "x" * LONGEST,
    }.items(),
)
def test_a_text(text, name):
    assert slug(text) == name


def test_long_texts_stay_apart():
    one, two = slug("x" * 200 + "a"), slug("x" * 200 + "b")
    assert one != two
    assert len(one) == len(two) == LONGEST
    assert slug(one) == one


@given(st.text())
def test_any_text(text):
    name = slug(text)
    assert 0 < len(name) <= LONGEST
    assert name not in {".", ".."}
    assert "/" not in name
