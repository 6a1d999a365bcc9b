"""Lines of a file that may hold secrets: what a pattern's group matches, and nothing else."""

import io

import pytest

from aorta.host.live import LiveHost
from aorta.host.recording import RecordingHost
from aorta.host.replay import open_recording
from aorta.testing import FakeHost

TEXT = "-c\na.token=hunter2-not-real\n@mode/base\n--flagfile\nmode/more\n"
PATTERN = r"^(?:@|--flagfile\n)(.+)$"
FOUND = ["mode/base", "mode/more"]


def test_every_host(tmp_path):
    file = tmp_path / "mode"
    file.write_text(TEXT)
    assert LiveHost().find(str(file), PATTERN) == FOUND
    assert FakeHost(files={"/mode": TEXT}).find("/mode", PATTERN) == FOUND


def test_a_recording_holds_what_was_found_and_nothing_else(tmp_path):
    sink = io.StringIO()
    host = RecordingHost(FakeHost(files={"/mode": TEXT}), sink)
    assert host.find("/mode", PATTERN) == FOUND
    with pytest.raises(FileNotFoundError):
        host.find("/nowhere", PATTERN)
    assert "hunter2" not in sink.getvalue()
    recording = tmp_path / "r.jsonl"
    recording.write_text(sink.getvalue())
    replayed = open_recording(recording)
    assert replayed.find("/mode", PATTERN) == FOUND
    with pytest.raises(FileNotFoundError):
        replayed.find("/nowhere", PATTERN)
