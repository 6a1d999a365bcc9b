"""From a recipe to cells and trials."""

import pytest

from aorta.sweep.errors import PlanError
from aorta.sweep.planning.overlay import overlay_of
from aorta.sweep.planning.plan import inline_name, sequence
from aorta.sweep.recipe.model import Change, Confound, EnvironmentRecipe, InlineEnvironment, Recipe, StopAfter
from tests.sweep_plan.conftest import cell, command, plan_of, probe


def refused(recipe, *sidecars):
    with pytest.raises(PlanError) as caught:
        plan_of(recipe, *sidecars)
    return caught.value.problems


def test_a_cell_takes_what_it_does_not_say_from_the_recipe():
    plan = plan_of(
        command(
            cell("a", workload_config={"x": 1}),
            cell("b", trials=7, steps=8, workload_config={"y": {"z": 2}}),
            trials=3,
            steps=4,
            workload_config={"x": 0, "y": 0},
        )
    )
    a, b = plan.cells
    assert (a.trials, a.steps, a.workload_config) == (3, 4, {"x": 1, "y": 0})
    assert (b.trials, b.steps, b.workload_config) == (7, 8, {"x": 0, "y": {"z": 2}})
    assert (plan.workload, plan.isolation, plan.baseline) == ("command", "process", "a")


def test_the_layers_in_their_order():
    recipe = command(
        cell("a", "xnack", "hsa_no_sdma", environment="there", extra_env={"D": "cell", "HSA_XNACK": "7"}),
        extra_env={"C": "recipe", "D": "recipe"},
        environments={"there": EnvironmentRecipe(env=Change(set={"A": "1", "D": "environment"}))},
    )
    (planned,) = plan_of(recipe).cells
    assert [(one.source, one.owner) for one in planned.layers] == [
        ("environment there", "recipe"),
        ("mitigation xnack", "aorta"),
        ("mitigation hsa_no_sdma", "aorta"),
        ("recipe extra_env", "recipe"),
        ("cell extra_env", "recipe"),
    ]
    assert overlay_of(planned.layers, {}) == {
        "A": "1",
        "HSA_XNACK": "7",
        "HSA_ENABLE_SDMA": "0",
        "C": "recipe",
        "D": "cell",
    }


def test_mitigations_that_undo_each_other():
    assert refused(command(cell("a", "fa_prefer_ck", "fa_prefer_aotriton"), cell("b"))) == (
        (
            "cell a: mitigation fa_prefer_ck sets TORCH_ROCM_FA_PREFER_CK, and mitigation fa_prefer_aotriton "
            "sets it to another value; only extra_env may change what a mitigation does"
        ),
    )
    (problem,) = refused(probe(("none", "hsa_disable_cache"), ("none", "hsa_enable_cache")))
    assert problem.startswith("cell hsa_disable_cache-hsa_enable_cache: mitigation hsa_disable_cache sets")
    (both,) = plan_of(
        command(cell("a", "xnack", extra_env={"HSA_XNACK": "0"})),
    ).cells
    assert overlay_of(both.layers, {}) == {"HSA_XNACK": "0"}


def test_two_axes():
    plan = plan_of(probe(trials=2))
    assert [one.name for one in plan.cells] == [
        "none-none",
        "none-amd_log_level_4",
        "xnack-none",
        "xnack-amd_log_level_4",
    ]
    last = plan.cells[-1]
    assert (last.mitigations, last.diagnostic, last.steps, last.trials) == (
        ("xnack",),
        "amd_log_level_4",
        1,
        2,
    )
    assert overlay_of(last.layers, {}) == {"HSA_XNACK": "1", "AMD_LOG_LEVEL": "4"}
    assert (plan.baseline, plan.isolation) == ("none-none", "process")
    same = plan_of(probe(("xnack",), ("xnack",))).cells[0]
    assert [one.source for one in same.layers] == ["environment local", "mitigation xnack"]


def test_unknown_names_all_at_once():
    assert refused(
        command(cell("a", "xnak"), cell("b", environment="locl"), cell("c"), cell("d", "xnak"))
    ) == (
        "cells a, d: no mitigation is called 'xnak': did you mean xnack? aorta sweep list-mitigations shows all",
        "cell b: no environment is called 'locl': did you mean local? aorta sweep list-environments shows all",
    )


