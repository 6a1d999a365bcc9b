"""Sweeps of several ranks under a plain ``srun``, which tells no task a RANK."""

import pytest

from tests.slurm.rank_sweeps import FOUR, SWEEP, Run, lines_by_rank, places, recipe

#: Tells a task what torchrun would, and then runs what follows.
LIKE_TORCHRUN = """
export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=$SLURM_LOCALID
export LOCAL_WORLD_SIZE=2 GROUP_RANK=$SLURM_NODEID GROUP_WORLD_SIZE=2 MASTER_ADDR=node1 MASTER_PORT=29400
exec "$@"
"""


@pytest.mark.parametrize("told", ["srun", "script", "torchrun"])
def test_four_ranks_on_two_nodes(steps, told):
    """Who tells the ranks their places makes no difference."""
    before = ("sh", "-c", LIKE_TORCHRUN, "-") if told == "torchrun" else ()
    recipe(steps.folder, trials=2, steps=3)
    env = {"MASTER_ADDR": "node1", "MASTER_PORT": "29500"} if told == "script" else {}
    done = steps.run(f"{FOUR} --label", *before, *SWEEP, **env)
    assert done.returncode == 0, done.stderr
    run = Run(steps.folder)
    matrix = run.matrix
    assert (matrix["state"], matrix["lost_rank"], matrix["warnings"]) == ("complete", False, [])
    assert (matrix["world_size"], matrix["node"]) == (4, "node1")
    assert matrix["launcher"] == ("by_hand" if told == "torchrun" else "slurm")
    assert [(node["node"], node["ranks"]) for node in matrix["nodes"]] == [
        ("node1", [0, 1]),
        ("node2", [2, 3]),
    ]
    assert [cell["passed_count"] for cell in matrix["cells"]] == [2, 2]
    assert len(run.records) == 4
    for record in run.records:
        assert places(record) == [(0, "node1", 0), (1, "node1", 1), (2, "node2", 0), (3, "node2", 1)]
        assert record["metrics"]["world_size"] == 4
    assert lines_by_rank(done.stdout).keys() == {0}
    assert done.stdout.splitlines()[0] == "0: Sweep summary: all 2 cells passed."
    assert done.stdout.count("Wrote matrix to") == 1
    assert lines_by_rank(done.stderr).keys() == {0}
    assert [name for name in run.files if name.endswith(".json") and "cells" not in name] == [
        "environments/local/env.json",
        "environments/local/nodes/node1.json",
        "environments/local/nodes/node2.json",
        "host_env.json",
        "matrix.json",
    ]
    logs = [name for name in run.files if name.startswith("cells/base/trial_001.rank")]
    assert logs == [
        f"cells/base/trial_001.rank{rank}.{name}.log" for rank in range(4) for name in ("stderr", "stdout")
    ]


def test_three_ranks_and_one(steps):
    """Slurm places four tasks as it likes; nothing is divided."""
    hosts = steps.beside / "hosts"
    hosts.write_text("node1\nnode2\nnode2\nnode2\n")
    recipe(steps.folder)
    done = steps.run("-N2 -n4 --distribution=arbitrary", *SWEEP, SLURM_HOSTFILE=str(hosts))
    assert done.returncode == 0, done.stderr
    run = Run(steps.folder)
    assert [node["ranks"] for node in run.matrix["nodes"]] == [[0], [1, 2, 3]]
    for record in run.records:
        assert places(record) == [(0, "node1", 0), (1, "node2", 0), (2, "node2", 1), (3, "node2", 2)]


def test_ranks_that_go_round_the_nodes(steps):
    recipe(steps.folder)
    done = steps.run(f"{FOUR} --distribution=cyclic", *SWEEP)
    assert done.returncode == 0, done.stderr
    run = Run(steps.folder)
    assert [node["ranks"] for node in run.matrix["nodes"]] == [[0, 2], [1, 3]]
    for record in run.records:
        assert places(record) == [(0, "node1", 0), (1, "node2", 0), (2, "node1", 1), (3, "node2", 1)]


def test_a_wrong_value_of_a_rank_on_the_other_node(steps):
    recipe(steps.folder, inject={"rank": 3, "iteration": 1})
    done = steps.run(FOUR, *SWEEP)
    assert done.returncode == 0, done.stderr
    run = Run(steps.folder)
    for record in run.records:
        assert (record["verdict"], record["lost"]) == ("fail", None)
        assert record["metrics"]["rank_outcomes"] == {"pass": 0, "fail": 4, "error": 0, "world_size": 4}
        assert {detail["from_rank"] for detail in record["failure_details"]} == {3}
        assert sorted(detail["rank"] for detail in record["failure_details"]) == [0, 1, 2, 3]


def test_one_task_is_no_job_of_several(steps):
    recipe(steps.folder)
    done = steps.run("-N1 -n1", *SWEEP)
    assert done.returncode == 0, done.stderr
    matrix = Run(steps.folder).matrix
    assert (matrix["launcher"], matrix["world_size"], len(matrix["nodes"])) == (None, 1, 1)
