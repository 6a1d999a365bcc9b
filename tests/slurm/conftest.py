import json
import re
import sys
import time

import pytest

from tests.parts.slurm import two_nodes

AORTA = (sys.executable, "-W", "error", "-m", "aorta")
#: A capture that is quick and still knows its place and its machine.
QUICK = ("--section", "launcher,host")


@pytest.fixture(scope="session")
def cluster():
    with two_nodes() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def job(cluster):
    """Return a job that holds both nodes: a step in it starts at once, a job of its own takes a second."""
    words = ("salloc", "--no-shell", "--nodes=2", "--ntasks-per-node=4")
    told = cluster.run(*words, cwd=cluster.folder).stderr
    return re.search(r"Granted job allocation (\d+)", told)[1]


class Steps:
    """Runs steps of the job, in a directory that both nodes see; what else a test needs lies beside it."""

    def __init__(self, cluster, job, folder):
        self.cluster, self.job, self.folder, self.beside = cluster, job, folder, folder.parent

    def words(self, options, words):
        return ["srun", "--overlap", *options.split(), *words]

    def run(self, options, *words, **env):
        job = {"SLURM_JOB_ID": self.job, **env}
        return self.cluster.run(*self.words(options, words), cwd=self.folder, env=job)

    def start(self, options, *words, **env):
        job = {"SLURM_JOB_ID": self.job, **env}
        return self.cluster.start(*self.words(options, words), cwd=self.folder, env=job)

    def probe(self, options, *words, **env):
        return self.run(options, *AORTA, "env", "probe", *QUICK, *words, **env)

    def script(self, text):
        path = self.beside / "job.sh"
        path.write_text(f"#!/bin/sh\n{text}\n")
        return str(path)

    def document(self, name):
        return json.loads((self.folder / name).read_text())

    @property
    def files(self):
        """Return all names in the directory; a temporary file that was left behind is one."""
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def steps(cluster, job, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    return Steps(cluster, job, folder)


@pytest.fixture
def rocm(steps):
    """Return a folder with a ROCm that tells its version, for ROCM_PATH."""
    folder = steps.beside / "rocm"
    (folder / ".info").mkdir(parents=True)
    (folder / ".info" / "version").write_text("7.1.0-20\n")
    (folder / "bin").mkdir()
    return folder


def wait_for(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.02)
