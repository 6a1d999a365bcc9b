"""The gate with streams that take nothing, and reports on top of other files."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.pairs import client, workload

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "command": f"{sys.executable} -m aorta validate pair",
    "script": f"{sys.executable} {ROOT}/scripts/validate_buck_env_pair.py",
}


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a line of a shell beside a pair that has one warning."""
    (tmp_path / "client.json").write_text(json.dumps(client()))
    (tmp_path / "w.json").write_text(json.dumps(workload({"partial_reasons": ["x: denied"]})))

    def shell(line):
        return subprocess.run(
            ["sh", "-c", line],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT}/collectors"},
            capture_output=True,
            text=True,
            timeout=100,
        )

    return shell


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("strict", "code"), [("", 0), ("--strict", 1)])
def test_a_standard_error_that_is_full(run, program, strict, code):
    done = run(f"{PROGRAMS[program]} {strict} client.json w.json 2>/dev/full")
    assert (done.returncode, done.stdout[:4]) == (code, "FAIL" if code else "PASS")


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("content", [gzip.compress(b"{}"), b"\xff\xfe{", b"text", b"\xef\xbb\xbf{}", b'"x"'])
def test_a_report_does_not_replace_another_file(tmp_path, run, program, content):
    (tmp_path / "other").write_bytes(content)
    done = run(f"{PROGRAMS[program]} client.json w.json --junit other")
    assert (done.returncode, (tmp_path / "other").read_bytes()) == (1, content)
    assert "something else than XML" in done.stderr


@pytest.mark.parametrize("content", [b"", b"<testsuites/>", b"\xef\xbb\xbf<?xml version='1.0'?>\n<a/>"])
def test_a_report_replaces_a_report(tmp_path, run, content):
    (tmp_path / "report.xml").write_bytes(content)
    assert run(f"{PROGRAMS['script']} client.json w.json --junit report.xml").returncode == 0
    assert (tmp_path / "report.xml").read_text().startswith("<testsuites>")
