"""What the trials of a cell add up to."""

import pytest

from aorta.sweep.matrix.tally import Tally, outcome_of
from aorta.sweep.outcome import NO_SOURCE, PER_ITERATION, PER_STEP, WALL_CLOCK

from .made import stepped, trial, trials


def of(*summaries, warmup=0):
    tally = Tally(warmup)
    for summary in summaries:
        tally.add(summary)
    return tally


def test_errors_are_no_part_of_the_rate():
    tally = of(*trials("a", "ppfeeee"))
    assert tally.verdicts == {"pass": 2, "fail": 1, "error": 4}
    assert tally.failure_rate == pytest.approx(1 / 3)
    assert tally.error_rate == pytest.approx(4 / 7)
    assert tally.is_unreliable


def test_a_cell_without_a_judged_trial_has_no_rate():
    assert of(*trials("a", "ee")).failure_rate is None
    assert of().failure_rate is of().error_rate is None
    assert not of().is_unreliable


@pytest.mark.parametrize(("verdicts", "unreliable"), [("e" + "p" * 9, True), ("e" + "p" * 10, False)])
def test_unreliable_from_a_tenth_on(verdicts, unreliable):
    assert of(*trials("a", verdicts)).is_unreliable is unreliable


def test_exits_by_status_and_signal():
    tally = of(
        trial("a", 0, exit_code=0),
        trial("a", 1, "fail", signal="SIGSEGV"),
        trial("a", 2, exit_code=0),
        trial("a", 3),
    )
    assert tally.exits == {"0": 2, "SIGSEGV": 1}


def test_warming_up_is_left_out_of_each_trial():
    tally = of(stepped("a", 0, 50, 10, 12), stepped("a", 1, 40, 11), warmup=1)
    assert tally.samples.summed().max == 12
    assert len(tally.samples) == 3


def test_a_trial_that_is_all_warming_up_counts_whole():
    assert of(stepped("a", 0, 50), warmup=1).samples.mean == 50
    assert of(stepped("a", 0, 50, 60), warmup=2).samples.mean == 55


def test_only_steps_that_were_timed_can_be_warming_up():
    tally = of(stepped("a", 0, 50, 10, source=PER_ITERATION), warmup=1)
    assert len(tally.samples) == 2


def test_the_source_is_the_worst_that_contributed():
    assert (
        of(stepped("a", 0, 1), stepped("a", 1, 1, source=WALL_CLOCK), stepped("a", 2, 1)).source == WALL_CLOCK
    )
    assert of(stepped("a", 0, 1), trial("a", 1)).source == PER_STEP
    assert of(trial("a", 0)).source == NO_SOURCE
    assert of(stepped("a", 0, source=PER_STEP), stepped("a", 1, 2, source=WALL_CLOCK)).source == WALL_CLOCK


def test_trials_without_a_verdict_time_nothing():
    assert of(stepped("a", 0, 5, verdict="error", source=WALL_CLOCK), stepped("a", 1, 7)).source == PER_STEP


def test_metrics_are_numbers_that_measure():
    metrics = {
        "loss": 2,
        "rank": 3,
        "PID": 7,
        "exit_code": 0,
        "ok": True,
        "name": "x",
        "bad": float("nan"),
        "huge": 10**400,
    }
    tally = of(
        trial("a", 0, metrics=metrics),
        trial("a", 1, metrics={"loss": 4.0, "big": 1.7e308}),
        trial("a", 2, metrics={"big": 1.7e308}),
        trial("a", 3, "fail", metrics={"loss": 100}),
    )
    found = dict(tally.metrics())
    assert list(found) == ["big", "loss"]
    assert (found["loss"].mean, found["loss"].min, found["loss"].max, found["loss"].n) == (3.0, 2.0, 4.0, 2)
    assert found["big"].mean == pytest.approx(1.7e308)


def test_detectors_count_once_a_trial():
    tally = of(
        trial("a", 0, "fail", failed=("x", "x", "y"), warned=("w",)), trial("a", 1, "fail", failed=("y",))
    )
    assert tally.detectors == {"y": 2, "x": 1}
    assert tally.warned == {"w": 1}


def test_hints_are_counted_without_secrets():
    tally = of(
        trial("a", 0, hint="see https://u:pa55word@h/x"), trial("a", 1, hint="b"), trial("a", 2, hint="b")
    )
    assert tally.hints["b"] == 2
    assert "pa55word" not in str(tally.hints)


def test_environments_by_digest():
    tally = of(
        trial("a", 0, env_digest="d1"),
        trial("a", 1, env_digest="d2"),
        trial("a", 2, env_digest="d1"),
        trial("a", 3),
    )
    assert {digest: list(numbers) for digest, numbers in tally.digests.items()} == {"d1": [0, 2], "d2": [1]}


@pytest.mark.parametrize(
    ("done", "configured", "outcome"),
    [
        (None, 10, "unknown"),
        (0, 10, "did_not_run"),
        (3, 10, "stopped_early"),
        (10, 10, "completed"),
        (10, None, "completed"),
    ],
)
def test_how_far_a_trial_came(done, configured, outcome):
    assert outcome_of(trial("a", 0, iterations=done, configured_iterations=configured)) == outcome


def test_iterations_of_a_cell():
    tally = of(
        trial("a", 0, iterations=7, configured_iterations=9), trial("a", 1, iterations=0), trial("a", 2)
    )
    assert tally.iterations == [0, 7, 9]
