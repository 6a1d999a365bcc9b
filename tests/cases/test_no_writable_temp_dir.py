"""Nothing but the output directory can be written to: the capture needs nothing more."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.uncovered import UNCOVERED

CASE = "no-writable-temp-dir"

ROOT = Path(__file__).resolve().parents[2]

#: Runs before anything of aorta and refuses every write outside one directory, as read-only mounts would.
GUARD = """
import errno, os, sys

ALLOWED = os.environ["ONLY_WRITABLE"] + "/"
CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def guard(event, args):
    path = None
    if event == "open" and isinstance(args[0], (str, bytes)):
        flags = args[2] if isinstance(args[2], int) else 0
        path = args[0] if flags & CHANGES else None
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.link", "os.symlink", "os.truncate"):
        path = args[0]
    elif event in ("tempfile.mkstemp", "tempfile.mkdtemp"):
        path = "/tmp/x"
    if path is None:
        return
    path = os.path.abspath(os.fsdecode(path))
    if not path.startswith(ALLOWED) and path != "/dev/null":
        os.write(2, b"refused: " + os.fsencode(path) + b"\\n")
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

sys.addaudithook(guard)
"""


def run(folder, *words, command=None):
    guard = folder / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD)
    out = folder / "out"
    out.mkdir()
    environ = {
        **UNCOVERED,
        "PYTHONPATH": f"{guard}:{ROOT}:{ROOT}/collectors",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ONLY_WRITABLE": str(out),
        "TMPDIR": "/nowhere",
        "HOME": "/nowhere",
        "XDG_RUNTIME_DIR": "/nowhere",
    }
    line = command or [sys.executable, "-m", "aorta", "env", "probe"]
    return subprocess.run([*line, *words], cwd="/", env=environ, capture_output=True, text=True, timeout=100)


def test_the_guard_guards(tmp_path):
    script = "import tempfile; tempfile.mkstemp()"
    done = run(tmp_path, command=[sys.executable, "-c", script])
    assert done.returncode == 1
    assert "refused" in done.stderr or "No usable temporary directory" in done.stderr


def test_only_the_output_directory_is_written_to(tmp_path):
    done = run(tmp_path, "-o", str(tmp_path / "out" / "env.json"))
    assert done.returncode == 0
    assert "refused" not in done.stderr
    assert json.loads((tmp_path / "out" / "env.json").read_text())["schema_version"] == "2.0"
    assert os.listdir(tmp_path / "out") == ["env.json"]


@pytest.mark.parametrize("words", [["-o", "-"], ["--summary"], ["--extended", "--json"]])
def test_standard_output_needs_no_disk_at_all(tmp_path, words):
    done = run(tmp_path, *words)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout
    assert os.listdir(tmp_path / "out") == []


def test_recording_writes_beside_its_target_only(tmp_path):
    target = tmp_path / "out" / "host.jsonl"
    done = run(tmp_path, str(target), command=[sys.executable, "-m", "aorta", "env", "record"])
    assert done.returncode == 0
    assert "refused" not in done.stderr
    assert os.listdir(tmp_path / "out") == ["host.jsonl"]
