"""Scripts of a batch job: what is no task of a step, and a job that was requeued."""

import json
import re
import time

from tests.slurm.conftest import wait_for
from tests.slurm.rank_sweeps import SWEEP, Run, recipe


def batch(steps, text, *options):
    """Submit a script for two nodes and four tasks, and return its number."""
    words = ("sbatch", "--parsable", "-N2", "--ntasks-per-node=2", "--output=out.txt", "--error=err.txt")
    done = steps.cluster.run(*words, *options, steps.script(text), cwd=steps.folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def written(steps, name, seconds):
    """Wait until a script has written a line to a file, which is there before that, and return it."""
    path = steps.folder / name
    wait_for(lambda: path.exists() and path.read_text().endswith("\n"), seconds)
    return path.read_text()


def ended(steps, seconds=40):
    """Wait until a script has written its exit status, and return it with what it said."""
    status = int(written(steps, "status", seconds))
    return status, (steps.folder / "err.txt").read_text()


def test_a_script_that_forgot_srun(steps):
    """One clear error at once, instead of a wait for ranks that never come."""
    recipe(steps.folder)
    batch(steps, f"date +%s.%N > began; {' '.join(SWEEP)}; echo $? > status; date +%s.%N > over")
    code, err = ended(steps)
    assert code == 2
    [line] = err.splitlines()
    assert line.startswith("aorta: this is the script or shell of Slurm job ")
    assert line.endswith("which has 4 tasks, and none of its tasks: start it as srun aorta sweep run …")
    assert not (steps.folder / "triage_results").exists()
    began, over = (float(written(steps, name, 20)) for name in ("began", "over"))
    print(f"it took {over - began:.2f} s")
    assert over - began < 30


def test_a_shell_of_an_allocation_that_forgot_srun(steps):
    recipe(steps.folder)
    done = steps.cluster.run("salloc", "-N2", "--ntasks-per-node=2", *SWEEP, cwd=steps.folder)
    assert done.returncode == 2
    assert "which has 4 tasks, and none of its tasks" in done.stderr
    assert not (steps.folder / "triage_results").exists()


def test_a_command_in_a_script(steps):
    """A command starts ranks itself, if any."""
    axes = "mitigation_axis: [none]\ndiagnostic_axis: [none]\n"
    (steps.folder / "r.yaml").write_text(f"schema_version: 1\nmode: probe\nticket: T\ntrials: 1\n{axes}")
    batch(steps, f"{' '.join(SWEEP)} -- srun -N2 -n4 true; echo $? > status")
    code, err = ended(steps)
    assert code == 0, err
    [record] = Run(steps.folder, workload="command").records
    assert record["verdict"] == "pass"


def test_a_step_of_a_script(steps):
    recipe(steps.folder)
    batch(steps, f"srun {' '.join(SWEEP)}; echo $? > status")
    code, err = ended(steps)
    assert code == 0, err
    assert Run(steps.folder).matrix["world_size"] == 4


def test_a_job_that_is_requeued_goes_on(steps):
    """All ranks see that the job was started again: the trials that are done do not run twice."""
    recipe(steps.folder, trials=4, steps=1, pause_ms=1500.0)
    told = f'srun {" ".join(SWEEP)}; code=$?; test -z "$SLURM_RESTART_COUNT" || echo $code > status'
    job = batch(steps, told, "--requeue", "--open-mode=append")
    records = "triage_results/T/ranks/2*/cells/base/trial_00[01].json"
    wait_for(lambda: len(list(steps.folder.glob(records))) == 2, 60)
    first = {path: path.read_bytes() for path in steps.folder.glob(records)}
    steps.cluster.run("scontrol", "requeue", job, cwd=steps.folder)
    # A requeued job waits some time, unless it is told to be there at once.
    until = time.monotonic() + 20
    while "PENDING" not in steps.cluster.run("squeue", "-h", "-j", job, "-o", "%T", cwd=steps.folder).stdout:
        assert time.monotonic() < until
        time.sleep(0.1)
    steps.cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now", cwd=steps.folder)
    code, err = ended(steps, seconds=90)
    assert code == 0, err
    run = Run(steps.folder)
    assert (run.matrix["state"], len(run.matrix["resumed_at"]), len(run.records)) == ("complete", 1, 8)
    for path, content in first.items():
        assert path.read_bytes() == content
    assert "resum" in err or "gone on with" in err
    # A requeue ends a trial as a user does.
    warnings = json.loads((run.path / "matrix.json").read_text())["warnings"]
    cut_off = (
        r"trial \d of (?:base|xnack) was under way when aorta was ended, and is run again(; its logs .*)?"
    )
    assert len(warnings) <= 1
    assert all(re.fullmatch(cut_off, text) for text in warnings)


def test_a_job_that_is_suspended_goes_on(steps):
    """Slurm stops its nodes one after the other, for longer than a connection may be silent."""
    recipe(steps.folder, trials=2, steps=1, pause_ms=3000.0)
    job = batch(steps, f"srun {' '.join(SWEEP)}; echo $? > status")
    wait_for(
        lambda: list(steps.folder.glob("triage_results/T/ranks/2*/cells/base/trial_000.rank3.trace")), 40
    )
    assert steps.cluster.run("scontrol", "suspend", job, cwd=steps.folder).returncode == 0
    time.sleep(12)
    assert not (steps.folder / "status").exists()
    assert steps.cluster.run("scontrol", "resume", job, cwd=steps.folder).returncode == 0
    code, err = ended(steps, seconds=60)
    assert code == 0, err
    run = Run(steps.folder)
    assert [record["verdict"] for record in run.records] == ["pass"] * 4, err
    notes = [[note for note in record["notes"] if "aorta stood still for" in note] for record in run.records]
    assert [len(found) for found in notes] == [1, 0, 0, 0]
