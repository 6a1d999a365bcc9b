"""``race`` and ``training`` with a real torch on CPUs: two ranks, gloo, by the real command line."""

import os
import sys

import pytest

from aorta.sweep.definitions.registry import Environment
from tests.parts import torches
from tests.workloads.launching import swept

#: Sweeps of several trials with torch take half a minute, and more on a busy machine.
LIMIT_S = 280
pytestmark = pytest.mark.timeout(LIMIT_S + 10)

SMALL = {"model": {"vocab_size": 64, "hidden_size": 16, "ffn_size": 32}, "seq_len": 8}
TRANSFORMER = {"compute_type": "transformer", "real_backward": True, "shared_layer_weights": True}
CLEAN = {
    "default": {},
    "ahead": {"h2d_prefetch": True, "reuse_buffers": False, "expected_local_world_size": 8},
    "ddp": {"mode": "ddp", "ddp_bucketed": True, "optimizer": "adamw", "optimizer_betas": [0.8, 0.9]},
    "fsdp": {"mode": "fsdp", **TRANSFORMER, "deterministic": True},
}
#: Where a bit is flipped, by the mode: the layer, and what is found of it first.
FLIPPED = {
    "default": (0, "all_to_all"),
    "ddp": (3, "gradient"),
    "fsdp": (2, "layer_checksum_comm_output_forward"),
}


@pytest.fixture(scope="module")
def python():
    """An interpreter with torch."""
    return torches.python()


@pytest.fixture(scope="module")
def races(tmp_path_factory, python):
    """Return a sweep of two ranks under torchrun: clean cells, and one a mode with a flipped bit."""
    cells = dict(CLEAN)
    for mode, (layer, _) in FLIPPED.items():
        cells[f"flipped-{mode}"] = {"mode": mode, "inject": {"rank": 1, "layer": layer, "iteration": 1}}
    cells["flipped-fsdp"] |= {"stop_on_first_corruption": False, "log_interval": 1}
    folder = tmp_path_factory.mktemp("races")
    return swept(folder, "race", cells, python=python, launcher="torchrun", timeout=LIMIT_S)


@pytest.mark.parametrize("cell", list(CLEAN))
def test_race_finds_nothing_where_nothing_is(races, cell):
    assert races.codes == [0], races.errors
    record = races.first(cell)
    assert record["verdict"] == "pass", record["reason"]
    assert (len(record["step_times_ms"]), record["step_time_source"]) == (3, "per_step")
    assert record["metrics"]["local_world_size"] == 2
    assert [(one["rank"], one["verdict"], one["device"]) for one in record["ranks"]] == [
        (0, "pass", "cpu"),
        (1, "pass", "cpu"),
    ]


def test_race_says_where_a_node_has_other_ranks_than_the_recipe_is_made_for(races):
    assert races.first("ahead")["metrics"]["topology_matches_recipe"] is False
    for rank in range(2):
        log = (races.run / f"cells/ahead/trial_000.rank{rank}.stdout.log").read_text()
        assert f"rank {rank}: expected_local_world_size is 8, and this node has LOCAL_WORLD_SIZE=2\n" in log
    [warning] = [one for one in races.matrix["warnings"] if "made for" in one]
    assert warning == (
        "cell ahead: nodes have other ranks than the recipe is made for: expected_local_world_size is 8, and"
        " a node has 2"
    )


@pytest.mark.parametrize("mode", list(FLIPPED))
def test_race_finds_one_flipped_bit(races, mode):
    """The record says in which rank, layer and iteration; the other rank saw nothing, and ended with it."""
    layer, kind = FLIPPED[mode]
    record = races.first(f"flipped-{mode}")
    assert [one["verdict"] for one in record["ranks"]] == ["pass", "fail"], record["ranks"]
    first, *others = record["failure_details"]
    assert [first[key] for key in ("rank", "layer", "iteration", "type")] == [1, layer, 1, kind]
    assert all((one["rank"], one["layer"], one["iteration"]) == (1, layer, 1) for one in others)
    assert f"rank 1, layer {layer}, iteration 1" in record["reason"]
    assert record["lost"] is None
    assert len(record["step_times_ms"]) == (3 if mode == "fsdp" else 2)


def test_checksums_of_layers_are_exact_integers(races):
    """One flipped bit of the lowest place is one more, or one less, in the sum of all bits of a layer."""
    details = {one["type"]: one for one in races.first("flipped-fsdp")["failure_details"]}
    sums = [one for name, one in details.items() if name.startswith("layer_checksum_")]
    assert len(sums) == 4
    assert all(abs(one["checksum"] - one["expected_checksum"]) == 1 for one in sums)
    assert details["all_gather_forward"]["wrong_values"] == 1
    assert details["all_gather_backward"]["wrong_values"] == 1


