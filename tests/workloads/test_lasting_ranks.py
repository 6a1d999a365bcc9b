"""Sweeps of several ranks in_process: each rank's trials in one interpreter, which is not aorta's own."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.parts import losses
from tests.parts.sweeps import processes_with, wait_for
from tests.workloads.launching import free_port

RECIPE = """
schema_version: 1
ticket: T
workload: {workload}
trials: {trials}
steps: 2
trial_timeout: {limit}
trial_isolation: in_process
workload_config: {config}
cells:
  - {{name: base, mitigations: [none], environment: local}}
  - {{name: other, mitigations: [none], environment: local, extra_env: {{HSA_XNACK: "1", MALLOC_ARENA_MAX: "1"}}}}
"""


@pytest.fixture
def ranks(tmp_path):
    """Return a function that starts the ranks of a sweep."""
    started = []

    def start(*words, workload="meeting", trials=2, limit=20, ranks=2, **config):
        recipe = tmp_path / "r.yaml"
        text = RECIPE.format(workload=workload, trials=trials, limit=limit, config=config)
        recipe.write_text(text)
        environ = losses.environ_of(
            tmp_path, AORTA_WORKLOADS="meeting=tests.workloads.lasting_workload:Meeting"
        )
        job = losses.ByHand(tmp_path, "r.yaml", *words, port=free_port(), ranks=ranks, environ=environ)
        started.append(job)
        return job

    yield start
    for job in started:
        job.end()


def record(folder, cell, trial):
    return losses.record_of(losses.only_run(folder), cell=cell, trial=trial)


def test_all_trials_of_a_rank_are_in_one_interpreter(tmp_path, ranks):
    job = ranks(ranks=3)
    codes, told = job.ended()
    assert codes == [0, 0, 0], told
    found = [record(tmp_path, cell, trial) for cell in ("base", "other") for trial in (0, 1)]
    assert [one["metrics"]["done"] for one in found] == [1, 2, 3, 4]
    assert {one["metrics"]["parent"] for one in found} == {job.processes[0].pid}
    assert len({one["metrics"]["pid"] for one in found}) == 1
    assert all(rank["verdict"] == "pass" for one in found for rank in one["ranks"])
    losses.assert_nothing_left(losses.only_run(tmp_path))


def test_the_workload_ranks_in_process(tmp_path, ranks):
    codes, told = ranks(workload="ranks").ended()
    assert codes == [0, 0], told
    assert record(tmp_path, "other", 1)["metrics"]["rank_outcomes"]["pass"] == 2


def test_variables_that_came_too_late_are_told_once_and_recorded(tmp_path, ranks):
    codes, told = ranks().ended()
    assert codes == [0, 0], told
    late = {
        cell: [record(tmp_path, cell, trial).get("env_late") for trial in (0, 1)]
        for cell in ("base", "other")
    }
    assert late == {"base": [None, None], "other": [["MALLOC_ARENA_MAX"]] * 2}
    assert "".join(told).count("warning: cell other: in the process of its trials MALLOC_ARENA_MAX") == 1


@pytest.mark.parametrize("lost", [0, 1])
def test_a_trial_is_never_completed_by_another_one_of_a_rank_that_went_on(tmp_path, ranks, lost):
    """A rank raises in a trial and is ready for the next one while the other still waits in it."""
    codes, told = ranks("--continue-after-crash", trials=3, way="raise", rank=lost, only=0).ended()
    assert codes == [0, 0], told
    for cell in ("base", "other"):
        first = record(tmp_path, cell, 0)
        assert first["verdict"] == "error"
        assert (first["lost"]["rank"], first["lost"]["end"]) == (lost, "raised")
        assert {rank["rank"]: rank["verdict"] for rank in first["ranks"]} == {0: "error", 1: "error"}
        assert "found" not in first["metrics"]
        for trial in (1, 2):
            later = record(tmp_path, cell, trial)
            assert later["verdict"] == "pass", later["reason"]
            assert later["metrics"]["found"] == [f"{cell}/{trial}"] * 2
    losses.assert_nothing_left(losses.only_run(tmp_path))


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize(
    ("way", "end", "sign"),
    [
        ("raise", "raised", None),
        ("crash", "signalled", "SIGSEGV"),
        ("exit", "exited", None),
        ("hang", "timed_out", None),
        ("blocks", "timed_out", None),
    ],
)
def test_a_rank_that_is_lost_ends_the_run_and_is_named(tmp_path, ranks, lost, way, end, sign):
    began = time.monotonic()
    codes, told = ranks(way=way, rank=lost, only=1, limit=4).ended()
    assert codes == [1, 1], told
    assert time.monotonic() - began < 45
    assert record(tmp_path, "base", 0)["verdict"] == "pass"
    found = record(tmp_path, "base", 1)
    assert (found["lost"]["rank"], found["lost"]["end"], found["lost"]["signal"]) == (lost, end, sign)
    assert found["lost"]["phase"] == "run"
    assert way not in ("hang", "blocks", "crash") or "in be_lost" in found["lost"]["traceback"]
    losses.assert_matrix(
        losses.only_run(tmp_path), f"rank {lost} on {os.uname().nodename} was lost in trial 1"
    )
    losses.assert_nothing_left(losses.only_run(tmp_path))


def test_after_a_loss_the_next_trial_has_new_interpreters(tmp_path, ranks):
    codes, told = ranks("--continue-after-crash", way="crash", only=0).ended()
    assert codes == [0, 0], told
    found = [record(tmp_path, cell, trial) for cell in ("base", "other") for trial in (0, 1)]
    assert [one["verdict"] for one in found] == ["fail", "pass"] * 2
    # Rank 0 waited in the trial in which rank 1 was lost, and was ended too or saw its connection end.
    assert found[1]["metrics"]["found"] == ["base/1"] * 2


@pytest.mark.parametrize("killed", [0, 1])
def test_an_aorta_that_is_killed_leaves_nothing(tmp_path, ranks, killed):
    job = ranks(way="blocks", only=1, limit=40)
    started = tmp_path / "triage_results"
    wait_for(lambda: list(started.glob("*/*/2*/cells/base/trial_001.rank1.trace")))
    mark = f"AORTA_SWEEP_RUN={losses.matrix_of(losses.only_run(tmp_path))['run_id']}"
    assert len(processes_with(mark)) == 2
    job.processes[killed].kill()
    job.ended(timeout=45)
    wait_for(lambda: processes_with(mark) == [])


def test_a_signal_to_the_ranks_leaves_nothing(tmp_path, ranks):
    job = ranks(way="hang", only=1, limit=40)
    wait_for(lambda: list(tmp_path.glob("triage_results/*/*/2*/cells/base/trial_001.rank1.trace")))
    for process in job.processes:
        process.send_signal(signal.SIGTERM)
    codes, told = job.ended(timeout=45)
    assert 0 not in codes, told
    losses.assert_nothing_left(losses.only_run(tmp_path))
    assert losses.matrix_of(losses.only_run(tmp_path))["state"] == "interrupted"
    assert not list(Path(tmp_path).rglob("*.request.json"))
