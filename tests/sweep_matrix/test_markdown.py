"""matrix.md, raw."""

import html
import random
import re

import pytest
from markdown_it import MarkdownIt

from aorta.cli.sweep_summary import end_summary
from aorta.sweep.matrix.markdown import Page, escaped
from aorta.sweep.matrix.run_facts import INTERRUPTED, RUNNING, STOPPED, State
from aorta.sweep.matrix.table import duration, percent
from aorta.sweep.planning.overlay import Layer
from aorta.sweep.recipe.model import Change, StopAfter

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
        "slow: fails less and is slower +100% (20 ms against 10 ms a step, the medians 20 ms against 10 ms): slowness may be what hides the failure."
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
        "fast: fails more and is faster -50% (10 ms against 20 ms a step, the medians 10 ms against 20 ms): speed may be what brings"
        in notes(text)
    )
    assert rows(text)["fast"]["Against baseline"] == "worse (p = 0.00016); faster -50%"


def test_steps_that_cannot_be_compared_are_said():
    summaries = [stepped("none", 0, 9, 10), stepped("a", 0, 9, 10, source="wall_clock")]
    text = page([cell("none"), cell("a")], summaries)
    assert rows(text)["a"]["Step ms"] == "9.5 (p50 9.5, wall_clock)"
    told = notes(text)
    assert "a: steps are not compared: its step times are wall_clock, the baseline's per_step." in told


def test_cells_whose_steps_cannot_be_compared_alike_are_told_together():
    summaries = [stepped("none", 0, 9, 10), *(stepped(name, 0, 9, source="wall_clock") for name in "abc")]
    lines = notes(page([cell(name) for name in ("none", *"abc")], summaries)).splitlines()
    assert [line for line in lines if "steps are not compared" in line] == [
        "* a, b, c: steps are not compared: its step times are wall_clock, the baseline's per_step."
    ]


def test_that_no_cure_could_have_been_called_and_how_many_trials_could():
    cells = [cell(name, trials=10) for name in ("none", "a", "b", "c")]
    verdicts = {"none": "ffff" + "p" * 6, "a": "p" * 10, "b": "fff" + "p" * 7, "c": "ffff" + "p" * 6}
    made = [one for name, letters in verdicts.items() for one in trials(name, letters)]
    first, second = notes(page(cells, made)).strip().splitlines()
    assert first == (
        "* No difference seen: a, b, c (10 judged trials each): only failure rates of at least 100% would have"
        " been called; no cure could have been, not even one that never fails."
    )
    assert second == (
        "* Judged trials a cell with which rates as these would be called: a (0% against 40%): about"
        " 17, b (30% against 40%): about 287."
    )
    running = page(cells, made, State(word=RUNNING))
    assert "Judged trials a cell" not in running


def test_a_difference_that_no_number_of_trials_would_show():
    cells = [cell(name, trials=100) for name in ("none", "a")]
    text = notes(page(cells, [*trials("none", "f" * 50 + "p" * 50), *trials("a", "f" * 49 + "p" * 51)]))
    assert "a (49% against 50%): more than 1000." in text


def test_the_command_and_the_variables_of_each_cell():
    change = Change(set={"HSA_NO_SCRATCH_RECLAIM": "1", "SITE_TOKEN": "hunter2"}, unset=("A_B",))
    cells = [cell("none"), cell("a", layers=(Layer(source="mitigation a", change=change),))]
    text = page(cells, trials("none", "p"), command=("sh", "-c", "echo *"))
    assert "\n* Command: sh -c 'echo \\*'\n" in text
    head, *lines = text.partition("## Variables\n")[2].split("\n\n")[0].splitlines()
    assert (head, lines[0]) == ("", "* **none**: none is changed")
    assert lines[1].startswith("* **a**: A_B is taken away, HSA_NO_SCRATCH_RECLAIM=1, SITE_TOKEN=")
    assert "hunter2" not in text
    assert "## Variables" not in page([cell("none")], trials("none", "p"))


