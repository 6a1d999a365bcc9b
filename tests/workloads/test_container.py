"""The example of a workload that starts containers by itself, with a program in the place of Docker."""

import json
import shutil

import pytest

from tests.parts.pages import ROOT
from tests.parts.sweeps import Sweeps

EXAMPLE = ROOT / "docs" / "examples" / "container"
VARIABLES = {"AORTA_WORKLOADS": "container=site_container:Container"}

#: Writes down how it was called, and what it was given; CONTAINER_ENDS says how a container ends.
DOCKER = """#!/bin/sh
echo "$@" >> calls
[ "$1" = run ] || exit 0
echo "xnack=$HSA_XNACK"
case "$*" in *$ENDS_FOR*) exit $ENDS;; esac
"""


@pytest.fixture
def sweeps(tmp_path):
    """The example in a folder of its own, with a docker that is none."""
    sweeps = Sweeps(tmp_path)
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    program = sweeps.programs / "docker"
    program.write_text(DOCKER)
    program.chmod(0o755)
    yield sweeps
    sweeps.end()


def run(sweeps, *words, **env):
    path = {"PYTHONPATH": f"{ROOT}:{ROOT}/collectors:{sweeps.folder}"}
    return sweeps.run(*words, recipe="container.yaml", **VARIABLES, **path, **env)


def test_each_cell_runs_in_its_image_with_its_variables(sweeps):
    done = run(sweeps, "--trials", "1")
    assert done.returncode == 0, done.stderr
    calls = sweeps.lines("calls")
    runs, removed = [line.split() for line in calls if line.startswith("run ")], calls[1::2]
    assert [words[words.index("python3") - 1].rpartition(":")[2][:7] for words in runs] == [
        "rocm7.1",
        "rocm7.1",
        "rocm7.0",
    ]
    assert ["-e HSA_XNACK" in " ".join(words) for words in runs] == [False, True, False]
    assert not any("HSA_XNACK=" in line for line in calls)
    assert [line.rpartition("-")[0] for line in removed] == [
        f"rm -f aorta-{cell}-0" for cell in ("rocm71", "rocm71-xnack", "rocm70")
    ]
    run_id = sweeps.matrix()["run_id"]
    assert all(f"aorta.run={run_id}" in words for words in runs)
    logs = [
        (sweeps.only_run / f"cells/{cell}/trial_000.stdout.log").read_text()
        for cell in ("rocm71", "rocm71-xnack", "rocm70")
    ]
    assert logs == ["xnack=\n", "xnack=1\n", "xnack=\n"]


def test_a_command_that_fails_is_a_failure_and_a_container_that_does_not_start_an_error(sweeps):
    assert run(sweeps, "--trials", "1", ENDS_FOR="rocm7.0", ENDS="3").returncode == 0
    record = sweeps.records()["rocm70", 0]
    assert (record["verdict"], record["reason"]) == ("fail", "1 failure: exit status 3")
    shutil.rmtree(sweeps.folder / "triage_results")
    run(sweeps, "--trials", "1", ENDS_FOR="rocm7.0", ENDS="125")
    record = sweeps.records()["rocm70", 0]
    assert record["verdict"] == "error"
    assert record["reason"].startswith("RuntimeError: docker could not start rocm/pytorch:rocm7.0")


def test_an_environment_without_an_image_is_an_error(sweeps):
    text = (sweeps.folder / "container.yaml").read_text().replace("environment: rocm70", "environment: local")
    sweeps.write("container.yaml", text)
    run(sweeps, "--trials", "1", "--only", "rocm70")
    assert "needs an environment with an image" in sweeps.records()["rocm70", 0]["reason"]


def test_the_list_says_that_it_starts_containers(sweeps):
    path = f"{ROOT}:{ROOT}/collectors:{sweeps.folder}"
    done = sweeps.call("list-workloads", "--json", "container", **VARIABLES, PYTHONPATH=path)
    (told,) = json.loads(done.stdout)["workloads"]
    assert told["launches_container"]
    keys = {key["key"]: key["required"] for key in told["config"]}
    assert keys == {"command": True, "options": False, "program": False}
