"""What the rules allow: for each of them a recipe next to the one that is refused."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from aorta.sweep.recipe.cells import cells_of
from aorta.sweep.recipe.load import load_recipe
from aorta.sweep.recipe.model import Change, Confound, InlineEnvironment, Redaction, StopAfter
from aorta.sweep.recipe.schema import recipe_schema

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "recipes").rglob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(recipe_schema())
TRIAGE = """schema_version: 1
workload: race
trials: 2
steps: 5
cells:
  - {name: one, mitigations: [none], environment: local}
  - {name: two, mitigations: [xnack, none], environment: local}
"""
COMMAND = TRIAGE.replace("race", "command").replace("steps: 5\n", "")
PROBE = """schema_version: 1
mode: probe
trials: 2
mitigation_axis: [none, xnack]
diagnostic_axis: [none]
"""

RIGHT = [
    TRIAGE,
    COMMAND,
    PROBE,
    "mode: triage\n" + TRIAGE,
    TRIAGE + "ticket: null\n",
    TRIAGE + 'ticket: "1234"\n',
    TRIAGE + "ticket: TICKET-1 with words\n",
    TRIAGE + "trial_timeout: 3\n",
    TRIAGE + "trial_timeout: null\n",
    PROBE + "timeout_per_trial: 0.5\n",
    TRIAGE + "confound: {threshold: 1, baseline_cell: null}\n",
    TRIAGE + "confound: {baseline_cell: two}\nonly: [two]\n",
    PROBE + "confound: {baseline_cell: xnack-none}\n",
    TRIAGE + "  - {name: three, mitigations: [none], environment: local, trials: 4, collect: []}\n",
    TRIAGE + "stop_after: {events: 3, max_trials: 3, event_verdict: error}\n",
    TRIAGE + "collect: [rocprof, numerics]\n",
    TRIAGE + "collect: {rocprof: , proton: {backend: instrumentation}}\n",
    TRIAGE + 'extra_env: {A: "", _b1: "1", HSA_XNACK: "off"}\n',
    TRIAGE + "workload_config: {a: [1, 2.5, null, {b: true}], steps_of_mine: 1_000, _aorta: x}\n",
    TRIAGE + "trial_isolation: process\nsave_logs: yes\n",
    TRIAGE + "skip: [one]\nonly: [one, two]\n",
    TRIAGE + "order: interleaved\nfail_fast: on\nwarmup_steps: 0\n",
    TRIAGE + "mitigations: {fast: {FAST: b}, set: {set: x}, lean: {unset: [A], prepend: {PATH: /x}}}\n",
    TRIAGE + "environments: {image: {docker: a/b, venv: null, env: {A: b}}, bare: {}}\n",
    TRIAGE + "resolved: {aorta: 1.0.0, fingerprint: x}\n",
    PROBE + "command: [bash, -c, '', \"é\"]\n",
    COMMAND + "command: [bash]\nend_on_hang: true\nstep_time_regex: '(?P<s>[0-9]+)(x)'\n",
    PROBE + "step_time_regex: '([0-9]+) ms'\n",
    PROBE + "step_time_regex: null\n",
    PROBE + "custom_patterns:\n  - {id: a, match: {regex: x}, required_for_pass: true}\n",
    PROBE + "custom_patterns:\n  - {id: a, match: {regex: x}, required_for_pass: true, on_match: info}\n",
    PROBE + "custom_patterns:\n  - {id: a, match: {regex: '(?P<b>x)', condition: \"capture['b'] == 'x'\"}}\n",
    PROBE + "disable_detectors: [tier4:hip_error, 'custom:mine']\ndisable_detector_tiers: [tier3, tier5]\n",
    PROBE + "hang_window_sec: 0.1\nhang_grace_period_at_start: 0\ntier3_vram_growth: no\n",
    PROBE + "retain: {on_pass: none, on_error: summary}\nredaction: {scrub_env_keys: ['*KEY*']}\n",
    PROBE + "env_passthrough_mode: file\ncollect_paths: ['${AORTA_ARTIFACT_DIR}/x']\n",
]


@pytest.mark.parametrize("text", RIGHT)
def test_it_is_a_recipe_and_the_schema_says_so_too(text, load):
    load(text)
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))] == []


def test_what_is_read_is_what_stands_there(load):
    recipe = load(
        TRIAGE.replace("environment: local", "environment: {docker: a/b:1, env: {A: b}}", 1)
        + "stop_after: {events: 3, max_trials: 5}\nconfound: {threshold: 2}\ncollect: [rocprof, amd_log]\n"
        + "mitigations: {fast: {FAST: b}, lean: {set: {X: y}, unset: [A], prepend: {PATH: /x}}}\n"
        + "trial_timeout: 3\n"
    )
    assert recipe.cells[0].environment == InlineEnvironment(docker="a/b:1", env={"A": "b"})
    assert recipe.stop_after == StopAfter(events=3, max_trials=5, event_verdict="fail")
    assert recipe.confound == Confound(threshold=2.0)
    assert recipe.collect == {"rocprof": None, "amd_log": None}
    assert recipe.mitigations["fast"] == Change(set={"FAST": "b"})
    assert recipe.mitigations["lean"] == Change(set={"X": "y"}, unset=("A",), prepend={"PATH": "/x"})
    assert (recipe.timeout_s, type(recipe.timeout_s)) == (3.0, float)
    assert recipe.redaction == Redaction()
    assert recipe.source.endswith("r.yaml") and len(recipe.sha256) == 64


def test_all_that_is_wrong_is_told_even_beside_cells_that_are(faults):
    text = TRIAGE.replace("[none]", "none").replace("[xnack, none]", "[]") + "only: [tow]\n"
    assert [line.split(": ")[1] for line in faults(text)] == [
        "cells[0].mitigations",
        "cells[1].mitigations",
        "only[0]",
    ]


def test_a_problem_says_where_it_is(load):
    with pytest.raises(ValueError, match="trials") as caught:
        load(TRIAGE.replace("trials: 2", "trials: 0"))
    (problem,) = caught.value.problems
    assert (problem.path, problem.text, problem.line, problem.column) == (
        "trials",
        "is 0; the least is 1",
        3,
        9,
    )


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_recipes_that_come_with_aorta(path):
    recipe = load_recipe(str(path))
    names = [cell.name for cell in cells_of(recipe)]
    assert recipe.confound.baseline_cell in names or "baseline" in names
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(path.read_text("utf-8")))] == []
    first = path.read_text("utf-8").partition("\n")[0]
    assert (path.parent / first.partition("$schema=")[2]).resolve() == ROOT / "schema" / "recipe-1.json"


def test_each_is_in_the_list_of_recipes():
    listed = (ROOT / "recipes" / "README.md").read_text("utf-8")
    assert [path.name for path in SHIPPED if f"`{path.relative_to(ROOT / 'recipes')}`" not in listed] == []
    assert len(SHIPPED) >= 10
