"""A client that leaves a daemon with its pipes is read and left; the daemon lives; a hanging client does not."""

import os
import signal

import pytest

from tests.parts.buck import LITERAL, Project
from tests.parts.probing import gone

CASE = "buck-daemon-hang-on-start"


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    yield made
    for number in gone(str(tmp_path), within_s=0):
        os.kill(number, signal.SIGKILL)


@pytest.mark.parametrize("start", ["sleep 600 &", "(sleep 600 >&1 2>&2 &)", "setsid sleep 600 &"])
def test_what_it_answered_is_used(project, start):
    project.script(
        f"case $1 in --version) echo buck2 x;; root) echo {project.root};;"
        f' *) {start}\n echo \'{{"{LITERAL}": ["root//app:trainer (root//p:x#0123456789abcdef)"]}}\';; esac\nexit 0'
    )
    ran = project.asked("--buck-default-context", "--buck-timeout", "10")
    assert ran.elapsed_s < 10
    assert ran.invocation["status"] == "success"
    assert ran.invocation["configured_root_target"] == "root//app:trainer (root//p:x#0123456789abcdef)"
    # The daemon is not the probe's to end.
    assert gone(str(project.folder), within_s=0)


def test_a_client_that_never_ends(project):
    project.behave("cquery", hang=True, children=2, ignore_sigterm=True)
    ran = project.asked("--buck-default-context", "--buck-timeout", "1")
    assert ran.elapsed_s < 10
    (reason,) = ran.reasons("buck_invocation")
    assert reason["kind"] == "timed_out"
    assert gone(str(project.folder), within_s=3) == {}
