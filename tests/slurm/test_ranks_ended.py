"""Sweeps of several ranks that are ended from outside: what is known is on disk, and nothing runs on."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.parts.losses import assert_nothing_left
from tests.parts.sweeps import processes_with
from tests.slurm.conftest import wait_for
from tests.slurm.rank_sweeps import SWEEP, TWO, Run, recipe

#: A log of the second trial, in which a run is ended.
SECOND = "triage_results/T/ranks/2*/cells/base/trial_001.*log"


def aorta_of(folder, rank):
    """Return the process of a rank's aorta whose sweep was started in a folder; null where there is none."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            is_here = os.readlink(f"/proc/{pid}/cwd") == str(folder)
        except OSError:
            continue
        if (
            is_here
            and b"python" in words[0]
            and b"sweep" in words
            and f"SLURM_PROCID={rank}".encode() in environ
        ):
            return int(pid)
    return None


def prepared(steps):
    recipe(steps.folder, trials=8, steps=1, pause_ms=1500.0)
    (steps.folder / "codes").mkdir()


@pytest.fixture
def sweep(steps):
    """Start a sweep whose first trial is done and whose second one takes long; it is ended with the test."""
    prepared(steps)
    telling = '"$@"; echo $? > codes/$SLURM_PROCID'
    with steps.start(f"{TWO} --label", "sh", "-c", telling, "-", *SWEEP) as process:
        wait_for(lambda: list(steps.folder.glob(SECOND)), 30)
        yield process
        if process.poll() is None:
            process.kill()


def code_of(steps, rank):
    """Wait until a rank has ended, and return its exit status."""
    path = steps.folder / f"codes/{rank}"
    wait_for(lambda: path.exists() and path.read_text(), 30)
    return int(path.read_text())


def check_interrupted(steps, began):
    """Check that all that is known is on disk, soon after a run was told to end."""
    run = Run(steps.folder)
    matrix = run.matrix
    assert (matrix["state"], matrix["lost_rank"]) == ("interrupted", False)
    assert matrix["in_flight"] is not None
    assert matrix["totals"]["done"] == len(run.records) >= 1
    assert_nothing_left(run.path)
    took = (run.path / "matrix.json").stat().st_mtime - began
    print(f"the matrix was on disk after {took:.2f} s")
    assert took < 15


def test_a_job_that_is_cancelled(steps, cluster):
    """All tasks get SIGTERM, and SIGKILL two seconds later, as at the end of the job's time."""
    prepared(steps)
    script = steps.script(f"srun {' '.join(SWEEP)}")
    words = ("sbatch", "--parsable", "-N2", "--ntasks-per-node=1", "--output=out.txt", script)
    job = cluster.run(*words, cwd=steps.folder).stdout.strip()
    wait_for(lambda: list(steps.folder.glob(SECOND)), 30)
    began = time.time()
    cluster.run("scancel", job, cwd=steps.folder)
    wait_for(lambda: not cluster.run("squeue", "-h", "-j", job, cwd=steps.folder).stdout, 30)
    check_interrupted(steps, began)


@pytest.mark.parametrize("times", [1, 3])
def test_a_signal_for_rank_0_alone(steps, sweep, times):
    """At the end of a job's time Slurm sends it several times, for the step and for the job."""
    began, aorta = time.time(), aorta_of(steps.folder, 0)
    for _ in range(times):
        os.kill(aorta, signal.SIGTERM)
        time.sleep(0.005)
    assert code_of(steps, 0) == 128 + signal.SIGTERM
    assert code_of(steps, 1) != 0
    check_interrupted(steps, began)


def assert_no_process(run):
    """Check that no work of a run goes on; what was killed leaves files behind."""
    wait_for(lambda: not processes_with(f"AORTA_SWEEP_RUN={run.matrix['run_id']}"), 10)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_another_rank_whose_aorta_ends(steps, sweep, number):
    """It is as lost as one whose work ended: its node and number are named."""
    os.kill(aorta_of(steps.folder, 1), number)
    assert code_of(steps, 0) == 1
    run = Run(steps.folder)
    assert (run.matrix["state"], run.matrix["lost_rank"]) == ("stopped", True)
    last = run.records[-1]
    assert (last["verdict"], last["lost"]["rank"], last["lost"]["node"]) == ("error", 1, "node2")
    assert_no_process(run)


def test_rank_0_that_is_killed(steps, sweep):
    """The others end by themselves, and their work with them; the matrix is as it was before the trial."""
    os.kill(aorta_of(steps.folder, 0), signal.SIGKILL)
    assert code_of(steps, 1) == 1
    err = sweep.communicate(timeout=30)[1]
    assert "1: aorta: rank 1 on node2: rank 0 was lost: " in err
    run = Run(steps.folder)
    assert run.matrix["state"] == "running"
    assert_no_process(run)
