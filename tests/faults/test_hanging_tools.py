"""Tools that hang, flood, will not die or leave others behind: the probe ends in time, and ends them all."""

import os
import signal
import subprocess

import pytest

from tests.parts.fake_tools import ANSWERS, make
from tests.parts.needs import need
from tests.parts.probing import differing, environment, gone, probe, side_by_side

DEADLINE_S = 5
#: The figure (0.5 s) is measured by tests/bench/figures.py; this only tells "in time" from "waits for the tools".
LOOSE_S = 5

#: What every tool (``all``) or one does in place of answering.
BROKEN = {
    "hang": ("all", "exec sleep 600"),
    "hang_in_a_child": ("all", "sleep 600\nexit 1"),
    "hang_in_another_session": ("all", "/usr/bin/setsid sleep 600 &\nsleep 600"),
    "ignore_signals": ("all", "trap '' TERM HUP INT QUIT PIPE\nwhile :; do sleep 600; done"),
    "flood": ("hipconfig", "exec /usr/bin/head -c 1000000000 /dev/zero"),
    "flood_for_ever": ("modinfo", "exec /usr/bin/yes"),
    "no_text": ("all", r"printf '\377\376\0\200 \355\240\200'; printf '\377' >&2"),
    "kill_own_group": ("all", "kill -KILL 0"),
    "stop_own_group": ("all", "kill -STOP 0"),
    "close_output_and_stay": ("all", "exec >&- 2>&-\nexec sleep 600"),
}

#: Cases in which tools run into the deadline.
HANGING = (
    "hang",
    "hang_in_a_child",
    "hang_in_another_session",
    "ignore_signals",
    "stop_own_group",
    "close_output_and_stay",
)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Make tools that answer; return the PATH."""
    return make(tmp_path_factory.mktemp("good") / "parts")


def breaking(folder, good, which, body):
    """Put broken tools before the good ones; return the PATH."""
    broken = folder / "broken"
    broken.mkdir()
    for name in ANSWERS if which == "all" else [which]:
        script = broken / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    return f"{broken}:{good}"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory, good):
    """Run all cases at once; return the probes and, for each, the processes that are left."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ["none", *BROKEN]}

    def run(name):
        folder = folders[name]
        env = environment(folder, breaking(folder, good, *BROKEN[name]) if name in BROKEN else good)
        return probe(folder / "env.json", env, "--sudo", "--deadline", DEADLINE_S)

    probes = side_by_side({name: lambda name=name: run(name) for name in folders})
    left = {name: gone(f"TEST_MARKER={folder}", within_s=1) for name, folder in folders.items()}
    return {"probes": probes, "left": left}


def everywhere(test):
    return pytest.mark.parametrize("case", BROKEN)(test)


@everywhere
def test_the_process_has_ended_in_time(outcome, case):
    done = outcome["probes"][case]
    assert done.code == 0, done.stderr
    assert done.elapsed_s < DEADLINE_S + LOOSE_S


@everywhere
def test_no_process_is_left(outcome, case):
    assert outcome["left"][case] == {}


@everywhere
def test_only_what_tools_say_differs(outcome, case):
    done, whole = outcome["probes"][case], outcome["probes"]["none"]
    asking = {name for name, record in whole.records().items() if record["commands"]}
    assert len(asking) > 3
    assert differing(done.document, whole.document) <= asking
    assert done.document["host"]["kernel_release"] == os.uname().release


@pytest.mark.parametrize("case", HANGING)
def test_what_hung_is_told(outcome, case):
    done = outcome["probes"][case]
    outcomes = {command["outcome"] for command in done.commands()}
    assert outcomes & {"timed_out", "abandoned"}
    assert not outcomes & {"ok", "exit"}
    assert done.reasons("timed_out") or done.reasons("budget")
    assert done.document["partial"] is True


@pytest.mark.parametrize("case", ["flood", "flood_for_ever"])
def test_a_flood_is_cut(outcome, case):
    done, whole = outcome["probes"][case], outcome["probes"]["none"]
    assert done.peak_mib < whole.peak_mib + 100
    assert len(str(done.document)) < 1_000_000
    assert done.document["gpu_arch"]["agent_count"] == 8


def test_what_is_no_text_becomes_no_value(outcome):
    done = outcome["probes"]["no_text"]
    assert done.document["hip"]["platform"] is None
    assert done.document["amdgpu_driver"]["module_version"] is None
    assert {"hip", "amdgpu_driver"} <= {reason["section"] for reason in done.reasons("unparsed")}


def test_a_tool_that_kills_its_group_kills_itself_alone(outcome):
    done = outcome["probes"]["kill_own_group"]
    assert {command["outcome"] for command in done.commands()} == {"signal"}
    assert {command["exit_code"] for command in done.commands()} == {-signal.SIGKILL}


#: Whoever is root needs no sudo; in a user namespace root is somebody else, with the same files.
AS_A_USER = ("/usr/bin/unshare", "--user", "--map-user=65534", "--map-group=65534")

#: By the kind of reason that follows: what hangs is ended by the capture's deadline, before its own.
SUDO = {
    "none": ("sudo", 'shift; exec "$@"'),
    "denied": ("sudo", "echo 'sudo: a password is required' >&2\nexit 1"),
    "budget": ("sudo", "exec sleep 600"),
}


@pytest.fixture(scope="module")
def as_a_user(tmp_path_factory, good):
    """Run a working, a refusing and a hanging sudo at once."""
    need("unshare", "needs util-linux")
    usable = subprocess.run([*AS_A_USER, "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0
    need(usable, "needs user namespaces")

    def run(name):
        folder = tmp_path_factory.mktemp(name)
        env = environment(folder, breaking(folder, good, *SUDO[name]))
        options = ("--sudo", "--deadline", DEADLINE_S)
        done = probe(folder / "env.json", env, *options, wrapper=AS_A_USER)
        return done, gone(f"TEST_MARKER={folder}", within_s=1)

    return side_by_side({name: lambda name=name: run(name) for name in SUDO})


@pytest.mark.parametrize("kind", ["denied", "budget"])
def test_sudo_costs_its_section_alone(as_a_user, kind):
    (done, left), (whole, _) = as_a_user[kind], as_a_user["none"]
    assert whole.document["system_health"] == {}
    assert done.code == 0
    assert done.elapsed_s < DEADLINE_S + LOOSE_S
    assert [command["as_root"] for command in done.commands()].count(True) == 1
    assert differing(done.document, whole.document) == {"system_health"}
    assert done.document["system_health"] is None
    assert [reason["section"] for reason in done.reasons(kind)] == ["system_health"]
    assert left == {}


DAEMON = """
/usr/bin/setsid sleep 30 &
printf 7.2.26015-fc0010cf6a
"""


def test_a_daemon_that_a_tool_starts_is_not_waited_for(tmp_path, good):
    """It left the tool's session on purpose, as buck2's does: it is not ours to end."""
    path = breaking(tmp_path, good, "hipconfig", DAEMON)
    done = probe(tmp_path / "env.json", environment(tmp_path, path), "--deadline", DEADLINE_S)
    left = gone(f"TEST_MARKER={tmp_path}", within_s=0)
    for number in left:
        os.kill(number, signal.SIGKILL)
    assert done.code == 0
    assert done.elapsed_s < DEADLINE_S
    assert done.document["hip"]["version"] == "7.2.26015-fc0010cf6a"
    assert set(left.values()) <= {"S"}
