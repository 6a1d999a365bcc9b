"""Jobs of several ranks: each a real ``aorta sweep run``, with the variables that a launcher would tell it."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.parts.pages import ROOT
from tests.parts.uncovered import UNCOVERED
from tests.workloads.launching import free_port

RECIPE = """
schema_version: 1
ticket: T
workload: {workload}
trials: {trials}
steps: 2
{more}
cells:
  - {{name: base, mitigations: [none], environment: local}}
"""
#: The end of each test that goes wrong, in seconds.
LIMIT_S = 90


class Job:
    """Ranks by hand, in one folder. A PATH without tools keeps each snapshot short."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.started = []
        (folder / "programs").mkdir()
        self.recipe()

    def recipe(self, name="r.yaml", *, workload="ranks", trials=1, more=""):
        """Write a recipe and return its name."""
        (self.folder / name).write_text(RECIPE.format(workload=workload, trials=trials, more=more))
        return name

    def environ(self, rank, size=2, **more):
        """Return the variables of a rank; None leaves one out."""
        measured = {name: value for name, value in UNCOVERED.items() if name.startswith("COVERAGE")}
        told = {
            **measured,
            "PATH": str(self.folder / "programs"),
            "HOME": str(self.folder),
            "PYTHONPATH": f"{ROOT}:{ROOT}/collectors",
            "RANK": rank,
            "WORLD_SIZE": size,
            "LOCAL_RANK": rank,
            "LOCAL_WORLD_SIZE": size,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": self.port,
            **more,
        }
        return {name: str(value) for name, value in told.items() if value is not None}

    def start(self, rank, *words, recipe="r.yaml", join=30, size=2, **env):
        """Start a rank."""
        argv = ["-W", "error", "-m", "aorta", "sweep", "run", "--recipe", recipe, f"--join-timeout={join}"]
        process = subprocess.Popen(
            [sys.executable, *argv, *words],
            cwd=self.folder,
            env=self.environ(rank, size, **env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def ended(self, limit_s=LIMIT_S):
        """Wait for all ranks; return their exit statuses, outputs and errors, in the order of their starts."""
        until = time.monotonic() + limit_s
        told = [one.communicate(timeout=max(until - time.monotonic(), 0.1)) for one in self.started]
        codes = [one.returncode for one in self.started]
        self.started = []
        return codes, [out for out, _ in told], [err for _, err in told]

    def refused(self, limit_s=LIMIT_S):
        """Wait for all ranks, which must end with status 2, one text and no result; return the text's lines."""
        codes, outs, errors = self.ended(limit_s)
        assert codes == [2] * len(codes), errors
        assert set(outs) == {""}
        assert len(set(errors)) == 1, errors
        assert self.runs == []
        return errors[0].splitlines()

    @property
    def runs(self):
        """Return the runs' directories."""
        return sorted(path for path in self.folder.glob("triage_results/*/*/2*"))

    def matrix(self):
        """Return the matrix of the one run."""
        [run] = self.runs
        return json.loads((run / "matrix.json").read_text())

    def end(self):
        """End what still runs."""
        for process in self.started:
            # A launcher ends its workers, which would keep its output open.
            process.terminate()
        for process in self.started:
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def job(tmp_path):
    """Return a job in a folder of its own."""
    made = Job(tmp_path)
    yield made
    made.end()


def wait_for(condition, seconds=30):
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.02)


def is_listened_at(port):
    """Tell whether a process listens at a port of this machine."""
    wanted = f":{port:04X}"
    for name in ("tcp", "tcp6"):
        if os.path.exists(f"/proc/net/{name}"):
            with open(f"/proc/net/{name}", encoding="ascii") as file:
                rows = [line.split() for line in file][1:]
            if any(row[1].endswith(wanted) and row[3] == "0A" for row in rows):
                return True
    return False
