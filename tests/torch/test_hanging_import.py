"""An import that never ends: the deadline holds, a signal ends the probe at once, and nothing is left."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.parts.fake_tools import make
from tests.parts.hostile_torches import LOCKED
from tests.parts.probing import environment, gone, probe
from tests.parts.torches import ANSWERS, VERSION, stand_in

DEADLINE_S, LOOSE_S = 6, 6

HANGING = {
    "in_python": "import time; time.sleep(600)",
    "in_native_code": f"{LOCKED}libc.pthread_mutex_lock(lock)",
}

PROGRAM = """
import sys, time
from aorta.instrumentation import capture_to
begun = time.monotonic()
capture_to(sys.argv[1], deadline_s=float(sys.argv[2]))
print(time.monotonic() - begun)
capture_to(sys.argv[1], deadline_s=float(sys.argv[2]))
print(time.monotonic() - begun)
"""

#: Writes into its caches, tells where that is, and hangs.
WRITING = """
import os, time
place = os.environ["TRITON_CACHE_DIR"]
os.makedirs(place)
open(place + "/kernel", "w").close()
with open(os.environ["TEST_MARKER"] + "/place", "w") as file:
    file.write(place)
time.sleep(600)
"""


def surroundings(folder, source, **more):
    """Return an environment in which torch is a stand-in of this source."""
    env = environment(folder, make(folder / "parts"), **more)
    return {**env, "PYTHONPATH": f"{stand_in(folder / 'site', source)}:{env['PYTHONPATH']}"}


def check(document):
    assert document["pytorch_version"] == VERSION
    assert document["pytorch_build"]["importable"] is None
    assert document["host"]["kernel_release"] == os.uname().release
    assert "timed out" in " ".join(document["partial_reasons"])
    kinds = {
        reason["kind"] for reason in document["collection"]["reasons"] if reason["section"] == "pytorch_build"
    }
    assert "timed_out" in kinds


@pytest.mark.parametrize("kind", HANGING)
def test_the_command_line_writes_by_its_deadline(tmp_path, kind):
    env = surroundings(tmp_path, f"{HANGING[kind]}\n{ANSWERS}")
    done = probe(tmp_path / "env.json", env, "--deadline", DEADLINE_S)
    assert (done.code, done.stderr.startswith("wrote ")) == (0, True)
    assert done.elapsed_s < DEADLINE_S + LOOSE_S
    check(done.document)
    assert gone(f"TEST_MARKER={tmp_path}", within_s=2) == {}


@pytest.mark.parametrize("kind", HANGING)
def test_a_program_has_its_file_by_the_deadline_and_ends(tmp_path, kind):
    env = surroundings(tmp_path, f"{HANGING[kind]}\n{ANSWERS}")
    file = tmp_path / "env.json"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(file), str(DEADLINE_S)],
        env=env,
        check=False,
        timeout=100,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, both = map(float, done.stdout.split())
    assert first < DEADLINE_S + LOOSE_S
    assert both - first < DEADLINE_S / 2
    check(json.loads(file.read_text()))
    assert gone(f"TEST_MARKER={tmp_path}", within_s=2) == {}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once(tmp_path, number):
    env = surroundings(tmp_path, WRITING, covered=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "aorta", "env", "probe", "-o", str(tmp_path / "env.json")],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    place = tmp_path / "place"
    until = time.monotonic() + 30
    while not (place.exists() and place.read_text()):
        assert time.monotonic() < until
        time.sleep(0.02)
    begun = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=40)
    assert time.monotonic() - begun < LOOSE_S
    assert (process.returncode, errors) == (128 + number, f"aorta: stopped by {number.name}\n")
    assert gone(f"TEST_MARKER={tmp_path}", within_s=2) == {}
    assert not (tmp_path / "env.json").exists()
    assert not Path(place.read_text()).exists()


def test_what_an_import_writes_as_caches_is_gone_by_the_deadline_too(tmp_path):
    env = surroundings(tmp_path, WRITING)
    done = probe(tmp_path / "env.json", env, "--timeout", "TorchFacts=3")
    assert (done.code, done.document["pytorch_build"]["importable"]) == (0, None)
    place = (tmp_path / "place").read_text()
    assert place.startswith("/tmp/aorta-")
    assert not Path(place).exists()
