"""Commands that run as the caller would run them: in the working directory, and their daemons stay."""

import os
import signal
import time

import pytest

from aorta.host.live import LiveHost
from aorta.host.protocol import Manner
from aorta.model.vocabulary import Outcome

LONG_S = 30


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stream:
        return stream.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("as_caller", [True, False])
def test_where_it_runs(tmp_path, monkeypatch, as_caller):
    monkeypatch.chdir(tmp_path)
    done = LiveHost().run(["pwd", "-P"], timeout=LONG_S, manner=Manner(as_caller=as_caller))
    assert done.stdout.strip() == (os.fspath(tmp_path.resolve()) if as_caller else "/")


def test_a_working_directory_that_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = LiveHost().run(["pwd"], timeout=LONG_S, manner=Manner(as_caller=True))
    assert done.outcome is Outcome.DENIED
    assert "working directory is gone" in done.detail
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("as_caller", [True, False])
def test_what_it_leaves_running(tmp_path, as_caller):
    """A daemon that keeps the pipes open: the answer comes at once, and whose it is decides."""
    script = f"sleep 600 & echo $! > {tmp_path}/pid; echo '{{\"a\": 1}}'"
    begun = time.monotonic()
    done = LiveHost().run(["sh", "-c", script], timeout=LONG_S, manner=Manner(as_caller=as_caller))
    assert time.monotonic() - begun < LONG_S / 2
    assert (done.outcome, done.stdout) == (Outcome.OK, '{"a": 1}\n')
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 5
    while alive(pid) and not as_caller and time.monotonic() < until:
        time.sleep(0.01)
    assert alive(pid) is as_caller
    if as_caller:
        os.kill(pid, signal.SIGKILL)


def test_one_that_hangs_leaves_nothing(tmp_path):
    script = f"sleep 600 & echo $! > {tmp_path}/pid; wait"
    done = LiveHost().run(["sh", "-c", script], timeout=1, manner=Manner(as_caller=True))
    assert done.outcome is Outcome.TIMED_OUT
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 5
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(pid)
