"""Which rows are the target that was asked for."""

import itertools

import pytest

from aorta.buck.labels import parse_configured
from aorta.buck.roots import roots_of


def roots(target, *rows):
    return [row.text for row in roots_of([parse_configured(row) for row in rows], target)]


def test_the_label_counts_not_the_order():
    rows = ("root//app:trainer (p)", "root//t:torch (p)", "root//x/app:trainer (p)", "root//tools:gen (x)")
    for order in itertools.permutations(rows):
        assert roots("//app:trainer", *order) == [rows[0]]


def test_a_transition_gives_two_rows():
    rows = ("root//app:trainer (p)", "root//app:trainer (q)", "root//t:torch (q)")
    assert roots("root//app:trainer", *rows) == list(rows[:2])


def test_a_cell_that_is_named_is_the_one():
    rows = ("root//app:trainer (p)", "other//app:trainer (p)")
    assert roots("root//app:trainer", *rows) == [rows[0]]
    assert roots("other//app:trainer", *rows) == [rows[1]]


@pytest.mark.parametrize("target", ["//app:trainer", "alias//app:trainer", ":trainer"])
def test_among_namesakes_the_last_row_is_the_one(target):
    rows = ("other//app:trainer (p)", "root//app:trainer (p)")
    assert roots(target, *rows) == [rows[1]]
    assert roots(target, *rows, "root//t:torch (p)") == [], "nobody can say which"


def test_a_constraint_is_no_root():
    assert roots("//app:trainer", "root//app:trainer (<unbound>)") == []
    assert roots("//app:trainer") == []
