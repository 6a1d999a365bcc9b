"""A probe that a signal ends at any moment: its status, no line too much, no file but a whole one, no process."""

import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.parts.fake_tools import make
from tests.parts.probing import ROOT, environment, gone

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
LIMIT_S = 40
AT_ONCE = 4
HASHED = 3 << 30

#: What keeps the probe: nothing, a tool, a library that takes seconds to hash.
KEEPING = {"nothing": {}, "a_tool": {"TOOLS_HANG": "fork"}, "a_digest": {"ROCM_PATH": "{folder}/rocm"}}


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped")
    library = folder / "rocm" / "lib" / "librccl.so.1.0"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"\x7fELF")
    os.truncate(library, HASHED)
    return folder, make(folder / "parts")


def stopped(machine, name, variables, number, delay_s, old):
    """Start a probe, signal it after a time; return the status, the errors, the files and who is left."""
    folder, path = machine
    place = folder / name
    place.mkdir()
    if old:
        (place / "env.json").write_text("{}")
    more = {key: value.format(folder=folder) for key, value in variables.items()}
    env = environment(folder, path, covered=False, **more, TEST_MARKER=place, HOME=place)
    process = subprocess.Popen(
        [sys.executable, "-m", "aorta", "env", "probe", "-o", str(place / "env.json")],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(delay_s)
    process.send_signal(number)
    _, errors = process.communicate(timeout=LIMIT_S)
    files = {file.name: file.read_text() for file in place.iterdir() if file.is_file()}
    left = [str(file) for file in place.rglob("*.tmp")]
    return process.returncode, errors, files, left, gone(f"TEST_MARKER={place}", within_s=3)


@pytest.mark.parametrize("keeping", KEEPING)
def test_a_signal_at_any_moment(machine, keeping):
    count = 40 if keeping != "a_digest" else 20
    span_s = {"nothing": 0.5, "a_tool": 0.8, "a_digest": 1.2}[keeping]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {}
        for at in range(count):
            number, old = list(CODES)[at % 3], at % 2 == 0
            name, delay_s = f"{keeping}-{at}", span_s * at / count
            call = pool.submit(stopped, machine, name, KEEPING[keeping], number, delay_s, old)
            futures[name] = (number, old, call)
    codes = set()
    for name, (number, old, future) in futures.items():
        code, errors, files, left, processes = future.result()
        codes.add(code)
        word = f"{name}, status {code}: {errors}"
        # Before the first line of aorta runs, the signal does what it does to any interpreter.
        by_python = "Traceback" in errors and f"{ROOT}/aorta" not in errors
        assert by_python or code in (0, CODES[number], -number), word
        assert (left, processes) == ([], {}), word
        assert set(files) <= {"env.json"}, word
        if code == 0:
            assert errors.startswith("wrote "), word
            assert "schema_version" in json.loads(files["env.json"]), word
        elif old:
            assert files["env.json"] == "{}" or "schema_version" in json.loads(files["env.json"]), word
        if code == CODES[number] and not by_python:
            assert errors in ("", f"aorta: stopped by {number.name}\n") or errors.startswith("wrote "), word
    assert codes & set(CODES.values()), "none was stopped"
