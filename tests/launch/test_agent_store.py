"""The process that speaks to the store of torchrun's agent: it ends with who started it, however that ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aorta.launch.identity import Identity
from aorta.launch.tasks import LaunchError
from aorta.sweep.ranks import agent_store
from tests.launch.conftest import wait_for
from tests.parts import torches
from tests.workloads.launching import free_port

#: Serves a store at a port, until its input ends.
SERVES = """
import sys
from torch.distributed import TCPStore
store = TCPStore(sys.argv[1], int(sys.argv[2]), is_master=True, wait_for_workers=False)
print("up", flush=True)
sys.stdin.read()
"""
ENVIRON = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}


def at(port, address="127.0.0.1", job="one"):
    return Identity(rank=1, size=2, address=address, port=port, agent_store=True, job=job)


def children_of(pid):
    """Return the living and dead children of a process."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def test_what_is_told_is_heard_under_its_job_s_name_alone():
    python, port = torches.python(), free_port()
    words = [python, "-c", SERVES, "::1", str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline() == "up\n"
        until = time.monotonic() + 100
        for text in ("::1 4000", "::1 4001"):
            agent_store.publish(python, at(port, "::1"), text, until, ENVIRON)
        agent_store.publish(python, at(port, "::1", "two"), "::1 5000", until, ENVIRON)
        lines = agent_store.told(python, at(port, "::1"), until, ENVIRON)
        assert [next(lines), next(lines)] == ["::1 4001"] * 2
        lines.close()
        silent = agent_store.told(python, at(port, "::1", "three"), time.monotonic() + 15, ENVIRON)
        with pytest.raises(
            LaunchError, match="rank 0 did not tell .* where it listens: does aorta run there"
        ):
            next(silent)
        server.stdin.close()
    assert not [pid for pid in children_of(os.getpid()) if is_zombie(pid)]


def is_zombie(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_lines_that_come_at_once_or_in_pieces_are_each_heard(tmp_path):
    # As of a process that starts so late that its store has the answer at once.
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nprintf '\\n::1 40'; sleep 1; printf '01\\n::1 4002\\n'; exec sleep 60\n")
    python.chmod(0o755)
    lines = agent_store.told(str(python), at(1), time.monotonic() + 30, ENVIRON)
    assert [next(lines) for _ in range(4)] == ["::1 4001", "::1 4002", "::1 4002", "::1 4002"]
    lines.close()
    python.write_text("#!/bin/sh\nprintf '\\n::1 4003\\n'; exec sleep 60\n")
    lines = agent_store.told(str(python), at(1), time.monotonic() + 30, ENVIRON)
    assert next(lines) == "::1 4003"
    lines.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_a_rank_that_is_ended(job, number):
    # An agent that never answers, so that the process is still there; no torch is needed for that.
    (job.folder / "torch").mkdir()
    (job.folder / "torch" / "__init__.py").write_text("import time; time.sleep(1000)")
    path = f"{job.environ(0)['PYTHONPATH']}:{job.folder}"
    told = {"TORCHELASTIC_RUN_ID": "r", "TORCHELASTIC_USE_AGENT_STORE": "True", "PYTHONPATH": path}
    rank = job.start(1, join=60, **told)
    wait_for(lambda: children_of(rank.pid))
    [child] = children_of(rank.pid)
    rank.send_signal(number)
    codes, _, _ = job.ended(30)
    assert codes == [143 if number == signal.SIGTERM else -9]
    wait_for(lambda: not Path(f"/proc/{child}").exists() or is_zombie(child), 10)


def test_a_program_that_cannot_be_started_is_told():
    for python, text in (
        (None, "no Python interpreter"),
        ("/no/such/python", "cannot be asked: /no/such/python"),
    ):
        with pytest.raises(LaunchError, match=text):
            agent_store.publish(python, at(1), "x 1", time.monotonic() + 5, dict(ENVIRON))


def test_a_folder_named_torch_in_the_working_directory_is_not_it(job):
    (job.folder / "torch").mkdir()
    (job.folder / "torch" / "__init__.py").write_text("raise SystemExit('the wrong torch')")
    told = {"TORCHELASTIC_RUN_ID": "r", "TORCHELASTIC_USE_AGENT_STORE": "True"}
    job.start(1, join=5, **told)
    _, _, [error] = job.ended()
    assert "the wrong torch" not in error
    assert "No module named 'torch'" in error, sys.executable