def test_what_is_found_is_printed_at_once(races):
    """Before the next iteration, and on the rank that found it alone."""
    printed = {
        rank: next(races.run.glob(f"cells/flipped-fsdp/trial_000.rank{rank}.*stdout.log")).read_text()
        for rank in (0, 1)
    }
    hints = [one["hint"] for one in races.first("flipped-fsdp")["failure_details"]]
    lines = printed[1].splitlines()
    place = lines.index(hints[0])
    assert lines[place : place + len(hints)] == hints
    assert lines[place + len(hints)].startswith("rank 1: iteration 4 of 5, ")
    assert "wrong value" not in printed[0]


@pytest.mark.parametrize("isolation", ["process", "in_process"])
def test_training(tmp_path, python, isolation):
    """Real DDP and FSDP2; a run that diverges fails on all ranks."""
    cells = {
        "fsdp": {**SMALL, "parallelism": "fsdp", "dtype": "bfloat16"},
        "ddp": {**SMALL, "parallelism": "ddp", "model": {**SMALL["model"], "kind": "mlp"}},
        "diverges": {**SMALL, "parallelism": "ddp", "learning_rate": 10**30},
    }
    done = swept(tmp_path, "training", cells, python=python, isolation=isolation, timeout=LIMIT_S)
    assert done.codes == [0, 0], done.errors
    assert done.verdicts() == ["pass", "fail", "pass"], done.errors
    for cell in ("fsdp", "ddp"):
        record = done.first(cell)
        assert len(record["step_times_ms"]) == 3
        assert [(one["verdict"], one["device"]) for one in record["ranks"]] == [("pass", "cpu")] * 2
        assert record["metrics"]["last_loss"] < record["metrics"]["first_loss"]
        assert record["metrics"]["parallelism"] == cell
    record = done.first("diverges")
    assert [one["verdict"] for one in record["ranks"]] == ["fail", "fail"]
    assert "is not finite on rank 0 in iteration" in record["reason"]


def test_training_tells_which_rank_has_a_number_that_is_none(tmp_path, python):
    """Only rank 1 fails by its part of a gradient; by its loss all do, since gradients are added up."""
    cells = {
        "gradient": {**SMALL, "parallelism": "fsdp"},
        "loss": {**SMALL, "parallelism": "ddp"},
    }
    environ = {"AORTA_WORKLOADS": "sick=tests.workloads.sick_training:Sick"}
    done = swept(tmp_path, "sick", cells, python=python, environ=environ, timeout=LIMIT_S)
    assert done.codes == [0, 0], done.errors
    record = done.first("gradient")
    assert [one["verdict"] for one in record["ranks"]] == ["pass", "fail"], record
    assert record["verdict"] == "fail"
    hint = "the gradient is not finite on rank 1 in iteration 1"
    assert record["reason"].startswith("rank 1")
    assert record["reason"].endswith(f": 1 failure, the first in iteration 1: {hint}")
    assert [(one["rank"], one["hint"]) for one in record["failure_details"]] == [(1, hint)]
    # The others end with it.
    assert record["iterations"] == 2
    record = done.first("loss")
    assert [one["verdict"] for one in record["ranks"]] == ["fail", "fail"], record
    assert "rank 0 in iteration 1, nor the loss on rank 1" in record["reason"]
    assert {(one["rank"], one["type"]) for one in record["failure_details"]} == {
        (0, "nonfinite_gradient"),
        (1, "nonfinite_loss"),
        (1, "nonfinite_gradient"),
    }


def test_one_rank_in_a_virtual_environment_that_has_torch(execute, python):
    """The sweep's own interpreter has none; the trial's needs nothing of aorta."""
    where = Environment(name="torch", venv=os.path.dirname(os.path.dirname(python)))
    found = execute(workload="race", environment=where, environ={"PYTHONPATH": ""}, steps=2, mode="fsdp")
    assert found.verdict == "pass", found
    assert found.metrics["world_size"] == 1


def test_what_is_planted_nowhere_is_refused(execute, python):
    where = Environment(name="torch", venv=os.path.dirname(os.path.dirname(python)))
    found = execute(workload="race", environment=where, environ={"PYTHONPATH": ""}, inject={"rank": 1})
    assert found.verdict == "error"
    assert "ValueError: inject.rank is 1, with 1 rank: at most 0 (in setup)" in found.reason


def test_without_torch_it_is_an_error(execute):
    if "torch" in sys.modules:
        pytest.skip("this interpreter has torch")
    found = execute(workload="race")
    assert (found.verdict, found.reason) == (
        "error",
        "ModuleNotFoundError: No module named 'torch' (in setup)",
    )
