"""matrix.md, raw."""

import re

import pytest

from aorta.sweep.matrix.markdown import Page, escaped
from aorta.sweep.matrix.run_facts import INTERRUPTED, RUNNING, STOPPED, State
from aorta.sweep.matrix.table import duration, percent
from aorta.sweep.recipe.model import StopAfter

from .made import DONE, RUN, cell, document, matrix, stepped, trial, trials


def page(cells, summaries, state=DONE, **options):
    return matrix(cells, summaries, **options).markdown(state)


def rows(text):
    """Return the table: a mapping of headings to texts for each cell."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| ")]
    head, _, *body = [[one.strip() for one in line] for line in lines]
    return {line[0]: dict(zip(head, line, strict=True)) for line in body}


def notes(text):
    return text.partition("## Notes")[2].partition("## Where")[0]


def test_a_clean_run_is_facts_and_a_table_alone():
    text = page([cell("none"), cell("a")], [*trials("none", "p" * 20), *trials("a", "p" * 20)])
    assert text.startswith("# Sweep matrix: command\n\n* Ticket: T-1\n")
    assert "recipes/a.yaml (sha256 ababababab)" in text
    assert "> " not in text
    assert "## Where to look" not in text
    assert notes(text).strip().splitlines() == [
        "* No difference seen: a (20 judged trials): only failure rates of at least 25% would have been called."
    ]


def test_the_table_says_each_cell():
    summaries = [
        *(stepped("none", n, 9, 10, 12, verdict="fail", failed=("tier1:sigsegv",)) for n in range(8)),
        *(stepped("slow", n, 9, 20, 24, env_digest=f"sha256:{n % 2}") for n in range(8)),
        trial("none", 8, "error"),
    ]
    found = rows(page([cell("none"), cell("slow")], summaries))
    assert found["none"] == {
        "Cell": "none",
        "Mitigations": "none",
        "Environment": "local",
        "Failures": "8/8 (100%)",
        "95 % interval": "68% to 100%",
        "Errors": "1/9 unreliable",
        "Against baseline": "baseline",
        "Step ms": "11 (p50 11)",
        "Time": "14 s",
        "Top finding": "tier1:sigsegv in 8",
        "Drift": "",
    }
    assert found["slow"]["Against baseline"] == "better (p = 0.00016); slower +100%"
    assert found["slow"]["Drift"] == "2 environments"


def test_the_columns_are_aligned():
    text = page([cell("none"), cell("a-longer-name")], trials("none", "pf"))
    assert len({len(line) for line in text.splitlines() if line.startswith("|")}) == 1


def test_columns_that_nobody_needs_are_left_out():
    text = page([cell("none", mitigations=())], trials("none", "p"))
    assert list(rows(text)["none"]) == [
        *("Cell", "Environment", "Failures", "95 % interval", "Errors", "Against baseline", "Time")
    ]


def test_configurations_that_differ_have_columns():
    cells = [
        cell("none", workload_config={"n": 1, "same": 3, "name": "x"}),
        cell("a", workload_config={"n": 2, "same": 3}, diagnostic="log"),
    ]
    found = rows(page(cells, []))
    assert (found["none"]["Config: n"], found["a"]["Config: n"]) == ("1", "2")
    assert (found["none"]["Config: name"], found["a"]["Config: name"]) == ("x", "")
    assert "Config: same" not in found["a"]
    assert found["a"]["Diagnostic"] == "log"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (State(word=RUNNING, cell="a", trial=2), "> **Still running: 1 of 10 trials done, trial 2 of cell a is in flight.**"),
        (State(word=RUNNING), "> **Still running: 1 of 10 trials done.**"),
        (State(word=INTERRUPTED, why="SIGTERM", cell="a", trial=0), "> **Interrupted (SIGTERM): 1 of 10 trials done, trial 0 of cell a was in flight.**"),
        (State(word=INTERRUPTED, why="disk full", cell="a"), "> **Interrupted (disk full): 1 of 10 trials done, cell a was in flight.**"),
        (State(word=STOPPED, why="fail_fast"), "> **Stopped early (fail\\_fast): 1 of 10 trials done.**"),
    ],
)  # fmt: skip
def test_a_run_that_is_not_complete_says_so_at_the_top(state, told):
    line = page([cell("none"), cell("a")], trials("none", "p"), state).splitlines()[2]
    assert line.replace("fail_fast", r"fail\_fast") == told


def test_a_baseline_without_a_judged_trial_is_said_at_the_top():
    text = page([cell("none"), cell("a")], [*trials("none", "ee"), *trials("a", "pp")])
    assert (
        text.splitlines()[2] == "> **The baseline none has no judged trial, so no cell is compared with it.**"
    )
    assert rows(text)["a"]["Against baseline"] == "not comparable"
    assert rows(text)["none"]["Failures"] == "none judged"
    assert "no judged trial" not in page([cell("none"), cell("a")], [])


def test_what_may_hide_a_failure_is_said():
    summaries = [
        *(stepped("none", n, 9, 10, verdict="fail") for n in range(8)),
        *(stepped("slow", n, 9, 20) for n in range(8)),
        *(stepped("also-bad", n, 9, 20, verdict="fail") for n in range(8)),
    ]
    text = notes(page([cell("none"), cell("slow"), cell("also-bad")], summaries))
    assert (
        "slow: fails less and is slower +100% (20 ms a step against 10 ms): slowness may be what hides the failure."
        in text
    )
    assert "also-bad: fails" not in text


def test_what_may_bring_a_failure_out_is_said():
    summaries = [
        *(stepped("none", n, 9, 20) for n in range(8)),
        *(stepped("fast", n, 9, 10, verdict="fail") for n in range(8)),
    ]
    text = page([cell("none"), cell("fast")], summaries)
    assert (
        "fast: fails more and is faster -50% (10 ms a step against 20 ms): speed may be what brings"
        in notes(text)
    )
    assert rows(text)["fast"]["Against baseline"] == "worse (p = 0.00016); faster -50%"


def test_steps_that_cannot_be_compared_are_said():
    summaries = [stepped("none", 0, 9, 10), stepped("a", 0, 9, 10, source="wall_clock")]
    text = page([cell("none"), cell("a")], summaries)
    assert rows(text)["a"]["Step ms"] == "9.5 (p50 9.5, wall_clock)"
    told = notes(text)
    assert "a: steps are not compared: its step times are wall_clock, the baseline's per_step." in told


def test_too_few_trials_are_said_once_for_all():
    cells = [cell(name) for name in ("none", "a", "b")]
    text = notes(page(cells, [one for name in ("none", "a", "b") for one in trials(name, "pf")]))
    assert text.strip() == (
        "* Too few trials: a, b (2 judged trials each): no result would have been called worse or better."
    )


def test_drift_names_the_trials():
    digests = ["sha256:aaaaaaaaaaaaaaaa"] * 3 + ["sha256:bb"] + ["sha256:aaaaaaaaaaaaaaaa"]
    summaries = [trial("none", n, env_digest=digest) for n, digest in enumerate(digests)]
    assert (
        "none: the environment was not the same in all trials: sha256:aaaaaaaaaaaa in trials 0-2, 4; sha256:bb in"
        " trial 3."
    ) in notes(page([cell("none")], summaries))


def test_a_cell_that_ended_early_says_so():
    stop = StopAfter(events=2, max_trials=9)
    text = page([cell("none", stop_after=stop)], trials("none", "pff"), stop_after=stop)
    assert "none: ended early, with 2 fail in 3 trials of at most 9." in notes(text)
    assert "* Trials: up to 9 a cell, 1 step each; a cell ends after 2 with fail" in text
    both = [cell("none", trials=9), cell("a", stop_after=StopAfter(events=8, max_trials=9))]
    text = page(both, [*trials("none", "p" * 9), *trials("a", "f" * 8)])
    assert (
        "a: ended early, with 8 fail in 8 trials of at most 9; its rate looks more extreme than it is"
        in notes(text)
    )


def test_warnings_are_a_line_each():
    from aorta.model.frozen import evolve

    text = page([cell("none")], [], run=evolve(RUN, warnings=("first\nline", "second | x")))
    assert notes(text).strip().splitlines() == ["* Warning: first\\\\nline", "* Warning: second \\| x"]


def test_where_to_look():
    summaries = [
        *trials("none", "p"),
        trial("a", 0, "error", reason="no such image"),
        trial("a", 2, "fail", reason="later"),
        trial("a", 1, "fail", reason="exit 139", hint="try x"),
    ]
    text = page([cell("none"), cell("a")], summaries)
    assert text.partition("## Where to look\n\n")[2] == (
        "* **a**: 2 failed, 1 without a verdict of 3\n"
        "  * first failure, [cells/a/trial_001.json](cells/a/trial_001.json): exit 139\n"
        "  * first error, [cells/a/trial_000.json](cells/a/trial_000.json): no such image\n"
        "  * hint in 1 trial: try x\n"
    )


def test_nothing_of_a_trial_is_markup():
    odd = trial("none", 0, "fail", reason="<b>|`*x*`|\x1b[31m\nnext", path="cells/a b/(t)é.json")
    text = page([cell("none", mitigations=("a|b", "c\nd"))], [odd])
    assert rows(text)["none"]["Mitigations"] == "a\\|b, c\\\\nd"
    assert "\\<b\\>\\|\\`\\*x\\*\\`\\|\\\\x1b\\[31m\\\\nnext" in text
    assert "(cells/a%20b/%28t%29%C3%A9.json)" in text
    assert "\x1b" not in text


def test_escapes_keep_words_readable():
    assert escaped("tier4:python_traceback") == "tier4:python_traceback"
    assert escaped("_x_ y_z") == r"\_x\_ y_z"
    assert len(escaped("x" * 400)) == 301


def test_a_page_made_of_the_document_is_the_same():
    cells = [cell("none"), cell("a"), cell("b", workload_config={"n": 3})]
    summaries = [
        one for name, verdicts in (("none", "pffpe"), ("a", "ppppp")) for one in trials(name, verdicts)
    ]
    state = State(word=INTERRUPTED, why="SIGINT", cell="b", trial=0)
    made = document(cells, summaries, state)
    assert Page().text(made, made["cells"]) == page(cells, summaries, state)


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.004, "0.4%"),
        (0.00001, "0.001%"),
        (0.9999, "99.9%"),
        (0.125, "12%"),
        (0.5, "50%"),
    ],
)
def test_percent(rate, text):
    assert percent(rate) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.0042, "0.0042 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1m 00s"),
        (185, "3m 05s"),
        (7380, "2h 03m"),
    ],
)
def test_duration(seconds, text):
    assert duration(seconds) == text
