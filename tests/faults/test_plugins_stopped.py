"""A signal ends a capture at once, whatever a plugin hangs in, and leaves nothing."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.parts.plugins import HEAD, Machine, collecting

HANGS = "ctypes.PyDLL(None).sleep(600)"

MODULES = {
    "stopped_run": collecting("stopped_run", f"open(__file__ + '.at', 'w').close(); {HANGS}", timeout_s=60),
    "stopped_import": f"{HEAD}\nopen(__file__ + '.at', 'w').close(); {HANGS}\n",
    "stopped_hook": f"{HEAD}\n@env_names\ndef names():\n    open(__file__ + '.at', 'w').close(); {HANGS}\n",
}

APPLICATION = """
import sys
from aorta.instrumentation import capture
try:
    capture(plugins=[sys.argv[1]])
except KeyboardInterrupt:
    print("the application goes on")
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    machine = Machine(tmp_path_factory.mktemp("plugins"))
    for name, text in MODULES.items():
        machine.write(name, text)
    return machine


def stopped(machine, name, number, command, **more):
    """Start a program, send a signal when the plugin hangs; return how it ended and after how long."""
    at = machine.folder / f"{name}.py.at"
    at.unlink(missing_ok=True)
    with open(machine.folder / "said", "w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            command,
            env={**machine.env, "TEST_MARKER": machine.marker(f"{name}-{number}"), **more},
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        until = time.monotonic() + 30
        while not at.exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert at.exists()
        begun = time.monotonic()
        os.kill(process.pid, number)
        code = process.wait(20)
        said.seek(0)
        return code, time.monotonic() - begun, said.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", MODULES)
def test_by_the_command(machine, name, number):
    command = [sys.executable, "-m", "aorta", "env", "probe", "-o", str(machine.folder / "env.json")]
    code, seconds, said = stopped(machine, name, number, command, AORTA_PLUGINS=name)
    assert code == 128 + number
    assert said == f"aorta: stopped by {number.name}\n"
    assert seconds < 2
    assert machine.left_by(f"{name}-{number}") == {}
    assert not (machine.folder / "env.json").exists()


@pytest.mark.parametrize("name", MODULES)
def test_in_an_application(machine, name):
    command = [sys.executable, "-c", APPLICATION, name]
    code, seconds, said = stopped(machine, name, signal.SIGINT, command)
    assert (code, said) == (0, "the application goes on\n")
    assert seconds < 2
    assert machine.left_by(f"{name}-{signal.SIGINT}") == {}
