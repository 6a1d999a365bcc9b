"""Cells against the baseline."""

import pytest

from aorta.sweep.outcome import PER_ITERATION

from .made import by_name, cell, document, stepped, trials


def compared(*cells, **options):
    """Return the comparisons of cells, each given as name and verdicts; the first is the baseline."""
    summaries = [one for name, verdicts in cells for one in trials(name, verdicts)]
    made = document([cell(name, trials=len(verdicts)) for name, verdicts in cells], summaries, **options)
    return {name: one["comparison"] for name, one in by_name(made).items()}


def test_a_cell_that_fails_always_beside_a_baseline_that_never_does_is_worse():
    found = compared(("none", "p" * 10), ("bad", "f" * 10))
    assert found["bad"]["call"] == "worse"
    assert found["bad"]["adjusted_p"] == pytest.approx(2 * found["bad"]["p_value"], rel=1e-5)
    assert found["none"]["call"] == "baseline"


def test_and_the_other_way_round_it_is_better():
    assert compared(("none", "f" * 10), ("good", "p" * 10))["good"]["call"] == "better"


def test_no_difference_says_what_would_have_been_called():
    found = compared(("none", "p" * 10), ("same", "p" * 10))["same"]
    assert found["call"] == "no_difference"
    assert (found["worse_from"], found["better_to"]) == (0.5, None)


def test_too_few_trials_are_no_sign_of_no_difference():
    found = compared(("none", "ppp"), ("bad", "fff"))["bad"]
    assert found["call"] == "too_few"
    assert found["worse_from"] is found["better_to"] is None


def test_both_directions_of_all_cells_are_one_family():
    """5 of 5 against 0 of 5 is p = 1/252: enough among four cells, of eight hypotheses, not among eight."""
    cells = [("none", "ppppp"), ("bad", "fffff"), *((f"c{number}", "ppppp") for number in range(7))]
    assert compared(*cells[:5])["bad"]["call"] == "worse"
    assert compared(*cells[:5])["bad"]["adjusted_p"] == pytest.approx(8 / 252, rel=1e-5)
    assert compared(*cells)["bad"]["call"] == "too_few"
    assert compared(*cells)["bad"]["adjusted_p"] == pytest.approx(16 / 252, rel=1e-5)


def test_cells_still_to_come_are_counted_from_the_start():
    cells = [cell(name, trials=5) for name in ("none", "bad", "c", "d", "e", "f", "g", "h", "i")]
    made = document(cells, [*trials("none", "ppppp"), *trials("bad", "fffff")])
    assert by_name(made)["bad"]["comparison"]["adjusted_p"] == pytest.approx(16 / 252, rel=1e-5)
    assert made["significance"] == {"alpha": 0.05, "hypotheses": 16}


def test_holm_steps_down():
    """The second of two that are equally bad needs less than the first."""
    found = compared(("none", "p" * 8), ("a", "f" * 8), ("b", "fffffppp"))
    assert found["a"]["adjusted_p"] == pytest.approx(4 * found["a"]["p_value"], rel=1e-5)
    assert found["b"]["adjusted_p"] == pytest.approx(3 * found["b"]["p_value"], rel=1e-5)
    assert found["b"]["call"] == "worse"


def test_without_a_judged_trial_of_the_baseline_nothing_is_compared():
    found = compared(("none", "eee"), ("a", "fff"))
    assert found["a"]["call"] == "not_comparable"
    assert "baseline none has no judged trial" in found["a"]["why"]


def test_a_cell_without_a_judged_trial_has_no_rate():
    made = by_name(document([cell("none"), cell("a")], [*trials("none", "ppp"), *trials("a", "eee")]))["a"]
    assert made["comparison"]["call"] == "not_comparable"
    assert made["failure_rate"] is made["failure_rate_interval"] is None
    assert made["error_rate"] == 1.0


def test_errors_are_no_failures():
    assert compared(("none", "p" * 10), ("a", "p" * 5 + "e" * 5))["a"]["call"] == "no_difference"


def paced(base, other, source="per_step", threshold=None, verdicts="pp"):
    from aorta.sweep.recipe.model import Confound

    options = {"confound": Confound(threshold=threshold)} if threshold else {}
    words = {"p": "pass", "f": "fail"}
    summaries = [
        *(stepped("none", n, 99, *base, verdict=words[verdicts[0]]) for n in range(2)),
        *(stepped("a", n, 99, *other, source=source, verdict=words[verdicts[1]]) for n in range(2)),
    ]
    return by_name(document([cell("none"), cell("a")], summaries, **options))


def test_slower_from_the_threshold_on():
    made = paced([10, 10], [11.5, 11.5])["a"]
    assert made["confound"] == {"tag": "slower", "percent": 15, "why": None}
    assert made["step_time_ratio"] == 1.15
    assert paced([10, 10], [11.4, 11.4])["a"]["confound"]["tag"] == "none"


def test_faster_is_seen_too():
    assert paced([20, 20], [10, 10])["a"]["confound"] == {"tag": "faster", "percent": 50, "why": None}
    assert paced([11.4], [10])["a"]["confound"]["tag"] == "none"


def test_the_threshold_is_the_recipe_s():
    assert paced([10, 10], [14, 14], threshold=1.5)["a"]["confound"]["tag"] == "none"


def test_unlike_sources_are_not_compared():
    made = paced([10, 10], [90, 90], source=PER_ITERATION)["a"]
    assert made["confound"]["tag"] == "n/a"
    assert "elapsed_per_iteration" in made["confound"]["why"]
    assert made["step_time_ratio"] is None


def test_no_times_are_not_compared():
    made = by_name(document([cell("none"), cell("a")], [*trials("none", "p"), stepped("a", 0, 1, 2)]))
    assert made["a"]["confound"]["why"] == "the baseline has no step times"
    assert made["none"]["mean_step_time_ms"] is None
    turned = by_name(document([cell("none"), cell("a")], [*trials("a", "p"), stepped("none", 0, 1, 2)]))
    assert turned["a"]["confound"]["why"] == "it has no step times"


def test_the_baseline_is_not_slower_for_being_first():
    """The first step of each trial is left out, so a cold start does not hide what is slower."""
    made = paced([10, 10], [10, 10])
    assert made["none"]["mean_step_time_ms"] == 10
    assert made["a"]["confound"]["tag"] == "none"
