"""Native code under torch writes a line for each GPU straight to descriptor 2: nobody is shown it as an error."""

import json
import subprocess
import sys

import pytest

from tests.parts.fake_tools import make
from tests.parts.probing import environment, gone, probe
from tests.parts.torches import ANSWERS, stand_in

CASE = "aorta-220-native-stderr-noise"

LINE = "(null): No such file or directory\n"
#: As native code does, which knows nothing of sys.stderr; one line of a child of it, and one at the end.
NOISE = f"""
import atexit, os, subprocess
for _ in range(8):
    os.write(DESCRIPTOR, {LINE.encode()!r})
subprocess.run(["/bin/sh", "-c", "echo of a child >&DESCRIPTOR"])
"""

PROGRAM = """
import subprocess, sys
from aorta.instrumentation import capture_to
snapshot = capture_to(sys.argv[1])
sys.exit(subprocess.run(["/bin/echo", "hi"]).returncode)
"""


@pytest.fixture(params=[1, 2], ids=["stdout", "stderr"])
def env(request, tmp_path):
    source = NOISE.replace("DESCRIPTOR", str(request.param)) + ANSWERS
    made = environment(tmp_path, make(tmp_path / "parts"))
    return {**made, "PYTHONPATH": f"{stand_in(tmp_path / 'site', source)}:{made['PYTHONPATH']}"}


def check(document):
    build = document["pytorch_build"]
    assert build["importable"] is True
    assert build["import_error"] is None
    assert build["import_stderr"] == LINE * 8 + "of a child\n"
    assert [line for line in document["partial_reasons"] if "null" in line] == []


def test_the_command_line_says_its_own_line_and_no_other(env, tmp_path):
    done = probe(tmp_path / "env.json", env)
    (line,) = done.stderr.splitlines()
    assert line.startswith("wrote ")
    assert done.code == 0
    check(done.document)


def test_quiet_is_quiet(env, tmp_path):
    done = probe(tmp_path / "env.json", env, "--quiet")
    assert (done.code, done.stderr) == (0, "")


def test_the_document_on_standard_output_is_whole(env):
    command = [
        sys.executable,
        "-m",
        "aorta",
        "env",
        "probe",
        "--quiet",
        "-o",
        "-",
        "--section",
        "pytorch_build",
    ]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=100)
    assert done.stderr == ""
    assert done.stdout.startswith("{\n") and done.stdout.endswith("}\n")


def test_a_program_and_what_it_starts_print_their_own_words_alone(env, tmp_path):

    file = tmp_path / "env.json"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file)],
        env=env,
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "hi\n", "")
    check(json.loads(file.read_text()))
    assert gone(f"TEST_MARKER={tmp_path}", within_s=2) == {}