def test_the_name_of_a_variable_is_no_mitigation():
    (line,) = refused(command(cell("a", "HSA_XNACK")))
    assert line == (
        "cell a: no mitigation is called 'HSA_XNACK': HSA_XNACK is set by xnack; to set a variable, define a "
        'mitigation in the recipe, as in mitigations: {NAME: {HSA_XNACK: "VALUE"}}; aorta sweep '
        "list-mitigations shows all"
    )


BASELINES = {
    "named": (Confound(baseline_cell="b"), (cell("a"), cell("b", "xnack")), "b"),
    "prefix": (Confound(), (cell("a"), cell("baseline-x", "xnack")), "baseline-x"),
    "none": (Confound(), (cell("a", "xnack"), cell("b"), cell("c")), "b"),
    "only": (Confound(), (cell("a", "xnack"),), "a"),
}


@pytest.mark.parametrize("case", BASELINES)
def test_the_baseline(case):
    confound, cells, baseline = BASELINES[case]
    assert plan_of(command(*cells, confound=confound)).baseline == baseline


def test_no_baseline():
    two = (cell("a", "xnack"), cell("b", "none", "tf32_off"))
    assert refused(command(*two)) == (
        (
            "there is no cell to compare the others with: name one in confound.baseline_cell, or add one "
            "whose name begins with baseline- or whose mitigations are [none]"
        ),
    )
    assert refused(command(*two, confound=Confound(baseline_cell="c"))) == (
        "confound.baseline_cell c is no cell of the recipe",
    )


def test_the_baseline_of_two_axes():
    assert plan_of(probe(("xnack", "none"), ("amd_log_level_4", "none"))).baseline == "none-none"
    assert plan_of(probe(("xnack", "tf32_off"), ("none",))).baseline == "xnack-none"
    assert plan_of(probe(confound=Confound(baseline_cell="xnack-none"))).baseline == "xnack-none"


def test_cells_that_are_left_out():
    cells = (cell("a"), cell("b", "xnack"), cell("c", "tf32_off"))
    assert [one.name for one in plan_of(command(*cells, skip=("b",))).cells] == ["a", "c"]
    alone = plan_of(command(*cells, only=("c",), confound=Confound(baseline_cell="a")))
    assert ([one.name for one in alone.cells], alone.baseline) == (["c"], None)
    assert refused(command(*cells, skip=("a",), confound=Confound(baseline_cell="a"))) == (
        (
            "confound.baseline_cell a is not among the cells that run: take it in with --only a, or leave it "
            "out of --skip"
        ),
    )
    assert refused(probe(skip=("none-none",), confound=Confound(baseline_cell="none-none")))


@pytest.mark.parametrize(
    ("recipe", "baseline"),
    [
        # What is left changes something.
        (probe(only=("none-amd_log_level_4",)), None),
        (probe(skip=("none-none",)), None),
        (probe(("xnack", "tf32_off"), ("none",), only=("tf32_off-none",)), None),
        (command(cell("a"), cell("b", "xnack"), only=("b",)), None),
        (command(cell("a"), cell("b", "xnack"), cell("c", "tf32_off"), skip=("a",)), None),
        (command(cell("a"), cell("b", extra_env={"A": "1"}), skip=("a",)), None),
        # What is left is the baseline of the recipe, or changes nothing either.
        (probe(("xnack", "tf32_off"), ("none",), skip=("tf32_off-none",)), "xnack-none"),
        (command(cell("a"), cell("b", "xnack"), cell("c"), skip=("a",)), "c"),
        (command(cell("baseline-a", "xnack"), cell("b", "xnack"), cell("c"), skip=("baseline-a",)), "c"),
    ],
)
def test_the_baseline_when_the_recipes_own_is_left_out(recipe, baseline):
    assert plan_of(recipe).baseline == baseline


def test_images_that_a_cell_describes():
    assert inline_name("foo/bar:1", {}) == "_inline_a71878b3"
    assert inline_name("foo/bar:1", {"A": "1", "B": "2"}) == inline_name("foo/bar:1", {"B": "2", "A": "1"})
    assert inline_name("foo/bar:1", {"A": "1"}) != inline_name("foo/bar:1", {})
    inline = InlineEnvironment(docker="foo/bar:1", env={"A": "1"})
    (planned,) = plan_of(command(cell("a", environment=inline))).cells
    place = planned.environment
    assert (place.docker, place.boundary, place.source) == ("foo/bar:1", "container", "recipe")
    assert place.name == inline_name("foo/bar:1", {"A": "1"})
    assert overlay_of(planned.layers, {}) == {"A": "1"}


