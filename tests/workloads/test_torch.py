"""``race`` and ``training`` with a real torch on CPUs: two ranks, gloo."""

import os
import sys

import pytest

from aorta.sweep.definitions.registry import Environment
from tests.parts import torches
from tests.workloads.launching import launch

SMALL = {"model": {"vocab_size": 64, "hidden_size": 16, "ffn_size": 32}, "seq_len": 8}


@pytest.fixture(scope="module")
def python():
    """An interpreter with torch."""
    return torches.python()


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"mode": "ddp", "ddp_bucketed": True, "optimizer": "adamw"},
        {"mode": "fsdp", "compute_type": "transformer", "deterministic": True},
    ],
)
def test_race_finds_nothing_where_nothing_is(tmp_path, python, config):
    told = launch(tmp_path, "race", config, python=python)
    assert [one["verdict"] for one in told] == ["pass", "pass"], told
    assert all(len(one["step_times_ms"]) == 3 and one["step_time_source"] == "per_step" for one in told)
    assert all(one["metrics"]["device"] == "cpu" and one["metrics"]["local_world_size"] == 2 for one in told)


@pytest.mark.parametrize(
    ("config", "kind", "layer"),
    [
        ({}, "all_to_all", 0),
        ({"mode": "ddp", "dtype": "float32"}, "gradient", 3),
        ({"mode": "fsdp", "stop_on_first_corruption": False}, "all_gather_forward", 2),
    ],
)
def test_race_finds_one_flipped_bit(tmp_path, python, config, kind, layer):
    """It says in which rank, layer and iteration; the other rank saw nothing, and ended with it."""
    inject = {"rank": 1, "layer": layer, "iteration": 1}
    told = launch(tmp_path, "race", {**config, "inject": inject}, python=python)
    assert [one["verdict"] for one in told] == ["pass", "fail"], told
    first = told[1]["failure_details"][0]
    assert {key: first[key] for key in ("rank", "layer", "iteration")} == inject
    assert (first["type"], first["wrong_values"]) == (kind, 1)
    assert f"{kind}: 1 wrong values on rank 1, layer {layer}, iteration 1" in told[1]["reason"]
    steps = 3 if config.get("stop_on_first_corruption") is False else 2
    assert [len(one["step_times_ms"]) for one in told] == [steps, steps]


@pytest.mark.parametrize(
    "config",
    [
        {"parallelism": "fsdp", "dtype": "bfloat16"},
        {"parallelism": "ddp", "model": {**SMALL["model"], "kind": "mlp"}},
    ],
)
def test_training(tmp_path, python, config):
    told = launch(tmp_path, "training", {**SMALL, **config}, python=python)
    assert [one["verdict"] for one in told] == ["pass", "pass"], told
    assert all(len(one["step_times_ms"]) == 3 for one in told)
    assert all(one["metrics"]["last_loss"] < one["metrics"]["first_loss"] for one in told)


def test_training_that_diverges_fails_on_all_ranks(tmp_path, python):
    told = launch(tmp_path, "training", {**SMALL, "learning_rate": 1e30, "parallelism": "ddp"}, python=python)
    assert [one["verdict"] for one in told] == ["fail", "fail"], told
    assert "is not finite on rank 0 in iteration" in told[0]["reason"]


def test_one_rank_in_a_virtual_environment_that_has_torch(execute, python):
    """The sweep's own interpreter has none; the trial's needs nothing of aorta."""
    where = Environment(name="torch", venv=os.path.dirname(os.path.dirname(python)))
    found = execute(workload="race", environment=where, environ={"PYTHONPATH": ""}, steps=2, mode="fsdp")
    assert found.verdict == "pass", found
    assert found.metrics["world_size"] == 1


def test_what_is_planted_nowhere_is_refused(tmp_path, python):
    (told,) = launch(tmp_path, "race", {"inject": {"rank": 1}}, ranks=1, python=python)
    assert told["verdict"] == "error"
    assert "inject: there are 1 ranks, 1 layers and 3 iterations" in told["reason"]


def test_without_torch_it_is_an_error(execute):
    if "torch" in sys.modules:
        pytest.skip("this interpreter has torch")
    found = execute(workload="race")
    assert (found.verdict, found.reason) == (
        "error",
        "ModuleNotFoundError: No module named 'torch' (in setup)",
    )
