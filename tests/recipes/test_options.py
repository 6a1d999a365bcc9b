"""A recipe with options on top."""

import pytest

from aorta.model.frozen import evolve
from aorta.sweep.recipe.cells import cells_of
from aorta.sweep.recipe.model import CellRecipe, Confound, CustomPattern, Match, Recipe, StopAfter
from aorta.sweep.recipe.options import Options, overlaid
from aorta.sweep.recipe.problems import RecipeError


def cell(name, **members):
    return CellRecipe(name=name, mitigations=("none",), environment="local", **members)


TRIAGE = Recipe(
    workload="race", trials=9, steps=50, cells=(cell("one", trials=3), cell("two", steps=1, collect={}))
)
PROBE = Recipe(mode="probe", trials=2, mitigation_axis=("none", "xnack"), diagnostic_axis=("none",))
STOPPING = Recipe(
    workload="race",
    trials=9,
    steps=50,
    cells=(cell("one"),),
    stop_after=StopAfter(events=3, max_trials=20, event_verdict="error"),
)


def counts(recipe):
    return [(each.trials or recipe.trials, each.steps or recipe.steps) for each in cells_of(recipe)]


def told(recipe, **options):
    with pytest.raises(RecipeError) as caught:
        overlaid(recipe, Options(**options))
    return str(caught.value).split("\n")


def test_no_option_changes_nothing():
    for recipe in (TRIAGE, PROBE, STOPPING):
        assert overlaid(recipe, Options()) == recipe


def test_smoke_is_one_short_trial_of_each_cell():
    assert counts(overlaid(TRIAGE, Options(smoke=True))) == [(1, 2), (1, 1)]
    assert overlaid(STOPPING, Options(smoke=True)).stop_after is None
    assert overlaid(PROBE, Options(smoke=True)).trials == 1
    assert counts(overlaid(TRIAGE, Options(smoke=True, trials=2))) == [(2, 2), (2, 1)]


def test_trials_and_steps_are_of_all_cells():
    assert counts(overlaid(TRIAGE, Options(trials=4, steps=7))) == [(4, 7), (4, 7)]


def test_cells_are_chosen():
    assert counts(overlaid(TRIAGE, Options(only=("two",)))) == [(9, 1)]
    assert counts(overlaid(TRIAGE, Options(skip=("two",)))) == [(3, 50)]
    assert told(TRIAGE, only=("tow",)) == ["--only: 'tow' is no cell; did you mean two? cells: one, two"]
    assert told(TRIAGE, skip=("one", "two")) == ["--skip: no cell is left to be run"]
    assert told(TRIAGE, only=("one", "one")) == ["--only: [1]: one stands twice"]


def test_the_baseline_is_left_in():
    three = (*TRIAGE.cells, cell("three"))
    recipe = evolve(TRIAGE, cells=three, confound=Confound(baseline_cell="one"))
    assert told(recipe, only=("two", "three")) == [
        "confound.baseline_cell with --only: one is the baseline, and only or skip leaves it out"
    ]


def test_a_cell_alone_needs_no_baseline():
    recipe = evolve(TRIAGE, confound=Confound(baseline_cell="one"))
    assert overlaid(recipe, Options(only=("two",))).only == ("two",)


def test_early_ends():
    made = overlaid(evolve(TRIAGE, cells=(cell("one"),)), Options(stop_after_events=2, max_trials=5))
    assert made.stop_after == StopAfter(events=2, max_trials=5)
    assert overlaid(TRIAGE, Options(stop_after_events=2, max_trials=5)).cells[0].trials is None
    assert overlaid(STOPPING, Options(max_trials=40)).stop_after == StopAfter(
        events=3, max_trials=40, event_verdict="error"
    )
    assert told(TRIAGE, stop_after_events=2) == [
        "--stop-after-events: needs --max-trials, since the recipe has no stop_after"
    ]
    assert told(TRIAGE, max_trials=2) == [
        "--max-trials: needs --stop-after-events, since the recipe has no stop_after"
    ]
    assert told(STOPPING, max_trials=2) == ["--max-trials: is 2, fewer than the 3 events that are waited for"]
    assert told(STOPPING, trials=2) == ["--trials: means nothing with stop_after; give --max-trials"]
    assert told(TRIAGE, stop_after_events=0, max_trials=1)[0].endswith("is 0; the least is 1")


def test_values_are_checked_as_in_a_recipe():
    assert told(TRIAGE, trials=0, steps=0, ticket=" ") == [
        "--trials: is 0; the least is 1",
        "--steps: is 0; the least is 1",
        "--ticket: is empty",
    ]
    assert told(PROBE, env_passthrough_mode="none") == [
        "--env-passthrough-mode: is 'none'; allowed: inherit, file"
    ]
    assert told(PROBE, command=("-x",)) == [
        "COMMAND: [0]: '-x' looks like an option; it is the program to be run"
    ]


def test_options_of_the_other_kind_are_refused():
    assert told(TRIAGE, command=("x",), env_passthrough_mode="file", disable_detectors=("tier3",)) == [
        f"{name}: is for recipes that run a command; this one does not"
        for name in ("--env-passthrough-mode", "COMMAND", "--disable-detector")
    ]
    assert told(PROBE, steps=3) == ["--steps: is for recipes that run a workload; this one does not"]


def test_detectors_are_added():
    recipe = evolve(PROBE, disable_detectors=("tier2:hang",))
    made = overlaid(recipe, Options(disable_detectors=("tier3", "tier2:hang", "tier4:hip_error", "custom:x")))
    assert made.disable_detectors == ("tier2:hang", "tier4:hip_error", "custom:x")
    assert made.disable_detector_tiers == ("tier3",)
    assert told(PROBE, disable_detectors=("tier9",)) == [
        "--disable-detector: [0]: is 'tier9'; allowed: tier1, tier2, tier3, tier4, tier5"
    ]


def test_the_rest():
    made = overlaid(
        PROBE,
        Options(
            ticket="T-1",
            fail_fast=True,
            interleave=True,
            env_passthrough_mode="file",
            command=("a", ""),
        ),
    )
    assert (made.ticket, made.fail_fast, made.order) == ("T-1", True, "interleaved")
    assert (made.env_passthrough_mode, made.command) == ("file", ("a", ""))


def test_collectors_keep_their_options():
    recipe = evolve(TRIAGE, collect={"rocprof": {"level": "3"}, "amd_log": None})
    made = overlaid(recipe, Options(collect=("rocprof", "numerics")))
    assert made.collect == {"rocprof": {"level": "3"}, "numerics": None}
    assert made.cells[1].collect is None
    assert told(TRIAGE, collect=("rocprof", "proton"))[0].startswith("--collect: rocprof and proton")


def test_the_effect_of_a_pattern():
    pattern = CustomPattern(id="a", match=Match(regex="x"))
    assert (pattern.effect, evolve(pattern, required_for_pass=True).effect) == ("fail", "info")
