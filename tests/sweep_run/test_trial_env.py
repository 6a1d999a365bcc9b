"""``aorta env show`` and ``env diff`` take the record of a trial: the snapshot in it, nulls as they were."""

import json
import subprocess
import sys

import pytest

from aorta.model.sections import ORDER

NAME = "HSA_DISABLE_CACHE"
PLAIN, CHANGED = (f"cells/{cell}-none/trial_001.json" for cell in ("none", "hsa_disable_cache"))


@pytest.fixture
def run(sweeps):
    """Return the folder of a run of two cells, of which one sets a variable."""
    sweeps.recipe("none, hsa_disable_cache", trials=2)
    assert sweeps.run(command=["true"]).returncode == 0
    return sweeps.folder / "triage_results/T-1/command/latest"


@pytest.fixture
def env(sweeps):
    """Return a function that calls ``aorta env``."""

    def call(*words, cwd=None):
        line = [sys.executable, "-W", "error", "-m", "aorta", "env", *map(str, words)]
        return subprocess.run(
            line,
            cwd=cwd or sweeps.folder,
            env=sweeps.environ(covered=True),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    return call


def test_the_variable_that_a_cell_sets_is_the_only_difference(run, env):
    ran = env("diff", PLAIN, CHANGED, "--all", "--exit-code", cwd=run)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.splitlines()[-1] == "1 difference, 0 informational, 0 unknown on one side"
    [line] = [line for line in ran.stdout.splitlines() if NAME in line]
    assert line.split("  ")[1].strip() == f"env_vars.{NAME}" and "not set" in line


def test_a_variable_with_a_declared_key_that_only_one_trial_has(sweeps, env):
    sweeps.recipe("none, hsa_no_scratch_reclaim", trials=1)
    assert sweeps.run(command=["true"]).returncode == 0
    run = sweeps.folder / "triage_results/T-1/command/latest"
    one, other = (f"cells/{cell}-none/trial_000.json" for cell in ("none", "hsa_no_scratch_reclaim"))
    found = json.loads(env("diff", one, other, "--json", cwd=run).stdout)
    [row] = found["differences"]
    assert (row["path"], row["a"], row["b"]) == ("env_vars.HSA_NO_SCRATCH_RECLAIM", None, "1")
    assert found["unknown"] == []
    ran = env("show", one, "--field", "env_vars.HSA_NO_SCRATCH_RECLAIM", cwd=run)
    assert (ran.returncode, ran.stdout) == (0, "null\n")


def test_a_trial_is_as_the_snapshot_of_the_host(run, env):
    ran = env("diff", "host_env.json", PLAIN, "--all", "--exit-code", cwd=run)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "0 differences, 0 informational, 0 unknown on one side"


def test_every_section_has_the_shape_that_it_has_in_a_snapshot(run, env):
    host, trial = (
        json.loads(env("show", file, "--json", cwd=run).stdout) for file in ("host_env.json", PLAIN)
    )
    assert list(trial) == list(host)
    for name in ORDER:
        assert keys(trial[name]) == keys(host[name]), name
    reasons = [
        {json.dumps(one, sort_keys=True) for one in each["collection"]["reasons"]} for each in (host, trial)
    ]
    assert reasons[0] == reasons[1]


def keys(value):
    """Return the keys of a value, all the way down."""
    if isinstance(value, dict):
        return {name: keys(one) for name, one in value.items()}
    return [keys(one) for one in value] if isinstance(value, list) else None


def test_a_null_says_why_as_it_does_in_the_snapshot(run, env):
    field = ("--field", "amdgpu_driver.loaded_version")
    host, trial = (env("show", file, *field, cwd=run) for file in ("host_env.json", PLAIN))
    assert (trial.returncode, trial.stdout, trial.stderr) == (0, "null\n", host.stderr)
    assert "is not there" in trial.stderr


def test_a_record_that_was_taken_out_of_its_run_does_not_guess(run, env, sweeps):
    sweeps.write("alone.json", (run / PLAIN).read_text())
    ran = env("show", "alone.json", "--field", "amdgpu_driver.loaded_version")
    assert ran.returncode == 0 and "not asked again; the snapshot of 20" in ran.stderr
    found = json.loads(env("diff", "alone.json", run / CHANGED, "--json").stdout)
    assert [row["path"] for row in found["differences"]] == [f"env_vars.{NAME}"]


def test_the_summary_and_another_version_of_it(run, env):
    ran = env("show", PLAIN, cwd=run)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "not a whole snapshot" not in ran.stdout
    old = json.loads(env("show", PLAIN, "--as", "1.17", cwd=run).stdout)
    assert old["schema_version"] == "1.17"


@pytest.mark.parametrize(
    "change",
    [
        {"collection": []},
        {"collection": {"reused": {"x": 3}, "reasons": [4]}},
        {"extensions": 1},
        {"rocm": 5, "gpus": {}},
    ],
)
def test_a_record_that_was_mangled(run, env, change):
    record = json.loads((run / PLAIN).read_text())
    record["env"].update(change)
    (run / "mangled.json").write_text(json.dumps(record))
    for words in (("show", "mangled.json"), ("diff", "mangled.json", CHANGED)):
        ran = env(*words, cwd=run)
        assert ran.returncode == 0 and "Traceback" not in ran.stderr
