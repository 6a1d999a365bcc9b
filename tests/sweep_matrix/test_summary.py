"""The end of a sweep in words."""

import pytest

from aorta.cli.sweep_summary import FAIL_ON, end_summary, verdict_of_run
from aorta.sweep.matrix.run_facts import INTERRUPTED, STOPPED, State

from .made import DONE, cell, document, trial, trials


def summary(cells, state=DONE, extra=()):
    planned = [cell(name, trials=len(verdicts)) for name, verdicts in cells]
    made = [one for name, verdicts in cells for one in trials(name, verdicts, reason="boom")]
    return document(planned, [*made, *extra], state)


def test_all_passed():
    assert end_summary(summary([("none", "ppp"), ("a", "pp")])) == "Sweep summary: all 2 cells passed."
    assert end_summary(summary([("none", "p")])) == "Sweep summary: the cell passed."


def test_each_cell_that_is_not_clean_has_a_line():
    made = summary(
        [("none", "p" * 10), ("bad", "f" * 8 + "pp"), ("odd", "ppppppppfe"), ("dead", "e" * 10), ("ok", "p")]
    )
    assert end_summary(made).splitlines() == [
        "Sweep summary: 5 cells: 2 clean, 2 with failing trials, 2 with errors, 1 not judged.",
        "  [fail] bad: 8/10 failed (worse than baseline, p = 0.0029): boom -> cells/bad",
        "  [fail] odd: 1/9 failed; 1/10 without a verdict: boom -> cells/odd",
        "  [error] dead: 10/10 without a verdict: boom -> cells/dead",
    ]


def test_a_cell_that_is_better_is_the_finding():
    made = summary([("none", "f" * 20), ("a", "f" + "p" * 19), ("b", "p" * 20), ("c", "p")])
    lines = end_summary(made).splitlines()
    assert lines[0] == "Sweep summary: 4 cells: 2 clean, 2 with failing trials, 0 with errors, 0 not judged."
    assert lines[2] == "  [fail] a: 1/20 failed (better than baseline, p = 7.6e-10): boom -> cells/a"
    assert lines[3] == "  [better] b: 0/20 failed (better than baseline, p = 4.4e-11)"
    assert len(lines) == 4


def test_a_run_that_is_not_complete_says_why():
    made = document(
        [cell("none", trials=3), cell("a")], trials("none", "p"), State(word=INTERRUPTED, why="SIGTERM")
    )
    assert end_summary(made).splitlines() == [
        "Sweep summary: 2 cells: 1 clean, 0 with failing trials, 0 with errors, 1 not judged.",
        "  The run is interrupted (SIGTERM): 1 of 8 trials done.",
        "  [none] a: not one trial was executed",
    ]


def test_a_stopped_run_of_clean_cells_is_not_all_passed():
    made = document([cell("none", trials=3)], trials("none", "p"), State(word=STOPPED, why="fail_fast"))
    assert "all" not in end_summary(made)


def test_control_characters_stay_out():
    made = document([cell("none")], [trial("none", 0, "fail", reason="a\x1b[31m\nb")])
    assert "\x1b" not in end_summary(made)
    assert len(end_summary(made).splitlines()) == 2


@pytest.mark.parametrize(
    ("cells", "fails"),
    [
        ([("none", "p" * 10), ("a", "p" * 10)], set()),
        ([("none", "p" * 10), ("a", "p" * 9 + "f")], {"fail", "error"}),
        ([("none", "p" * 10), ("a", "p" * 9 + "e")], {"error"}),
        ([("none", "p" * 10), ("a", "f" * 10)], {"fail", "error", "worse"}),
        ([("none", "f" * 10), ("a", "p" * 10)], {"fail", "error"}),
        ([("none", "e" * 10), ("a", "p" * 10)], {"error", "worse"}),
        ([("none", "e"), ("a", "e")], {None, *FAIL_ON}),
    ],
)
def test_what_fails_a_run(cells, fails):
    made = summary(cells)
    assert {word for word in (None, *FAIL_ON) if not verdict_of_run(made, word)} == fails
