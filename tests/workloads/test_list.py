"""``aorta sweep list-workloads``."""

import json
import subprocess
import sys

import pytest

from tests.cli.conftest import clean_environ


@pytest.fixture
def listed(tmp_path):
    """Return a function that runs the command in a process of its own."""

    def run(*words, **environ):
        code = "from aorta.cli.sweep_workloads import list_workloads; list_workloads()"
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", code, *words],
            cwd=tmp_path,
            env=clean_environ(**environ),
            capture_output=True,
            text=True,
            timeout=100,
        )

    return run


def test_the_table(listed):
    done = listed()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["NAME", "SOURCE", "LAUNCH", "ISOLATION", "WHAT", "IT", "DOES"]
    assert [line.split()[0] for line in lines[1:5]] == ["command", "ranks", "race", "training"]
    (race,) = [line for line in lines if line.startswith("race ")]
    assert "distributed, 2 or more ranks" in race
    assert "process (required)" in race
    assert "workload_config of command: no keys" in lines
    (mode,) = [line for line in lines if line.startswith("  mode ")]
    assert " ".join(mode.split()) == (
        'mode default or ddp or fsdp "default" which communication pattern is run'
    )


def test_as_json(listed):
    (training,) = json.loads(listed("--json", "training").stdout)["workloads"]
    config = training.pop("config")
    assert training == {
        "name": "training",
        "source": "builtin",
        "target": "aorta.workloads.training:Training",
        "summary": "Train a small model under DDP or FSDP2, on GPUs or CPUs, and watch loss and gradients.",
        "launch_mode": "distributed",
        "min_world_size": 1,
        "isolation": {"default": "process", "required": False, "supported": ["in_process", "process"]},
        "result_scope": "rank_local",
        "launches_container": False,
        "requires": ["torch"],
    }
    assert {
        "key": "model.kind",
        "type": "mlp or transformer",
        "default": "transformer",
        "doc": "what a layer is",
        "required": False,
    } in config


def test_a_broken_one_is_told_and_costs_nothing(listed):
    done = listed("--json", AORTA_WORKLOADS="warm=nowhere:Warm")
    assert done.returncode == 0
    assert done.stderr.startswith("aorta: workload warm of AORTA_WORKLOADS (warm=nowhere:Warm): ")
    shown = json.loads(done.stdout)
    assert len(shown["workloads"]) == 4
    assert shown["failed"][0]["name"] == "warm"


def test_a_broken_one_that_is_named_is_a_failure(listed):
    done = listed("mine", AORTA_WORKLOADS="mine=json:Nothing")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("aorta: workload mine of AORTA_WORKLOADS (mine=json:Nothing): ")
    assert listed("mine", "ranks", AORTA_WORKLOADS="mine=json:Nothing").stdout.startswith("NAME ")


def test_a_name_that_was_made_of_a_class_is_told(listed):
    done = listed("mine", AORTA_WORKLOADS="json:JSONDecoder")
    assert done.stderr.startswith("aorta: no workload is called 'mine': there are command, ")
    assert "jsondecoder (json:JSONDecoder in AORTA_WORKLOADS)" in done.stderr


def test_an_unknown_name(listed):
    done = listed("rase")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "aorta: no workload is called 'rase': did you mean race? There are command, "
    )


def test_how_many_ranks_it_needs(listed):
    done = listed("user", AORTA_WORKLOADS="user=tests.workloads.rank_subjects:OfAUser")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("user ")]
    assert "distributed, 2 or more ranks  in_process (or process)" in line
    assert "workload_config of user: any key" in done.stdout
