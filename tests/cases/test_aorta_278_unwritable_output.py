"""The result cannot be written: one line, a status that says so, and nothing left behind."""

import ctypes
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.uncovered import UNCOVERED

CASE = "aorta-278-unwritable-output"

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = {
    "module": ("aorta.instrumentation._probe_main",),
    "command": ("aorta", "env", "probe", "-o"),
}


def run(folder, entry, target, **options):
    environ = {**UNCOVERED, "PYTHONPATH": f"{ROOT}:{ROOT}/collectors", "PATH": "/nowhere"}
    return subprocess.run(
        [sys.executable, "-m", *ENTRIES[entry], str(target)],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=100,
        **options,
    )


def fails(done, target, text):
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [f"aorta: cannot write {target}: {text}"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_file_system_that_takes_no_files(tmp_path, entry):
    """EROFS and EACCES: where root may write as well, the kernel's own file system refuses."""
    target = "/proc/sys/env.json"
    done = run(tmp_path, entry, target)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert target in done.stderr and "Traceback" not in done.stderr


def as_anybody():
    """Give up, for the program to come, root's right to write where permission is not given."""
    if os.geteuid() == 0:
        drop_from_bounding_set, dac_override = 24, 1
        assert ctypes.CDLL(None).prctl(drop_from_bounding_set, dac_override, 0, 0, 0) == 0


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_permission(tmp_path, entry):
    folder = tmp_path / "ro"
    folder.mkdir(mode=0o555)
    target = folder / "env.json"
    fails(run(tmp_path, entry, target, preexec_fn=as_anybody), target, "Permission denied")
    assert os.listdir(folder) == []


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_space_left(tmp_path, entry):
    fails(run(tmp_path, entry, "/dev/full"), "/dev/full", "No space left on device")


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_write_breaks_off_half_way(tmp_path, entry):
    """A limit on the size of files stands for a disk that becomes full while the result is written."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    fails(
        run(tmp_path, entry, tmp_path / "env.json", preexec_fn=limit), tmp_path / "env.json", "File too large"
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_missing_parent_is_made_and_one_that_is_a_file_is_said(tmp_path, entry):
    assert run(tmp_path, entry, tmp_path / "a" / "b" / "env.json").returncode == 0
    assert os.listdir(tmp_path / "a" / "b") == ["env.json"]
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "env.json"
    fails(run(tmp_path, entry, target), target, "Not a directory")
