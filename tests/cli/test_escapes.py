"""What others wrote does not steer the terminal: names of files, what a tool complained of."""

import subprocess
import sys

import pytest

from tests.parts.buck import ROOT, Project

ESCAPE = "\x1b]0;title\x07\x1b[31m"


@pytest.mark.parametrize(
    "words",
    [
        ("env", "show", f"{ESCAPE}.json"),
        ("env", "diff", f"{ESCAPE}.json", "x"),
        ("env", "probe", "--replay", f"{ESCAPE}.jsonl"),
        ("env", "probe", "-o", f"/proc/nowhere/{ESCAPE}.json"),
        ("env", "probe", "--section", ESCAPE),
        ("env", "probe", "--plugin", ESCAPE),
        ("env", "probe", "--buck-target", f"//a:{ESCAPE}"),
        ("env", "probe", "--buck-target", "//a:b", "--buck-library", f"{ESCAPE}=x"),
        ("env", "probe", "--buck-target", "//a:b", "--buck-option", f"{ESCAPE}=x"),
        (f"{ESCAPE}",),
        ("validate", "pair", f"{ESCAPE}.json", "x"),
        ("validate", "pair", "x", "y", "--junit", f"/proc/nowhere/{ESCAPE}.xml"),
    ],
)
def test_words_of_the_command_line(tmp_path, words):
    done = subprocess.run(
        [sys.executable, "-m", "aorta", *words],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT}/collectors", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode in (1, 2)
    assert done.stderr.strip()
    for stream in (done.stdout, done.stderr):
        assert not {char for char in stream if not char.isprintable()} - {"\n"}, stream


def test_what_buck2_complains_of(tmp_path):
    project = Project(tmp_path)
    project.behave("cquery", exit=3, stderr=f"Command failed: bad {ESCAPE}\n")
    ran = project.asked("--buck-default-context")
    assert "bad " in ran.err
    assert "\x1b" not in ran.err
