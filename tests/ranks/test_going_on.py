"""``--continue-after-crash``, and what the ranks of a trial tell when none, or several, are lost."""

import contextlib
import os
import socket

import pytest

from aorta.launch.ports import PORT_BASE, PORTS
from tests.parts.losses import (
    GLOBAL,
    PLAIN,
    TORCH,
    WORDS,
    assert_lost,
    assert_matrix,
    assert_nothing_left,
    environ_of,
    matrix_of,
    only_run,
    recipe_of,
    record_of,
)

HOST = os.uname().nodename


@pytest.mark.parametrize("way", ["crash", "exception", "setup", "cleanup"])
def test_a_sweep_that_is_to_go_on_runs_the_later_trials_with_fresh_processes(way, tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, way, rank=1, only=0, trials=3), "--continue-after-crash")
    codes, told = job.ended()
    assert codes == [0, 0], told
    run = only_run(tmp_path)
    assert_lost(run, rank=1, way=way, stopped=False)
    for trial in (1, 2):
        record = record_of(run, trial=trial)
        assert (record["verdict"], record["lost"]) == ("pass", None), record["reason"]
        assert [row["verdict"] for row in record["ranks"]] == ["pass", "pass"]


@pytest.mark.timeout(150)
def test_under_torchrun_a_sweep_goes_on_after_a_crash(tmp_path, torchrun):
    recipe = recipe_of(tmp_path, "crash", workload=TORCH, rank=1, only=0, limit=50)
    job = torchrun(recipe, "--continue-after-crash")
    told = job.communicate(timeout=120)[1]
    assert job.returncode == 0, told
    run = only_run(tmp_path)
    assert_lost(run, rank=1, way="crash", stopped=False, limit=50)
    assert record_of(run, trial=1)["verdict"] == "pass"


@pytest.mark.parametrize("workload", [PLAIN, GLOBAL])
def test_a_failure_that_a_rank_reports_is_the_trial_s(workload, tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, workload=workload, trials=1, fails=1, wait_s=2))
    codes, told = job.ended()
    run = only_run(tmp_path)
    record = record_of(run)
    # Rank 0 waited for it in vain, and is lost; what rank 1 found stands.
    assert record["verdict"] == "fail"
    assert record["reason"].startswith(
        f"rank 1 on {HOST}: 1 failure: found by rank 1; rank 0 on {HOST} was lost"
    )
    assert record["lost"]["rank"] == 0
    assert record["failure_details"] == [{"rank": 1, "hint": "found by rank 1"}]
    assert [row["verdict"] for row in record["ranks"]] == ["error", "fail"]
    assert codes == [1, 1], told
    assert_nothing_left(run)


def test_metrics_and_times_are_those_of_rank_0_and_all_ranks_are_counted(tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, trials=1), ranks=3)
    codes, told = job.ended()
    assert codes == [0, 0, 0], told
    record = record_of(only_run(tmp_path))
    assert record["metrics"] == {
        "rank": 0,
        "rank_outcomes": {"pass": 3, "fail": 0, "error": 0, "world_size": 3},
    }
    assert [row["rank"] for row in record["ranks"]] == [0, 1, 2]
    assert record["step_times_ms"] == [1.0]
    assert matrix_of(only_run(tmp_path))["world_size"] == 3


def test_a_rank_that_hangs_is_blamed_when_others_waited_for_it_in_vain(tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, "hang", rank=1, wait_s=2, limit=40, trials=1), ranks=3)
    codes, told = job.ended()
    assert codes == [1, 1, 1], told
    run = only_run(tmp_path)
    record = record_of(run)
    assert record["reason"].startswith(f"rank 1 on {HOST}: hung in run, it was at "), record["reason"]
    assert "waited for it in vain: StoreError: 2/1 did not come" in record["reason"]
    lost = record["lost"]
    assert (lost["rank"], lost["end"]) == (1, "aborted")
    assert "losing.py" in lost["traceback"]
    assert WORDS in lost["log"]
    assert_nothing_left(run)


@pytest.mark.timeout(150)
def test_under_torchrun_a_rank_that_hangs_is_blamed_when_a_collective_took_too_long(tmp_path, torchrun):
    job = torchrun(recipe_of(tmp_path, "hang", workload=TORCH, rank=1, wait_s=8, limit=50, trials=1))
    told = job.communicate(timeout=120)[1]
    assert job.returncode == 1, told
    record = record_of(only_run(tmp_path))
    assert record["lost"]["rank"] == 1, record["reason"]
    assert "hung in run" in record["reason"]
    assert f"rank 0 on {HOST} waited for it in vain" in record["reason"]


@pytest.mark.timeout(150)
def test_sixteen_ranks_name_the_one_that_was_lost(tmp_path, by_hand):
    job = by_hand(recipe_of(tmp_path, "crash", rank=11, only=1, limit=40), ranks=16)
    codes, told = job.ended(timeout=120)
    assert codes == [1] * 16, told
    run = only_run(tmp_path)
    assert record_of(run)["verdict"] == "pass"
    assert_lost(run, rank=11, way="crash", trial=1, ranks=16, limit=40)


def test_a_trial_without_a_port_ends_the_sweep_and_says_so(tmp_path, by_hand):
    with contextlib.ExitStack() as taken:
        base = _free_base()
        for port in range(base, base + PORTS):
            taken.enter_context(socket.socket()).bind(("", port))
        environ = environ_of(tmp_path, **{PORT_BASE: str(base)})
        codes, told = by_hand(recipe_of(tmp_path), environ=environ).ended()
    assert codes == [1, 1], told
    run = only_run(tmp_path)
    record = record_of(run)
    assert record["reason"].startswith("no port is left for a trial"), record["reason"]
    assert (record["lost"]["rank"], record["lost"]["local_rank"]) == (0, 0)
    assert_matrix(run, f"rank 0 on {HOST} was lost in trial 0 of base: no port is left for a trial")


def _free_base():
    """Return the first of as many ports as a job has, all of them free now."""
    for base in range(12000, 30000, PORTS):
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            for port in range(base, base + PORTS):
                held.enter_context(socket.socket()).bind(("", port))
            return base
    pytest.fail("no such ports are free here")