def test_steps_of_a_command_are_those_that_it_showed():
    command = ("sh", "x")
    shown = [stepped("none", 0, 9, 10, 11, 12, 13, 14, iterations=6)]
    text = page([cell("none")], shown, command=command, warmup_steps=1)
    assert "* Trials: 5 a cell, 6 steps each, of which 1 for warming up\n" in text
    assert "* Trials: 5 a cell\n" in page([cell("none")], trials("none", "p"), command=command)
    assert "* Trials: 5 a cell, 1 step each\n" in page([cell("none")], trials("none", "p"))


def test_failures_of_several_kinds_are_counted_by_kind():
    ids = {"tier1:sigsegv": 3, "tier2:hang": 2, "tier1:exit_nonzero": 3, "tier4:nan_signature": 1}
    made, number = [trial("a", 9)], 0
    for id_, times in ids.items():
        for _ in range(times):
            # A command that tells of NaN mostly exits with another status than 0 too.
            also = ("tier1:exit_nonzero",) if id_.startswith("tier4") else ()
            made.append(trial("a", number, "fail", failed=(*also, id_), exit_code=3, reason=f"of {id_}"))
            number += 1
    text = page([cell("none", trials=10), cell("a", trials=10)], made)
    assert (
        "  * failures by kind: tier1:sigsegv in 3, exit status 3 in 3, tier2:hang in 2, tier4:nan_signature in 1\n"
        in text
    )
    assert rows(text)["a"]["Top finding"] == "tier1:sigsegv in 3, 3 other kinds"
    line = end_summary(document([cell("none", trials=10), cell("a", trials=10)], made)).splitlines()[-1]
    assert line == (
        "  [fail] a: 9/10 failed: tier1:sigsegv in 3, exit status 3 in 3, tier2:hang in 2, tier4:nan_signature in"
        " 1; first: of tier1:sigsegv -> cells/a"
    )


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
        "  * failures by kind: exit N in 1, later in 1\n"
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
    assert escaped("/lib/ctypes/__init__.py a__b") == r"/lib/ctypes/\_\_init\_\_.py a__b"
    assert escaped("1 & 2 &amp; --flag #3") == r"1 & 2 \&amp; --flag #3"
    assert len(escaped("x" * 400)) == 301


def rendered(text):
    """Return a page as a renderer shows it: lines of text alone."""
    # It comes with rich, but not with the oldest that aorta takes.
    renderer = MarkdownIt("commonmark")
    made = renderer.enable(["table", "strikethrough"]).render(text)
    return re.sub(r" +", " ", html.unescape(re.sub(r"<[^>]*>", "", made))).strip()


#: How the page holds texts: the lines around them, and what is seen of those.
PLACES = {
    "line": ("* {}", "{}"),
    "told": ("* Command: {}", "Command: {}"),
    "bold": ("* **{}**: 1 of 2", "{}: 1 of 2"),
    "heading": ("# Sweep matrix: {}", "Sweep matrix: {}"),
    "callout": ("> **Stopped early ({}): 1 of 2.**", "Stopped early ({}): 1 of 2."),
    "link": ("  * first error, [{}](cells/a.json): x", "first error, {}: x"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_renderer_shows_texts_as_they_are(place):
    page, seen = PLACES[place]
    chance = random.Random(place)
    parts = [
        *"__***```[]()<>||\\&##~~!-+=.:;/$'\"  19aé",
        "__init__",
        "&amp;",
        "&#35;",
        "1.",
        "<b>",
        "](x)",
        "---",
    ]
    texts = ["/lib/python3.11/ctypes/__init__.py:519", "* a", "- - -", "1) x", "# a #", "`x` ~~y~~", "__x__"]
    texts += ["".join(chance.choices(parts, k=chance.randint(1, 12))) for _ in range(400)]
    for text in filter(None, (re.sub(" +", " ", one).strip() for one in texts)):
        assert rendered(page.format(escaped(text))) == seen.format(text), text


def test_a_renderer_shows_cells_of_the_table_as_they_are():
    chance = random.Random(5)
    for _ in range(300):
        text = "".join(chance.choices("_*`[]<>|\\&#~ x", k=6)).strip()
        shown = rendered(f"| Cell | B |\n| --- | --- |\n| {escaped(text)} | y |")
        assert [line.strip() for line in shown.splitlines() if line.strip()][2:] == [
            re.sub(" +", " ", one) for one in (text, "y") if one
        ], text


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