def test_two_environments_of_one_directory():
    name = inline_name("foo/bar:1", {})
    recipe = command(
        cell("a", environment=name),
        cell("b", environment=name + "!"),
        environments={
            name: EnvironmentRecipe(),
            name + "!": EnvironmentRecipe(),
            name + "_": EnvironmentRecipe(),
        },
    )
    assert plan_of(recipe).cells
    clash = command(*recipe.cells, cell("c", environment=name + "_"), environments=recipe.environments)
    assert refused(clash) == (f"environments {name}! and {name}_: both are kept in environments/{name}_",)


def test_a_virtual_environment_is_entered(sidecar):
    path = sidecar(environments={"v": {"venv": "/opt/v", "env": {"prepend": {"PATH": "/more"}}}})
    (planned,) = plan_of(command(cell("a", environment="v")), path).cells
    assert overlay_of(planned.layers, {"PATH": "/bin", "PYTHONHOME": "/x"}) == {
        "PATH": "/more:/opt/v/bin:/bin",
        "VIRTUAL_ENV": "/opt/v",
        "PYTHONHOME": None,
    }
    assert {one.source for one in planned.layers} == {"environment v", "mitigation none"}


def order(recipe):
    return [f"{one.name}{trial}" for one, trial in sequence(plan_of(recipe))]


def test_the_order_of_trials():
    cells = (cell("a", trials=1), cell("b", trials=3), cell("c"))
    assert order(command(*cells, trials=2)) == ["a0", "b0", "b1", "b2", "c0", "c1"]
    assert order(command(*cells, trials=2, order="interleaved")) == ["a0", "b0", "c0", "b1", "c1", "b2"]


def test_stop_after_has_its_own_number_of_trials():
    rule = StopAfter(events=2, max_trials=4)
    plan = plan_of(command(cell("a"), trials=1, stop_after=rule))
    assert (plan.cells[0].trials, plan.cells[0].stop_after) == (4, rule)


@pytest.fixture(autouse=True)
def workloads(monkeypatch):
    module = "tests.sweep_plan.workloads_for_plans"
    names = ("Plain", "Either", "Apart", "Containers", "Pair", "Loose")
    monkeypatch.setenv("AORTA_WORKLOADS", ",".join(f"{name.lower()}={module}:{name}" for name in names))


ISOLATIONS = {
    ("plain", "auto"): "in_process",
    ("plain", "in_process"): "in_process",
    ("plain", "process"): (
        "trial_isolation process: workload plain supports in_process; to allow it, write "
        'trial_isolation_supported = {"in_process", "process"} into its class'
    ),
    ("either", "auto"): "in_process",
    ("either", "process"): "process",
    ("apart", "auto"): "process",
    ("apart", "process"): "process",
    ("apart", "in_process"): "trial_isolation in_process: workload apart requires process; leave the key out",
    ("command", "auto"): "process",
    ("command", "in_process"): "trial_isolation in_process: a command is always a process of its own",
}


@pytest.mark.parametrize("case", ISOLATIONS, ids="-".join)
def test_isolation(case):
    workload, wanted = case
    recipe = Recipe(workload=workload, trial_isolation=wanted, cells=(cell("a"),))
    expected = ISOLATIONS[case]
    if " " in expected:
        assert refused(recipe) == (expected,)
    else:
        assert plan_of(recipe).isolation == expected


def test_a_virtual_environment_makes_processes():
    places = {"v": EnvironmentRecipe(venv="/opt/v")}

    def recipe(workload, **more):
        return Recipe(
            workload=workload, cells=(cell("a"), cell("b", environment="v")), environments=places, **more
        )

    assert plan_of(recipe("either")).isolation == "process"
    reason = "cell b: environment v has an interpreter of its own"
    assert refused(recipe("either", trial_isolation="in_process")) == (
        f"{reason}, so trial_isolation cannot be in_process",
    )
    assert refused(recipe("plain")) == (f"{reason}, and workload plain runs only in aorta's own process",)


def test_an_unknown_workload_says_what_there_is():
    (problem,) = refused(Recipe(workload="rase", cells=(cell("a"),)))
    assert "no workload is called 'rase': did you mean race?" in problem
