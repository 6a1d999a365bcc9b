"""A sweep of several ranks that goes on: on the same nodes, and with as many ranks on each."""

import pytest

from tests.slurm.rank_sweeps import FOUR, SWEEP, TWO, Run, changed, other_file, recipe


@pytest.fixture
def unfinished(steps):
    """Return the run of two ranks on two nodes, of which one trial is missing."""
    recipe(steps.folder)
    assert steps.run(TWO, *SWEEP).returncode == 0
    run = Run(steps.folder)
    (run.path / "cells/xnack/trial_000.json").unlink()
    return run


def test_the_missing_trial_runs_on_all_ranks(steps, unfinished):
    done = steps.run(TWO, *SWEEP, "--resume")
    assert done.returncode == 0, done.stderr
    matrix = Run(steps.folder).matrix
    lost = "trial 0 of xnack has no record any more, and is run again"
    assert (matrix["state"], len(matrix["resumed_at"]), matrix["warnings"]) == ("complete", 1, [lost])
    record = unfinished.records[1]
    assert [(rank["rank"], rank["node"]) for rank in record["ranks"]] == [(0, "node1"), (1, "node2")]


def check_refused(steps, unfinished, options, words, **env):
    before = unfinished.matrix
    done = steps.run(options, *SWEEP, "--resume", **env)
    assert done.returncode == 1, done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("aorta: ")]
    assert words in line
    assert len(unfinished.records) == 1
    assert unfinished.matrix == before


@pytest.mark.parametrize(
    ("options", "words"),
    [("-N1 -n2", "2 ranks on 1 node (node1: 0-1)"), (FOUR, "4 ranks on 2 nodes (node1: 0-1, node2: 2-3)")],
)
def test_other_places_are_refused(steps, unfinished, options, words):
    made = "was made by 2 ranks on 2 nodes (node1: 0, node2: 1)"
    check_refused(steps, unfinished, options, f"{made}, and this job has {words}: start it alike")


def test_another_node_is_refused(steps, unfinished):
    with changed(steps, "hostname node9", "hostname node2"):
        check_refused(steps, unfinished, TWO, "and this job has 2 ranks on 2 nodes (node1: 0, node9: 1)")


def test_a_node_that_changed_is_refused(steps, rocm):
    recipe(steps.folder)
    env = {"ROCM_PATH": str(rocm)}
    assert steps.run(TWO, *SWEEP, **env).returncode == 0
    run = Run(steps.folder)
    (run.path / "cells/xnack/trial_000.json").unlink()
    with other_file(steps, rocm / ".info/version", "7.0.2-11\n"):
        check_refused(steps, run, TWO, "was made when node2 had another state", **env)
    assert steps.run(TWO, *SWEEP, "--resume", **env).returncode == 0
