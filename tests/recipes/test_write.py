"""What is written is the recipe again."""

import contextlib
import os
import tempfile

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings

from aorta import __version__
from aorta.model.frozen import evolve
from aorta.sweep.definitions.registry import Environment, Mitigation, Registries
from aorta.sweep.recipe.cells import cells_of
from aorta.sweep.recipe.fingerprint import fingerprint
from aorta.sweep.recipe.load import load_recipe
from aorta.sweep.recipe.model import Change, EnvironmentRecipe, Recipe, Resolved
from aorta.sweep.recipe.problems import RecipeError
from aorta.sweep.recipe.rules import faults_of
from aorta.sweep.recipe.schema import recipe_schema
from aorta.sweep.recipe.write import to_yaml, with_definitions
from tests.recipes.strategies import recipes

VALIDATOR = jsonschema.Draft202012Validator(recipe_schema())
NOTHING = Registries(mitigations={}, environments={})
DEFINED = Registries(
    mitigations={
        "none": Mitigation(name="none", change=Change()),
        "xnack": Mitigation(name="xnack", change=Change(set={"HSA_XNACK": "1"})),
        "lean": Mitigation(
            name="lean", change=Change(unset=("A",), prepend={"PATH": "/x"}), source="sidecar:a.json"
        ),
    },
    environments={
        "local": Environment(name="local"),
        "image": Environment(name="image", docker="a/b:1", env=Change(set={"A": "b"})),
    },
)
PROBE = Recipe(mode="probe", trials=2, mitigation_axis=("none", "xnack"), diagnostic_axis=("none",))


def read_back(text):
    handle, path = tempfile.mkstemp(suffix=".yaml")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return load_recipe(path)
    finally:
        os.unlink(path)


def without_file(recipe):
    return evolve(recipe, source=None, sha256=None)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(recipes())
def test_a_recipe_comes_back(recipe):
    assume(not list(faults_of(recipe)))
    text = to_yaml(recipe, definitions=NOTHING)
    assert without_file(read_back(text)) == with_definitions(recipe, NOTHING)
    plain = yaml.safe_load(text)
    if all(isinstance(word, str) for word in plain.get("command", ())):
        assert [error.message for error in VALIDATOR.iter_errors(plain)] == []


def test_keys_are_in_the_order_of_the_model_and_no_default_is_written():
    recipe = evolve(PROBE, ticket="T-1", end_on_hang=True, source="some/r.yaml", sha256="ab")
    resolved = {
        "aorta": __version__,
        "fingerprint": fingerprint(recipe, NOTHING),
        "source": "some/r.yaml",
        "source_sha256": "ab",
    }
    assert yaml.safe_load(to_yaml(recipe, definitions=NOTHING)) == {
        "schema_version": 1,
        "mode": "probe",
        "ticket": "T-1",
        "trials": 2,
        "mitigation_axis": ["none", "xnack"],
        "diagnostic_axis": ["none"],
        "end_on_hang": True,
        "resolved": resolved,
    }
    keys = [line.partition(":")[0] for line in to_yaml(recipe, definitions=NOTHING).splitlines()]
    assert [key for key in keys if key.isidentifier()] == [
        "schema_version",
        "mode",
        "ticket",
        "trials",
        "mitigation_axis",
        "diagnostic_axis",
        "end_on_hang",
        "resolved",
    ]


def test_what_the_cells_name_is_embedded():
    recipe = read_back(to_yaml(evolve(PROBE, mitigation_axis=("none", "lean")), definitions=DEFINED))
    assert recipe.mitigations == {
        "none": Change(),
        "lean": Change(unset=("A",), prepend={"PATH": "/x"}),
    }
    assert recipe.environments == {"local": EnvironmentRecipe()}
    assert isinstance(recipe.resolved, Resolved)


def test_writing_again_is_the_same_recipe():
    once = read_back(to_yaml(PROBE, definitions=DEFINED))
    twice = read_back(to_yaml(once, definitions=DEFINED))
    assert evolve(without_file(twice), resolved=None) == evolve(without_file(once), resolved=None)
    assert once.resolved.fingerprint == twice.resolved.fingerprint


