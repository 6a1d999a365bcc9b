"""A wrong recipe on the command line: a line for each fault, exit status 2, and nothing written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WRONG = Path(__file__).parent / "wrong"
ROOT = Path(__file__).resolve().parents[2]
ENVIRON = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'collectors'}"}


def refused(recipe, folder, *more):
    command = [sys.executable, "-m", "aorta", "sweep", "run", "--recipe", str(recipe), *more]
    done = subprocess.run(command, cwd=folder, env=ENVIRON, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, os.listdir(folder)) == (2, "", [])
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    "name",
    [
        "top-list",
        "schema-version-missing",
        "schema-version-text",
        "schema-version-two",
        "key-unknown",
        "key-of-probe",
        "mode-sanitizer",
        "trials-zero",
        "cell-name-twice",
        "extra-env-number",
        "config-own",
        "collect-unknown",
        "baseline-no-cell",
        "stop-after-without-cap",
        "several",
    ],
)
def test_each_fault_is_a_line(name, tmp_path):
    path = WRONG / f"{name}.yaml"
    said = [line for line in path.read_text("utf-8").splitlines() if line.startswith("# says ")]
    expected = [f"aorta: {path}:{line.removeprefix('# says ')}" for line in said]
    assert refused(path, tmp_path) == expected
    assert name != "several" or len(expected) == 6


def test_a_dry_run_says_the_same(tmp_path):
    path = WRONG / "steps-zero.yaml"
    assert refused(path, tmp_path, "--dry-run") == [f"aorta: {path}:4:8: steps: is 0; the least is 1"]


def test_a_recipe_that_is_not_there(tmp_path):
    assert refused("none.yaml", tmp_path) == ["aorta: none.yaml: cannot be read: No such file or directory"]
    assert refused(".", tmp_path) == ["aorta: .: is a directory; name a recipe in it"]
