"""A slow, hanging or daemonising buck2: bounded time, nothing left behind, nothing killed that is not ours."""

import os
import signal
from pathlib import Path

import pytest

from tests.parts.buck import LITERAL
from tests.parts.probing import gone

SECTIONS = ("build_system", "buck_invocation", "library_introspection")


def test_a_cold_daemon_is_waited_for(project):
    project.behave("cquery", cold_s=4)
    ran = project.asked("--buck-default-context")
    assert ran.invocation["status"] == "success"
    assert ran["execution_context"]["likely_execution_platform"] is not None
    assert 4 <= ran.elapsed_s < 20


def test_a_query_that_takes_longer_than_other_sections_may(project):
    project.behave("cquery", sleep=16)
    ran = project.asked("--buck-default-context", sections=SECTIONS)
    assert ran.invocation["status"] == "success"


def test_a_query_that_hangs(project):
    project.behave("cquery", hang=True)
    ran = project.asked("--buck-default-context", "--buck-timeout", "1")
    assert ran.code == 0
    assert ran.invocation["status"] == "failure"
    assert ran.libraries is None
    (reason,) = ran.reasons("buck_invocation")
    assert reason["kind"] == "timed_out"
    assert ran.elapsed_s < 10
    assert ran["build_system"]["kind"] == "buck2"


@pytest.mark.parametrize("wanted", [{"children": 3}, {"ignore_sigterm": True}, {"stdout_bytes": 10_000_000}])
def test_nothing_is_left_of_what_hangs(project, wanted):
    project.behave("cquery", hang=True, **wanted)
    ran = project.asked("--buck-default-context", "--buck-timeout", "1")
    assert ran.invocation["status"] == "failure"
    assert ran.reasons("buck_invocation", "timed_out")
    assert gone(str(project.folder), within_s=3) == {}


@pytest.mark.parametrize("command", ["--version", "root"])
def test_a_command_before_the_query_hangs(project, command):
    project.behave(command, hang=True)
    ran = project.asked("--buck-default-context", "--buck-timeout", "1")
    assert ran.code == 0
    assert ran.reasons(kind="timed_out")
    assert ran.elapsed_s < 30


@pytest.mark.parametrize("own_session", [True, False])
def test_a_daemon_that_keeps_the_pipe(project, own_session):
    pid_file = project.folder / "pid"
    project.behave("cquery", daemon={"pid_file": str(pid_file), "own_session": own_session, "seconds": 60})
    ran = project.asked(
        "--buck-default-context", "--buck-timeout", "20", sections=(*SECTIONS, "execution_context")
    )
    daemon = int(pid_file.read_text())
    try:
        assert ran.invocation["status"] == "success"
        assert ran.libraries
        assert ran.elapsed_s < 10
        assert Path(f"/proc/{daemon}/cmdline").read_bytes().startswith(b"sleep")
    finally:
        for number in _sleepers(project):
            os.kill(number, signal.SIGKILL)


def _sleepers(project):
    return list(gone(str(project.folder), within_s=0))


def test_the_deadline_of_all_ends_the_query(project):
    project.behave("cquery", hang=True)
    ran = project.asked("--buck-default-context", "--deadline", "4")
    assert ran.code == 0
    assert ran.invocation["status"] in ("failure", None)
    assert ran.libraries is None
    assert ran.elapsed_s < 9
    assert ran["build_system"]["kind"] == "buck2"
    assert any(reason["kind"] in ("timed_out", "budget") for reason in ran.reasons("buck_invocation"))
    assert gone(str(project.folder), within_s=3) == {}


def test_an_interrupted_probe_leaves_nothing(project):
    import subprocess
    import sys
    import time

    project.behave("cquery", hang=True, children=1)
    words = ("env", "probe", "--buck-target", LITERAL, "--buck-default-context", "-o", "x.json")
    process = subprocess.Popen(
        [sys.executable, "-m", "aorta", *words],
        cwd=project.root,
        env=project.environ(),
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 20
    while not project.calls("cquery") and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    assert gone(str(project.folder), within_s=5) == {}


@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan", "inf", "1e9x"])
def test_a_timeout_that_is_no_time(project, value):
    ran = project.asked("--buck-default-context", "--buck-timeout", value)
    assert (ran.code, ran.out) == (2, "")
    assert project.calls() == []
