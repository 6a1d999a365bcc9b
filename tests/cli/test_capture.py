"""The library door: what ``capture`` and ``capture_to`` promise."""

import json
import os

import pytest

from aorta.instrumentation import capture, capture_to, collect_env
from aorta.instrumentation import environment as module
from aorta.instrumentation.about import tool
from aorta.instrumentation.environment import UnknownSectionError, deadline_from_environment
from aorta.instrumentation.switch import sudo_from_environment
from aorta.testing import FakeHost


def test_collect_env_is_capture():
    assert collect_env is capture
    with pytest.raises(AttributeError, match="nothing"):
        from aorta import instrumentation

        instrumentation.nothing  # noqa: B018


def test_a_snapshot_of_a_host():
    snapshot = capture(host=FakeHost(), sections=["python_version"])
    assert snapshot.collection.host_kind == "replay"
    assert snapshot.collection.deadline_s == 60
    assert snapshot.collection.argv is None


def test_wishes_that_make_no_sense():
    with pytest.raises(ValueError, match="detail"):
        capture(host=FakeHost(), detail="huge")
    with pytest.raises(UnknownSectionError, match="bogus"):
        capture(host=FakeHost(), sections=["bogus"])
    with pytest.raises(TypeError, match="colour"):
        capture(host=FakeHost(), colour="red")


def test_capture_to_writes_what_it_returns(tmp_path):
    target = tmp_path / "a" / "env.json"
    snapshot = capture_to(target, host=FakeHost(), sections=["python_version"])
    assert json.loads(target.read_text())["captured_at"] == snapshot.captured_at
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        capture_to(tmp_path / "file" / "env.json", host=FakeHost(), sections=[])


def test_the_live_host_is_the_default(tmp_path):
    snapshot = capture(sections=["python_version"])
    assert snapshot.collection.host_kind == "live"
    assert snapshot.collection.user.uid == os.getuid()


def test_the_deadline_of_the_environment(monkeypatch):
    assert deadline_from_environment(7) == 7
    monkeypatch.setenv("AORTA_DEADLINE_S", "2.5")
    assert deadline_from_environment(7) == 2.5
    monkeypatch.setenv("AORTA_DEADLINE_S", "-1")
    with pytest.raises(ValueError, match="-1"):
        deadline_from_environment(7)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [("", False), ("1", True), ("TRUE", True), (" yes ", True), ("on", True)]
    + [("0", False), ("False", False), ("no", False), ("OFF", False)],
)
def test_the_switch_of_the_environment(monkeypatch, text, allowed):
    monkeypatch.setenv("AORTA_SUDO", text)
    assert sudo_from_environment() is allowed


def test_a_switch_that_says_neither_yes_nor_no_does_not_end_a_job(monkeypatch):
    monkeypatch.setenv("AORTA_SUDO", "maybe")
    with pytest.raises(ValueError, match="maybe"):
        sudo_from_environment()
    asked = []
    snapshot = capture(host=FakeHost(), sections=["python_version"], started=asked.append)
    assert asked[0].request.sudo is False
    assert any("AORTA_SUDO is 'maybe'" in text for text in snapshot.partial_reasons)
    snapshot = capture(host=FakeHost(), sections=["python_version"], sudo=False)
    assert not any("AORTA_SUDO" in text for text in snapshot.partial_reasons)


def test_a_defect_of_the_orchestrator_still_gives_a_document(monkeypatch):
    def broken(self):
        raise RuntimeError("defect")

    monkeypatch.setattr(module.Orchestrator, "run", broken)
    snapshot = capture(host=FakeHost())
    assert snapshot.partial
    assert "collection: RuntimeError in the orchestrator" in snapshot.partial_reasons
    assert set(snapshot.plain) >= {"rocm", "host", "gpus"}


def test_an_interruption_is_not_kept_back(monkeypatch):
    closed = []

    class Host(FakeHost):
        def close(self):
            closed.append(True)

    def stopped(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.Orchestrator, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        capture(host=Host())
    assert closed == [True]


def test_the_tool_names_itself():
    import aorta

    assert tool().version == aorta.__version__
    assert tool().revision is None or len(tool().revision) in (40, 64)
