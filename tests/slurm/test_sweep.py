"""A sweep of a command as one task of a real Slurm step."""

import json
import sys
import time

RECIPE = """
schema_version: 1
mode: probe
ticket: T
trials: 2
mitigation_axis: [none, xnack]
diagnostic_axis: [none]
"""
AORTA = (sys.executable, "-W", "error", "-m", "aorta", "sweep", "run", "--recipe", "r.yaml")


def only_run(steps):
    [run] = steps.folder.glob("triage_results/T/command/2*")
    return run


def test_one_task_runs_a_sweep(steps):
    (steps.folder / "r.yaml").write_text(RECIPE)
    script = 'test "$SLURM_PROCID" = 0 && test -z "$HSA_XNACK"'
    done = steps.run("-n1 -N1", *AORTA, "--", "sh", "-c", script)
    assert "2/2 failed" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Wrote matrix to triage_results/T/command/")
    records = [json.loads(path.read_text()) for path in sorted(only_run(steps).glob("cells/*/trial_*.json"))]
    assert [record["verdict"] for record in records] == ["pass", "pass", "fail", "fail"]
    assert {record["launcher"]["kind"] for record in records} == {"slurm"}
    assert len({record["launcher"]["node"] for record in records}) == 1


def test_a_step_that_is_cancelled_leaves_what_is_known(steps, cluster):
    (steps.folder / "r.yaml").write_text(RECIPE)
    script = 'test "$AORTA_TRIAL" = 0 || { echo x > begun; sleep 60; }'
    with steps.start("-n1 -N1 --job-name=sweep", *AORTA, "--", "sh", "-c", script) as process:
        until = time.monotonic() + 30
        while not (steps.folder / "begun").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        [step] = [
            line.split()[0]
            for line in cluster.run(
                "squeue", "--steps", "--noheader", "--format=%i %j", cwd=steps.folder
            ).stdout.splitlines()
            if line.split()[1] == AORTA[0].rpartition("/")[2] or line.split()[1] == "sweep"
        ]
        cluster.run("scancel", "--signal=TERM", step, cwd=steps.folder)
        process.communicate(timeout=30)
    matrix = json.loads((only_run(steps) / "matrix.json").read_text())
    assert (matrix["state"], matrix["in_flight"]) == ("interrupted", {"cell": "none-none", "trial": 1})
    assert len(list(only_run(steps).glob("cells/*/trial_*.json"))) == 1
