"""Sweeps of workloads: in this process and each trial in a fresh interpreter."""

import json

import pytest

MODULE = '''
import os
import attrs
from aorta.workloads import Workload, WorkloadResult

AT_IMPORT = os.environ.get("HSA_XNACK")


@attrs.frozen(kw_only=True)
class Config:
    steps: int = 1
    breaks: str = ""


class Small(Workload):
    """A workload for tests."""

    config_type = Config
    trial_isolation_supported = frozenset({"in_process", "process"})

    def run(self):
        print("at work", self.trial.cell, self.trial.trial)
        if self.config.breaks == "assert":
            assert False, "wrong sum"
        if self.config.breaks == "raise":
            raise RuntimeError("no network")
        if self.config.breaks == "crash":
            os.abort()
        return WorkloadResult(
            passed=os.environ.get("HSA_XNACK") is None,
            step_times_ms=tuple(float(n + 10) for n in range(self.config.steps)),
            executed_iterations=self.config.steps,
            configured_iterations=self.config.steps,
            metrics={"at_import": AT_IMPORT or "unset", "speed": 2.5},
        )
'''

RECIPE = """
schema_version: 1
workload: small
ticket: W
trials: 2
steps: 4
trial_isolation: {isolation}
cells:
  - {{name: base, mitigations: [none], environment: local}}
  - {{name: xnack, mitigations: [xnack], environment: local}}
  - {{name: asserts, mitigations: [none], environment: local, workload_config: {{breaks: assert}}}}
  - {{name: raises, mitigations: [none], environment: local, workload_config: {{breaks: raise}}}}
{more}
"""
CRASH = "  - {name: crashes, mitigations: [none], environment: local, workload_config: {breaks: crash}}"


@pytest.mark.parametrize("isolation", ["in_process", "process"])
def test_a_workload_s_trials(sweeps, isolation):
    sweeps.write("small_workload.py", MODULE)
    sweeps.write("r.yaml", RECIPE.format(isolation=isolation, more=CRASH if isolation == "process" else ""))
    paths = f"{sweeps.folder}:{sweeps.environ()['PYTHONPATH']}"
    done = sweeps.run(AORTA_WORKLOADS="small=small_workload:Small", PYTHONPATH=paths)
    assert done.returncode == 0, done.stdout + done.stderr
    records = sweeps.records()
    verdicts = {cell: record["verdict"] for (cell, _), record in records.items()}
    wanted = {"base": "pass", "xnack": "fail", "asserts": "fail", "raises": "error"}
    assert verdicts == {**wanted, **({"crashes": "fail"} if isolation == "process" else {})}
    base = records["base", 0]
    assert (base["step_times_ms"], base["step_time_source"]) == ([10.0, 11.0, 12.0, 13.0], "per_step")
    assert (base["iterations"], base["configured_iterations"]) == (4, 4)
    assert "wrong sum" in records["asserts", 0]["traceback"]
    assert "no network" in records["raises", 1]["reason"]
    # What a module reads when it is imported differs in a fresh interpreter alone.
    seen = records["xnack", 0]["metrics"]["at_import"]
    assert seen == ("1" if isolation == "process" else "unset")
    matrix = sweeps.matrix()
    cells = {cell["name"]: cell for cell in matrix["cells"]}
    assert matrix["trial_isolation"] == isolation
    assert cells["base"]["mean_step_time_ms"] == 12.0
    assert cells["raises"]["failure_rate"] is None
    assert cells["base"]["metrics_summary"]["speed"]["mean"] == 2.5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("workload: smal", "small"),
        ("workload: small\nworkload_config: {brakes: x}", "breaks"),
        ("workload: small\nworkload_config: {breaks: 3}", "breaks"),
        ("workload: small\ntrial_isolation: sometimes", "in_process"),
    ],
)
def test_what_the_workload_does_not_take_is_refused(sweeps, text, said):
    sweeps.write("small_workload.py", MODULE)
    recipe = RECIPE.format(isolation="auto", more="").replace("workload: small", text.splitlines()[0])
    if "\n" in text:
        key = text.splitlines()[1]
        recipe = recipe.replace("trial_isolation: auto", key)
    sweeps.write("r.yaml", recipe)
    paths = f"{sweeps.folder}:{sweeps.environ()['PYTHONPATH']}"
    for words in ((), ("--dry-run",)):
        done = sweeps.run(*words, AORTA_WORKLOADS="small=small_workload:Small", PYTHONPATH=paths)
        assert done.returncode == 2, done.stdout + done.stderr
        assert said in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
    assert not sweeps.runs


def test_a_run_that_a_trial_crashed_says_how_it_is_kept_apart(sweeps):
    sweeps.write("small_workload.py", MODULE)
    sweeps.write("r.yaml", RECIPE.format(isolation="in_process", more=CRASH))
    more = {
        "AORTA_WORKLOADS": "small=small_workload:Small",
        "PYTHONPATH": f"{sweeps.folder}:{sweeps.environ()['PYTHONPATH']}",
    }
    assert sweeps.run(**more).returncode < 0
    again = sweeps.run("--resume", **more)
    assert again.returncode < 0
    assert "if one crashes it, begin a new run with trial_isolation: process" in again.stderr


def test_list_workloads_shows_it(sweeps):
    sweeps.write("small_workload.py", MODULE)
    paths = f"{sweeps.folder}:{sweeps.environ()['PYTHONPATH']}"
    done = sweeps.call(
        "list-workloads", "--json", AORTA_WORKLOADS="small=small_workload:Small", PYTHONPATH=paths
    )
    assert done.returncode == 0, done.stderr
    names = {one["name"] for one in json.loads(done.stdout)["workloads"]}
    assert {"small", "command"} <= names
