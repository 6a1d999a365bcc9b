"""Environments of cells: a virtual one is run in, others that nothing honours are refused."""

import json
import subprocess
import sys

import pytest

CELLS = """
schema_version: 1
workload: command
command: [python, -c, "import sys; print(sys.prefix)"]
trials: 1
environments:
  other: {venv: %s}
cells:
  - {name: here, mitigations: [none], environment: local}
  - {name: there, mitigations: [none], environment: other}
"""


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    place = tmp_path_factory.mktemp("venvs") / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    return place


def test_a_command_runs_in_the_virtual_environment(sweeps, venv):
    (sweeps.programs / "python").symlink_to(sys.executable)
    sweeps.write("r.yaml", CELLS % venv)
    done = sweeps.run()
    assert done.returncode == 0, done.stdout + done.stderr
    logs = {
        cell: (sweeps.only_run / f"cells/{cell}/trial_000.stdout.log").read_text().strip()
        for cell in ("here", "there")
    }
    assert logs["there"] == str(venv)
    assert logs["here"] != str(venv)
    records = sweeps.records()
    assert records["there", 0]["env_overlay"]["VIRTUAL_ENV"] == str(venv)
    assert records["there", 0]["env"]["collection"]["python"] == f"{venv}/bin/python"
    whole = json.loads((sweeps.only_run / "environments/other/env.json").read_text())
    assert whole["collection"]["python"] == f"{venv}/bin/python"


def test_without_its_virtual_environment_a_command_does_not_run_elsewhere(sweeps, venv):
    (sweeps.programs / "python").symlink_to(sys.executable)
    copy = sweeps.folder / "copy"
    subprocess.run(["cp", "-a", str(venv), str(copy)], check=True)
    sweeps.write("r.yaml", (CELLS % copy).replace("trials: 1", "trials: 2"))
    script = "import sys, os; open('ran', 'a').write(sys.prefix + '\\n'); os.rename(sys.prefix, 'away')"
    assert sweeps.run("--only", "there", command=("python", "-c", script)).returncode == 0
    assert sweeps.lines("ran") == [str(copy)]
    first, second = sweeps.records().values()
    assert (first["verdict"], second["verdict"]) == ("pass", "error")
    assert second["reason"] == f"{copy}/bin/python is gone or cannot be executed"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ("{docker: 'foo/bar:1'}", "container"),
        ("emulated-rocjitsu", "emulator"),
        ("nowhere", "nowhere"),
    ],
)
def test_what_nothing_honours_is_refused_before_anything_runs(sweeps, environment, said):
    text = CELLS % "/x/y"
    text = text.replace("environment: other}", f"environment: {environment}}}").replace("[python", "[sh")
    sweeps.write("r.yaml", text)
    done = sweeps.run()
    assert done.returncode == 2
    assert said in done.stderr
    assert not sweeps.runs


def test_a_virtual_environment_in_the_home_directory(sweeps, venv):
    (sweeps.folder / "home/other").symlink_to(venv)
    sweeps.write("r.yaml", CELLS % "~/other")
    (sweeps.programs / "python").symlink_to(sys.executable)
    done = sweeps.run()
    assert done.returncode == 0, done.stdout + done.stderr
    folder = f"{sweeps.folder}/home/other"
    record = sweeps.records()["there", 0]
    assert record["env_overlay"]["VIRTUAL_ENV"] == folder
    assert record["env"]["collection"]["python"] == f"{folder}/bin/python"


def test_a_virtual_environment_that_is_none_is_refused(sweeps):
    sweeps.write("r.yaml", (CELLS % "/x/y").replace("command: [python", "command: [sh"))
    done = sweeps.run()
    assert (done.returncode, "/x/y" in done.stderr) == (2, True)
    assert not sweeps.runs
