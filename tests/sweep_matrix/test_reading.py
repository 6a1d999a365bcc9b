"""Documents that anybody may have changed: a complaint, or a page; never an exception."""

import copy
import json
import random

import pytest

from aorta.cli.sweep_summary import FAIL_ON, end_summary, verdict_of_run
from aorta.sweep.matrix.junit import junit
from aorta.sweep.matrix.markdown import Page
from aorta.sweep.matrix.reading import MatrixError, read
from aorta.sweep.matrix.run_facts import INTERRUPTED, State
from aorta.sweep.recipe.model import StopAfter

from .made import cell, document, stepped, trial

VALUES = (
    None,
    True,
    0,
    1,
    -1,
    10**40,
    10**400,
    0.5,
    1e308,
    -2.5,
    "",
    "\ud800\x00",
    "worse",
    [],
    [1],
    {},
    {"a": None},
)


def whole():
    cells = [cell("none"), cell("a", stop_after=StopAfter(events=1, max_trials=9), workload_config={"n": 2})]
    summaries = [
        *(stepped("none", n, 9, 10, verdict="fail", failed=("x",), exit_code=1, hint="h") for n in range(5)),
        *(stepped("a", n, 9, 20, env_digest=f"d{n}", metrics={"m": 2.0}) for n in range(4)),
        trial("a", 4, "error", reason="r", signal="SIGKILL"),
    ]
    return document(cells, summaries, State(word=INTERRUPTED, why="SIGTERM", cell="a", trial=2))


def places(value, path=()):
    """Yield the paths of all members of a document."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


def shown(made):
    """Make everything that is made of a document."""
    Page().text(made, made["cells"]).encode()
    junit(made).encode()
    end_summary(made).encode()
    for word in (None, *FAIL_ON):
        verdict_of_run(made, word)


def test_any_member_may_be_anything(tmp_path):
    path, good = tmp_path / "matrix.json", whole()
    readable = refused = 0
    dice = random.Random(7)
    for place in places(good):
        for value in dice.sample(VALUES, 4):
            made = copy.deepcopy(good)
            folder = made
            for key in place[:-1]:
                folder = folder[key]
            folder[place[-1]] = value
            path.write_text(json.dumps(made))
            try:
                made = read(str(path))
            except MatrixError as error:
                refused += 1
                assert str(path) in str(error)
            else:
                readable += 1
                shown(made)
    assert readable > 100
    assert refused > 500


def test_any_member_may_be_missing(tmp_path):
    path, good = tmp_path / "matrix.json", whole()
    for place in places(good):
        made = copy.deepcopy(good)
        folder = made
        for key in place[:-1]:
            folder = folder[key]
        del folder[place[-1]]
        path.write_text(json.dumps(made))
        try:
            made = read(str(path))
        except MatrixError:
            continue
        shown(made)


def test_members_of_a_later_minor_change_are_let_be(tmp_path):
    made = whole()
    made["new"] = made["cells"][0]["new"] = {"x": 1}
    (tmp_path / "matrix.json").write_text(json.dumps(made))
    assert read(str(tmp_path / "matrix.json"))["new"] == {"x": 1}


def test_a_file_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr("aorta.sweep.matrix.reading.LIMIT", 1 << 20)
    (tmp_path / "matrix.json").write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(MatrixError, match="larger than 1 MiB"):
        read(str(tmp_path / "matrix.json"))


def test_a_directory_in_the_place_of_a_matrix(tmp_path):
    with pytest.raises(MatrixError, match="Is a directory"):
        read(str(tmp_path))
