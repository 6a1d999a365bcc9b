"""What a recipe adds: patterns, step times, files of variables, what is kept."""

import os
import stat
import time
from pathlib import Path

import pytest

from aorta.sweep.command import blocks, keep, limited
from aorta.sweep.recipe.model import CustomPattern, Match, Retain


def pattern(regex, condition=None, **given):
    return CustomPattern(id="mine", match=Match(regex=regex, condition=condition), **given)


def ids(outcome):
    return [(one.id, one.effect) for one in outcome.findings]


@pytest.mark.parametrize(
    ("given", "verdict", "found"),
    [
        (pattern(r"^corrupt (?P<what>\w+)$"), "fail", [("custom:mine", "fail")]),
        (pattern(r"corrupt", on_match="warn"), "pass", [("custom:mine", "warn")]),
        (pattern(r"corrupt", on_match="info"), "pass", [("custom:mine", "info")]),
        (pattern(r"nowhere"), "pass", []),
        (pattern(r"corrupt", required_for_pass=True), "pass", [("custom:mine", "info")]),
        (pattern(r"nowhere", required_for_pass=True), "fail", [("meta:missing_pass_signal", "fail")]),
        (pattern(r"loss=(?P<loss>\S+)", "float(capture['loss']) > 5"), "fail", [("custom:mine", "fail")]),
        (pattern(r"loss=(?P<loss>\S+)", "float(capture['loss']) > 50"), "pass", []),
        (pattern(r"corrupt", "exit_code == 0 and walltime_sec < 50"), "fail", [("custom:mine", "fail")]),
        (pattern(r"^late$"), "fail", [("custom:mine", "fail")]),
        (pattern(r"^over$"), "fail", [("custom:mine", "fail")]),
    ],
)
def test_custom_patterns(trials, given, verdict, found):
    outcome = trials.sh(
        "echo loss=1; echo corrupt data >&2; echo loss=x; echo loss=9; printf 'over\\rwritten\\n'; printf late",
        custom_patterns=(given,),
    )
    assert (outcome.verdict, ids(outcome)) == (verdict, found)
    if given.match.regex.startswith("^corrupt"):
        assert (outcome.findings[0].where, outcome.findings[0].captured) == ("stderr:1", {"what": "data"})
    if given.match.condition and found and "loss" in given.match.condition:
        assert outcome.findings[0].where == "stdout:3"


def test_disabled_patterns_are_not_looked_for(trials):
    for disabled in ({"disable_detectors": ("custom:mine",)}, {"disable_detector_tiers": ("tier5",)}):
        outcome = trials.sh("echo x", custom_patterns=(pattern("x"),), **disabled)
        assert (outcome.verdict, ids(outcome)) == ("pass", [])


def test_a_regex_that_searches_for_ever_is_given_up(trials, monkeypatch):
    monkeypatch.setattr(limited, "BLOCK_S", 0.1)
    outcome = trials.sh(f"echo {'a' * 60}b", custom_patterns=(pattern(r"(a+)+$"),), step_time_regex=r"(a+)+$")
    assert (outcome.verdict, ids(outcome)) == ("error", [("custom:mine", "error")])
    assert outcome.reason == "custom:mine: the regular expression of mine took too long and was given up"
    assert "step_time_regex took too long and was given up" in outcome.notes


def test_a_regex_that_is_slow_in_every_block_is_given_up_too(monkeypatch):
    monkeypatch.setattr(limited, "TRIAL_S", 0.1)
    budget = limited.Budget()
    blocks_done = []

    def work():
        until = time.monotonic() + 0.01
        while time.monotonic() < until:
            pass
        blocks_done.append(1)

    while not budget.spent:
        assert len(blocks_done) < 20
        budget.do(work)


@pytest.mark.parametrize(
    ("regex", "times"),
    [
        (r"took (\d+) ms", (7.0, 8.0)),
        (r"took (?P<ms>\d+) (?P<unit>ms)", (7.0, 8.0)),
        (r"in (?P<s>[\d.]+) s", (1500.0,)),
    ],
)
def test_step_times(trials, regex, times):
    outcome = trials.sh("echo took 7 ms; echo in 1.5 s; echo took 8 ms >&2", step_time_regex=regex)
    assert (outcome.verdict, outcome.step_times_ms, outcome.step_time_source) == ("pass", times, "per_step")
    assert (outcome.iterations, outcome.configured_iterations) == (len(times), None)


def test_several_steps_on_a_line_that_is_overwritten(trials):
    outcome = trials.sh("printf 'step 1 ms step 2 ms\\rstep 3 ms\\n'", step_time_regex=r"step (\S+) ms")
    assert outcome.step_times_ms == (1.0, 2.0, 3.0)


def test_no_step_is_no_run(trials):
    outcome = trials.sh("echo starting", step_time_regex=r"took (\d+) ms")
    assert (outcome.verdict, outcome.reason) == ("error", "did not reach a step: exit status 0")
    assert (outcome.step_times_ms, outcome.step_time_source, outcome.iterations) == ((), "none", 0)


