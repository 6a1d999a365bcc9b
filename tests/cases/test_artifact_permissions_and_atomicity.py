"""The result replaces an older file whole, with the mode that the umask gives, or not at all."""

import json
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.uncovered import UNCOVERED

CASE = "artifact-permissions-and-atomicity"

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("aorta", "env", "probe", "--section", "python_version", "-o", "env.json")


def run(folder, mask=0o022, limit=None):
    def prepare():
        os.umask(mask)
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    environ = {**UNCOVERED, "PYTHONPATH": f"{ROOT}:{ROOT}/collectors"}
    return subprocess.run(
        [sys.executable, "-m", *WORDS],
        cwd=folder,
        env=environ,
        preexec_fn=prepare,
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o002, 0o664)])
@pytest.mark.parametrize("older", [False, True])
def test_the_mode_is_the_umasks(tmp_path, mask, mode, older):
    target = tmp_path / "env.json"
    if older:
        target.write_text("{}")
        os.utime(target, (1, 1))
    assert run(tmp_path, mask).returncode == 0
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert json.loads(target.read_text())["captured_at"].endswith("Z")
    assert os.listdir(tmp_path) == ["env.json"]


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    assert run(tmp_path).returncode == 0
    before = (tmp_path / "env.json").read_bytes()
    inode = (tmp_path / "env.json").stat().st_ino
    assert run(tmp_path, limit=4096).returncode == 1
    assert (tmp_path / "env.json").read_bytes() == before
    assert (tmp_path / "env.json").stat().st_ino == inode
    assert os.listdir(tmp_path) == ["env.json"]


def test_the_time_of_the_capture_is_inside(tmp_path):
    assert run(tmp_path).returncode == 0
    first = json.loads((tmp_path / "env.json").read_text())["captured_at"]
    os.utime(tmp_path / "env.json", (1, 1))
    assert json.loads((tmp_path / "env.json").read_text())["captured_at"] == first
    assert first.startswith("20")
