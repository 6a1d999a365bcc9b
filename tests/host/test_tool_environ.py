"""The environment of version control: it asks its own checkout, and runs nothing of it."""

import os

import pytest

from aorta.host.child_environ import ChildEnviron
from aorta.host.live import LiveHost
from aorta.host.protocol import Manner


class _Quick:
    """Places that all answer."""

    def slow_points(self):
        return []


def test_only_tools_of_version_control_have_one_of_their_own():
    environ = ChildEnviron(_Quick(), {"PATH": "/bin", "GIT_DIR": "/else", "GIT_CONFIG_COUNT": "0"})
    assert environ.of("ls")["GIT_DIR"] == "/else"
    told = environ.of("git")
    assert "GIT_DIR" not in told
    # Of the user's own settings none is lost: they may say which checkouts are safe.
    assert (told["GIT_CONFIG_COUNT"], told["GIT_ALLOW_PROTOCOL"]) == ("0", "none")
    assert environ.of("hg")["HGRCSKIPREPO"] == environ.of("sl")["HGRCSKIPREPO"] == "1"


@pytest.mark.parametrize(("as_caller", "seen"), [(False, ""), (True, "/else")])
def test_what_runs_as_the_caller_has_the_callers(tmp_path, monkeypatch, as_caller, seen):
    program = tmp_path / "git"
    program.write_text('#!/bin/sh\necho "$GIT_DIR"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", "/else")
    host = LiveHost()
    try:
        assert host.run(("git",), timeout=20, manner=Manner(as_caller=as_caller)).stdout.strip() == seen
    finally:
        host.close()
