"""A command that does nothing is noticed, and only judged for it when it does not end by itself."""

import os
import time

import pytest

from aorta.sweep.command import hang
from aorta.sweep.command.processes import Tree

SOON = {"hang_window_sec": 0.2, "hang_grace_period_at_start": 0.0}


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(hang, "_LOOK_S", 0.1)


def ids(outcome):
    return [one.id for one in outcome.findings]


def test_a_hang_is_ended_where_the_recipe_says_so(trials):
    outcome = trials.sh("echo x; sleep 100", end_on_hang=True, **SOON)
    assert (outcome.verdict, outcome.timed_out, ids(outcome)) == ("fail", False, ["tier2:hang"])
    assert outcome.reason.startswith("no output, no input and no processor time for")


def test_a_hang_that_lasts_to_the_end_of_the_time_is_a_failure(trials):
    outcome = trials.sh("sleep 100", timeout_per_trial=0.8, **SOON)
    assert (outcome.verdict, outcome.timed_out, ids(outcome)) == (
        "fail",
        True,
        ["tier1:timeout", "tier2:hang"],
    )


@pytest.mark.parametrize("code", [0, 2])
def test_one_that_ends_by_itself_is_only_noted(trials, code):
    outcome = trials.sh(f"sleep 0.8; exit {code}", **SOON)
    assert (outcome.verdict, outcome.exit_code) == ("pass" if not code else "fail", code)
    assert "tier2:hang" not in ids(outcome)
    assert "looked like a hang" in outcome.notes[-1]


ACTIVE = {
    "stdout": "while :; do echo x; sleep 0.03; done",
    "stderr": "while :; do echo x >&2; sleep 0.03; done",
    "processor": "while :; do :; done",
    "processor of a child elsewhere": "setsid sh -c 'while :; do :; done' & sleep 100",
    "reads": "while :; do head -c 100000 /dev/zero > /dev/null; done",
}


@pytest.mark.parametrize("script", ACTIVE.values(), ids=ACTIVE)
def test_work_is_no_hang(trials, script):
    recipe = {**SOON, "hang_window_sec": 0.7}
    outcome = trials.sh(script, timeout_per_trial=1.4, end_on_hang=True, **recipe)
    assert (outcome.verdict, outcome.timed_out, ids(outcome)) == ("error", True, ["tier1:timeout"])


@pytest.mark.parametrize(
    "recipe",
    [
        {"hang_grace_period_at_start": 10.0},
        {"hang_window_sec": 10.0},
        {"disable_detectors": ("tier2:hang",)},
        {"disable_detector_tiers": ("tier2",)},
    ],
)
def test_not_yet_or_not_at_all(trials, recipe):
    outcome = trials.sh("sleep 100", timeout_per_trial=0.5, end_on_hang=True, **{**SOON, **recipe})
    assert (outcome.verdict, ids(outcome)) == ("error", ["tier1:timeout"])


def test_a_window_of_a_second_takes_about_two(monkeypatch):
    """By a clock of its own."""
    monkeypatch.setattr(hang, "_LOOK_S", 1.0)
    begin = time.monotonic()
    watch = hang.HangWatch(Tree({}), (-1, -1), window_s=1.0, grace_s=0.0, ends=True)
    looks = 0
    while not watch.look(watch.next_at):
        looks += 1
        assert looks < 3
    assert watch.next_at - 1.0 - begin < 2.1


def test_a_hang_that_ends_is_none(tmp_path):
    handle = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    watch = hang.HangWatch(Tree({}), (handle, handle), window_s=1.0, grace_s=0.0, ends=False)
    now = watch.next_at
    watch.look(now + 1)
    assert watch.idle_s is not None
    os.write(handle, b"x")
    watch.look(now + 2)
    assert watch.idle_s is None
    os.close(handle)
