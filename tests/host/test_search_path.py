"""The search path without entries that do not answer."""

import signal
import subprocess
import sys

import pytest

from aorta.host import search_path
from tests.parts.fuse import hanging_mount


@pytest.fixture
def path(monkeypatch):
    """Let a test change the search path and what was taken off it."""
    monkeypatch.setattr(search_path, "_left_out", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    return sys.path


@pytest.fixture
def silent(monkeypatch, tmp_path):
    """Let a directory count as a mount whose files are never looked at to the end.

    A dead mount itself is for a process of its own (tests/faults): here coverage looks into sys.path too.
    """
    point = tmp_path / "mount"
    point.mkdir()
    started = []

    def ask(_paths):
        started.append(subprocess.Popen(["sleep", "600"]))
        return started[-1].pid

    monkeypatch.setattr(search_path, "_slow_points", lambda: frozenset({str(point)}))
    monkeypatch.setattr(search_path, "_ask", ask)
    monkeypatch.setattr(search_path, "PATIENCE_S", 0.1)
    yield str(point)
    assert [process.wait(10) for process in started] == [-signal.SIGKILL]


def test_what_does_not_answer_is_taken_off_and_still_told(path, silent, tmp_path):
    (tmp_path / "link").symlink_to(f"{silent}/site")
    dead = [f"{silent}/site", str(tmp_path / "link"), silent]
    path[1:1] = [dead[0], "not/absolute", *dead[1:]]
    before = list(path)
    search_path.guard()
    assert sys.path == [entry for entry in before if entry not in dead]
    assert search_path.whole_path() == before


def test_what_answers_stays(path):
    with hanging_mount() as mount:
        path.append(f"{mount}/bin")
        path.append(f"{mount}/nothing")
        before = list(path)
        search_path.guard()
        assert sys.path == before == search_path.whole_path()


def test_what_the_interpreter_lies_on_is_not_asked(path, monkeypatch):
    with hanging_mount() as mount:
        monkeypatch.setattr(sys, "prefix", f"{mount}/venv")
        path.append(f"{mount}/hang")
        before = list(path)
        search_path.guard()
        assert sys.path == before


def test_nothing_is_asked_without_a_file_system_that_may_hang(path, monkeypatch):
    monkeypatch.setattr(search_path, "_slow_points", frozenset)
    monkeypatch.setattr(search_path, "_ask", None)
    before = list(path)
    search_path.guard()
    assert sys.path == before


def test_blanks_in_mount_points():
    assert search_path._unescaped(r"/a\040b\134c\011d") == "/a b\\c\td"