def test_the_command_keeps_its_bytes():
    words = (
        "prog",
        "",
        "a b",
        "no",
        "1",
        "\n",
        "é",
        b"\xff\xfe/x".decode("utf-8", "surrogateescape"),
        "-- x",
        "{}",
        "\x1b[0m",
        "\U0001f600",
    )
    recipe = read_back(to_yaml(evolve(PROBE, command=words), definitions=NOTHING))
    assert recipe.command == words
    assert os.fsencode(recipe.command[7]) == b"\xff\xfe/x"


def test_bytes_are_nowhere_else():
    text = to_yaml(PROBE, definitions=NOTHING) + "ticket: !!binary aGk=\n"
    with pytest.raises(RecipeError, match="ticket: expected a text, got binary data"):
        read_back(text)


def test_cells_are_the_product_of_the_axes_in_rows():
    recipe = evolve(PROBE, diagnostic_axis=("none", "lean"))
    assert [(cell.name, cell.mitigations) for cell in cells_of(recipe)] == [
        ("none-none", ("none", "none")),
        ("none-lean", ("none", "lean")),
        ("xnack-none", ("xnack", "none")),
        ("xnack-lean", ("xnack", "lean")),
    ]
    assert {cell.environment for cell in cells_of(recipe)} == {"local"}
    chosen = evolve(recipe, only=("none-lean", "xnack-none"), skip=("none-lean",))
    assert [cell.name for cell in cells_of(chosen)] == ["xnack-none"]


COUNTED = {
    "trials": 3, "mitigation_axis": ("xnack", "none"), "command": ("x",), "timeout_per_trial": 3.0, "env_passthrough_mode": "file",
    "step_time_regex": "(x)", "hang_window_sec": 3.0, "end_on_hang": True, "disable_detectors": ("tier2:hang",), "only": ("none-none",),
    "order": "interleaved", "fail_fast": True, "collect": {"rocprof": None},
}  # fmt: skip
NOT_COUNTED = {
    "ticket": "x", "source": "x", "sha256": "x", "warmup_steps": 3, "skip": ("other",), "mitigations": {"other": Change(set={"A": "b"})},
    "resolved": Resolved(aorta="1", fingerprint="x"),
}  # fmt: skip


@pytest.mark.parametrize("key", COUNTED)
def test_what_changes_what_runs_is_in_the_fingerprint(key):
    assert fingerprint(evolve(PROBE, **{key: COUNTED[key]}), DEFINED) != fingerprint(PROBE, DEFINED)


@pytest.mark.parametrize("key", NOT_COUNTED)
def test_what_does_not_is_not(key):
    assert fingerprint(evolve(PROBE, **{key: NOT_COUNTED[key]}), DEFINED) == fingerprint(PROBE, DEFINED)


def test_the_fingerprint_is_of_what_names_stand_for():
    other = {**DEFINED.mitigations, "xnack": Mitigation(name="xnack", change=Change(set={"HSA_XNACK": "0"}))}
    owner = {name: evolve(each, source="elsewhere") for name, each in DEFINED.mitigations.items()}
    print_ = fingerprint(PROBE, DEFINED)
    assert print_.startswith("sha256:") and len(print_) == 71
    assert fingerprint(PROBE, evolve(DEFINED, mitigations=other)) != print_
    assert fingerprint(PROBE, evolve(DEFINED, mitigations=dict(reversed(owner.items())))) == print_


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(recipes())
def test_the_fingerprint_is_the_same_when_it_is_read_again(recipe):
    assume(not list(faults_of(recipe)))
    back = read_back(to_yaml(recipe, definitions=DEFINED))
    assert fingerprint(back, DEFINED) == fingerprint(recipe, DEFINED) == back.resolved.fingerprint


def test_nothing_is_lost_by_the_emitter_in_python(monkeypatch):
    recipe = evolve(PROBE, command=("prog", "\x85", "\u2028", "\U0001f600", "no"))
    with contextlib.suppress(AttributeError):
        monkeypatch.delattr(yaml, "CSafeDumper")
    assert read_back(to_yaml(recipe, definitions=NOTHING)).command == recipe.command
