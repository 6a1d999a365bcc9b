"""Nodes that do not see one directory: the logs of the other node's ranks come to rank 0, and count alike."""

import json

import pytest

from tests.parts.losses import VARIABLES, WORDS, assert_lost, only_run, recipe_of
from tests.slurm.rank_sweeps import AORTA, FOUR, SWEEP, TWO, Run, changed, places, recipe


@pytest.fixture
def results(steps):
    """Return a folder for results that is another one on node2: a small disk of its own."""
    folder = steps.folder / "triage_results"
    folder.mkdir()
    with changed(steps, f"mount -t tmpfs -o size=1m own {folder}", f"umount {folder}"):
        yield folder


def left_on_node2(steps, folder):
    return steps.cluster.run("find", folder, "-mindepth", "1", cwd=steps.folder, host="node2").stdout


def test_the_result_is_the_same(steps, results):
    recipe(steps.folder, trials=2)
    done = steps.run(FOUR, *SWEEP)
    assert done.returncode == 0, done.stderr
    run = Run(steps.folder)
    assert (run.matrix["state"], run.matrix["warnings"]) == ("complete", [])
    for record in run.records:
        assert record["verdict"] == "pass"
        assert places(record) == [(0, "node1", 0), (1, "node1", 1), (2, "node2", 0), (3, "node2", 1)]
    assert run.node("node2")["launcher"]["node"] == "node2"
    assert left_on_node2(steps, results) == ""


def test_the_logs_of_a_lost_rank_come_to_rank_0(steps, results):
    recipe = recipe_of(steps.folder, "exception")
    done = steps.run(TWO, *AORTA, "--recipe", recipe, **VARIABLES)
    assert done.returncode == 1, done.stderr
    run = only_run(steps.folder)
    assert (run / "cells/base/trial_000.rank1.stderr.log").read_text() == f"{WORDS}: exception\n"
    assert_lost(run, rank=1, way="exception", host="node2")
    assert left_on_node2(steps, results) == ""


def test_a_directory_that_only_rank_0_has(steps, cluster):
    """Its disk is its own: nothing of the path is on the other node."""
    recipe(steps.folder)
    folder = cluster.local / "of node1"
    done = steps.run(TWO, *SWEEP, "--output", folder)
    try:
        assert done.returncode == 0, done.stderr
        told = cluster.run(
            "sh", "-c", f"cat '{folder}'/T/ranks/2*/matrix.json", cwd=steps.folder, host="node1"
        )
        assert json.loads(told.stdout)["state"] == "complete"
        assert left_on_node2(steps, cluster.local) == ""
    finally:
        cluster.run("rm", "-rf", folder, cwd=steps.folder, host="node1")