def test_without_a_regex_the_steps_share_the_time(trials):
    outcome = trials.execute(trials.runner("true"), steps=4)
    assert outcome.step_times_ms == (outcome.elapsed_s * 250,)
    outcome = trials.execute(trials.runner("false"), steps=4)
    assert outcome.step_time_source == "none"


def test_a_file_of_variables(trials):
    runner = trials.runner("sh", "-c", "cat $AORTA_ENV_FILE", env_passthrough_mode="file")
    outcome = trials.execute(runner, overlay={"B": "two words", "A": "1=1 #é", "GONE": None})
    assert outcome.verdict == "pass"
    assert Path(trials.files.stdout).read_text() == "A=1=1 #é\nB=two words\n"
    assert stat.S_IMODE(os.stat(trials.files.environ).st_mode) == 0o600
    assert "AORTA_ENV_FILE" not in trials.environ()


@pytest.mark.parametrize(
    "overlay",
    [
        {"A": "secret\nB=1"},
        {"A": "secret\r"},
        {"A": "secret\0"},
        {"A=B": "secret"},
        {"": "secret"},
        {"A\n": None},
    ],
)
def test_a_variable_that_no_file_holds(trials, tmp_path, overlay):
    runner = trials.runner("touch", str(tmp_path / "ran"), env_passthrough_mode="file")
    outcome = trials.execute(runner, overlay=overlay)
    assert (outcome.verdict, ids(outcome)) == ("error", [("meta:env_file_validation_failed", "error")])
    assert "secret" not in repr(outcome)
    assert not (tmp_path / "ran").exists()
    assert not os.path.exists(trials.files.environ)


def test_paths_are_collected(trials, tmp_path):
    place = tmp_path / "work"
    place.mkdir()
    outcome = trials.sh(
        f"cd {place}; echo 1 > a.csv; echo 2 > b.csv; mkdir d; echo 3 > d/a.csv; mkfifo pipe; echo 4 > $AORTA_ARTIFACT_DIR/own",
        {"PLACE": str(place)},
        collect_paths=(
            "$PLACE/*.csv",
            "${PLACE}/d/a.csv",
            "$NOTHING/x",
            f"{place}/none",
            f"{place}/pipe",
            f"{place}/d",
            "$AORTA_ARTIFACT_DIR/*",
        ),
    )
    folder = Path(trials.files.folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "a.csv": "1\n",
        "b.csv": "2\n",
        "a-2.csv": "3\n",
        "own": "4\n",
    }
    assert [note.partition("collect_paths: ")[2] for note in outcome.notes if "collect" in note] == [
        "$NOTHING/x names a variable that the trial does not have",
        f"nothing was found at {place}/none",
        f"{place}/pipe was left out: it is no regular file",
        f"{place}/d was left out: Is a directory",
    ]


def test_collecting_ends_somewhere(trials, tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "MOST_BYTES", 5)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.out").write_text("123")
    outcome = trials.sh("true", collect_paths=(f"{tmp_path}/*.out",))
    assert os.listdir(trials.files.folder) == ["a.out"]
    assert len([note for note in outcome.notes if "would be kept" in note]) == 2


@pytest.mark.parametrize(
    ("level", "left"),
    [
        ("full", {".stdout.log", ".stderr.log", ".files/big", ".files/d/x.summary.json", ".files/l"}),
        ("summary", {".stdout.log", ".stderr.log", ".files/d/x.summary.json"}),
        ("log", {".stdout.log", ".stderr.log"}),
        ("none", set()),
    ],
)
@pytest.mark.parametrize(
    ("verdict", "script"), [("pass", "exit 0"), ("fail", "exit 3"), ("error", "kill -9 $$")]
)
def test_what_is_kept(trials, tmp_path, level, left, verdict, script):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("x")
    outcome = trials.sh(
        f"cd $AORTA_ARTIFACT_DIR; mkdir d; echo 1 > big; echo 2 > d/x.summary.json; ln -s {elsewhere} l; {script}",
        retain=Retain(**{f"on_{verdict}": level}),
    )
    assert outcome.verdict == verdict
    stem = trials.files.stem
    found = {
        path[len(stem) :]
        for path in (str(one) for one in tmp_path.rglob("*"))
        if path.startswith(stem) and (os.path.islink(path) or os.path.isfile(path))
    }
    assert {one for one in found if not one.startswith(".files/l/")} == left
    assert (elsewhere / "mine").exists()
    assert any("not kept" in note for note in outcome.notes) == (level != "full")


def test_the_steps_of_a_long_progress_bar_count_once(trials, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 256)
    monkeypatch.setattr(blocks, "OVERLAP_BYTES", 64)
    outcome = trials.python(
        "for i in range(500): print(f'step {i} ms', end='\\r')", step_time_regex=r"step (\d+) ms"
    )
    assert outcome.step_times_ms == tuple(map(float, range(500)))
    # A line that is too long is cut off, and its rest is not taken for another one.
    outcome = trials.python("print('step 1 ms' * 300); print('step 2 ms')", step_time_regex=r"^step (\d+) ms")
    assert outcome.step_times_ms == (1.0, 2.0)
