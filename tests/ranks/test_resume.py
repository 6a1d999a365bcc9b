"""A run of several ranks that was stopped, killed or begun elsewhere is gone on with, or refused."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.parts import losses
from tests.parts.needs import need
from tests.parts.sweeps import processes_with, wait_for
from tests.workloads.launching import free_port


def records(run):
    return {
        path.name: path.read_text()
        for path in sorted(run.glob("cells/base/trial_*.json"))
        if path.name.count(".") == 1
    }


def alone(folder, *words, **more):
    """Run ``aorta sweep run`` as one process."""
    return subprocess.run(
        [sys.executable, "-m", "aorta", "sweep", "run", *words],
        cwd=folder,
        env=losses.environ_of(folder, **more),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_a_run_that_lost_a_rank_is_gone_on_with(tmp_path, by_hand):
    recipe = losses.recipe_of(tmp_path, "kill", trials=3, only=0)
    codes, told = by_hand(recipe).ended()
    run = losses.only_run(tmp_path)
    assert (codes, told[1]) == ([1, 1], "")
    assert told[0].splitlines()[-1] == f"aorta: go on by starting all ranks with --resume {run}"
    before = records(run)
    assert list(before) == ["trial_000.json"]
    codes, told = by_hand(recipe, "--resume").ended()
    assert codes == [0, 0], told
    after = records(run)
    assert list(after) == [f"trial_{number:03d}.json" for number in range(3)]
    assert after["trial_000.json"] == before["trial_000.json"]
    matrix = losses.matrix_of(run)
    assert (matrix["state"], matrix["lost_rank"], matrix["world_size"]) == ("complete", False, 2)
    [cell] = matrix["cells"]
    assert (cell["error_count"], cell["passed_count"]) == (1, 2)
    host = os.uname().nodename
    assert cell["blamed_ranks"] == [{"rank": 1, "node": host, "trials": 1}]
    assert cell["first_error"]["stderr"] == "cells/base/trial_000.rank1.stderr.log"
    assert (run / cell["first_error"]["stderr"]).is_file()


def test_another_number_of_ranks_cannot_go_on(tmp_path, by_hand):
    recipe = losses.recipe_of(tmp_path, "kill", trials=2, only=0)
    by_hand(recipe).ended()
    run, host = losses.only_run(tmp_path), os.uname().nodename
    matrix = (run / "matrix.json").read_text()
    done = alone(tmp_path, "--recipe", recipe, "--resume")
    assert done.returncode == 1
    [line] = [text for text in done.stderr.splitlines() if "was made by" in text]
    assert line == (
        f"aorta: {run} was made by 2 ranks on 1 node ({host}: 0-1), and this job has 1 rank on 1 node"
        f" ({host}: 0): start it alike, or begin a new run without --resume"
    )
    codes, told = by_hand(recipe, "--resume", ranks=3).ended()
    assert codes == [1, 1, 1]
    assert f"this job has 3 ranks on 1 node ({host}: 0-2)" in told[0]
    assert told[1:] == ["", ""]
    assert (run / "matrix.json").read_text() == matrix


def test_a_node_in_another_state_cannot_go_on(tmp_path, by_hand):
    recipe = losses.recipe_of(tmp_path, "kill", trials=2, only=0)
    by_hand(recipe).ended()
    path, host = losses.only_run(tmp_path) / "matrix.json", os.uname().nodename
    matrix = json.loads(path.read_text())
    matrix["nodes"][0]["host_digest"] = "sha256:00"
    path.write_text(json.dumps(matrix))
    codes, told = by_hand(recipe, "--resume").ended()
    assert codes == [1, 1]
    assert f"was made when {host} had another state: compare environments/NAME/nodes/{host}.json" in told[0]
    matrix["nodes"][0] = {**matrix["nodes"][0], "node": "elsewhere"}
    path.write_text(json.dumps(matrix))
    codes, told = by_hand(recipe, "--resume").ended()
    assert codes == [1, 1]
    assert f"2 ranks on 1 node (elsewhere: 0-1), and this job has 2 ranks on 1 node ({host}: 0-1)" in told[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_at_any_moment_nothing_recorded_is_lost_or_run_again(tmp_path, by_hand, seed):
    chance = random.Random(seed)
    recipe = losses.recipe_of(tmp_path, trials=6, pause_ms=100)
    seen = {}
    for _ in range(3):
        # Where rank 0 is gone before it came, rank 1 need not wait for two minutes.
        again = ("--resume",) if any_run(tmp_path) else ()
        ranks = by_hand(recipe, "--join-timeout", "15", *again)
        time.sleep(chance.uniform(0.8, 3.0))
        ranks.processes[0].kill()
        codes, told = ranks.ended()
        # It may have come to its end before.
        assert codes[1] in (0, 1, 2), told
        if any_run(tmp_path):
            now = records(losses.only_run(tmp_path))
            assert {name: now.get(name) for name in seen} == seen
            seen = now
    codes, told = by_hand(recipe, *(("--resume",) if any_run(tmp_path) else ())).ended()
    assert codes == [0, 0], told
    run = losses.only_run(tmp_path)
    now = records(run)
    assert {name: now.get(name) for name in seen} == seen
    assert len(now) == 6
    assert losses.matrix_of(run)["totals"]["passed"] == 6
    losses.assert_nothing_left(run)


def any_run(folder):
    return any(folder.glob("triage_results/*/*/2*/matrix.json"))


def test_what_was_left_on_another_node_is_ended_there(tmp_path):
    """Rank 0 in namespaces of its own: what runs outside of them it does not see."""
    need(os.geteuid() == 0, "needs root, for namespaces")
    recipe = losses.recipe_of(tmp_path, "kill", trials=2, only=0)
    codes, told = two_nodes(tmp_path, recipe)
    assert codes == [1, 1], told
    run = losses.only_run(tmp_path)
    matrix = losses.matrix_of(run)
    assert [node["node"] for node in matrix["nodes"]] == ["node-a", os.uname().nodename]
    mark = f"AORTA_SWEEP_RUN={matrix['run_id']}"
    with subprocess.Popen(["sleep", "600"], env={"AORTA_SWEEP_RUN": matrix["run_id"], **os.environ}) as left:
        wait_for(lambda: processes_with(mark))
        try:
            codes, told = two_nodes(tmp_path, recipe, "--resume")
            assert codes == [0, 0], told
            assert left.wait(10) in (-signal.SIGTERM, -signal.SIGKILL)
        finally:
            left.kill()
    [warning] = [text for text in losses.matrix_of(run)["warnings"] if "since aorta was ended" in text]
    assert warning.startswith(f"{os.uname().nodename}: ")


def two_nodes(folder, recipe, *words):
    """Run a sweep by two ranks, of which the first is in a host of its own as far as it sees."""
    common = {
        **losses.environ_of(folder),
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "GROUP_WORLD_SIZE": "2",
    }
    apart = ["/usr/bin/unshare", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child", "/bin/sh", "-c"]
    first = [*apart, '/bin/hostname node-a && exec "$@"', "sh"]
    started = [
        subprocess.Popen(
            [*(first if rank == 0 else ()), sys.executable, "-m", "aorta", "sweep", "run", "--recipe", recipe, *words],
            cwd=folder,
            env={**common, "RANK": str(rank), "GROUP_RANK": str(rank)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    try:
        told = [process.communicate(timeout=100)[1] for process in started]
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.communicate()
    return [process.returncode for process in started], told


def test_the_snapshots_of_a_trial_and_of_nodes_are_shown_and_compared(tmp_path, by_hand):
    recipe = losses.recipe_of(tmp_path, trials=1)
    assert by_hand(recipe).ended()[0] == [0, 0]
    run, host = losses.only_run(tmp_path), os.uname().nodename
    trial, node = run / "cells/base/trial_000.json", run / f"environments/local/nodes/{host}.json"
    assert json.loads(trial.read_text())["ranks"]
    for words in (
        ("show", trial),
        ("show", trial, "--field", "launcher.rank"),
        ("show", node),
        ("diff", node, run / "environments/local/env.json"),
        ("diff", trial, node, "--json"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "aorta", "env", *map(str, words)],
            cwd=tmp_path,
            env=losses.environ_of(tmp_path),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout


def test_a_run_that_one_rank_does_not_see_is_told_by_all(tmp_path):
    """As where each node has a disk of its own: nobody waits for the other one."""
    recipe = losses.recipe_of(tmp_path, trials=1)
    common = {
        **losses.environ_of(tmp_path),
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    alone(tmp_path, "--recipe", recipe)
    run = losses.only_run(tmp_path)
    began = time.monotonic()
    ranks = [
        subprocess.Popen(
            [sys.executable, "-m", "aorta", "sweep", "run", "--recipe", recipe, "--resume", str(named)],
            cwd=tmp_path,
            env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, named in enumerate((run, tmp_path / "nowhere"))
    ]
    told = [process.communicate(timeout=100)[1] for process in ranks]
    assert time.monotonic() - began < 40
    assert [process.returncode for process in ranks] == [2, 2], told
    for text in told:
        assert "rank 1 on " in text
        assert f"{tmp_path}/nowhere: no such run" in text
