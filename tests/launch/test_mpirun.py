"""Ranks that real MPI launchers start: they meet without RANK, and one run is written."""

import json
import subprocess
import sys

import pytest

from tests.parts.needs import need

LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "3"],
    "mpich": ["mpiexec.hydra", "-n", "3"],
}
NONE = dict.fromkeys(("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"))


def mpirun(job, launcher, *words, **env):
    words = [
        *LAUNCHERS[launcher],
        sys.executable,
        "-m",
        "aorta",
        "sweep",
        "run",
        "--recipe",
        "r.yaml",
        *words,
    ]
    environ = job.environ(0, PATH="/usr/bin:/bin", **{**NONE, **env})
    return subprocess.run(
        words, cwd=job.folder, env=environ, capture_output=True, text=True, timeout=90, check=False
    )


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_three_ranks(job, launcher):
    need(LAUNCHERS[launcher][0], f"needs {LAUNCHERS[launcher][0]}")
    # Open MPI names its job, so that nothing has to be set; MPICH does not.
    done = mpirun(job, launcher, **({"MASTER_PORT": job.port} if launcher == "mpich" else {}))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Wrote matrix") == 1
    matrix = job.matrix()
    assert (matrix["launcher"], matrix["world_size"]) == (launcher, 3)
    [record] = [json.loads(path.read_text()) for path in job.runs[0].glob("cells/*/trial_*.json")]
    assert record["verdict"] == "pass"


def test_without_a_port_mpich_s_ranks_say_what_to_set(job):
    need("mpiexec.hydra", "needs mpiexec.hydra")
    done = mpirun(job, "mpich")
    assert done.returncode == 2
    lines = {line for line in done.stderr.splitlines() if line.startswith("aorta: ")}
    assert len(lines) == 1, done.stderr
    assert "nobody told where the ranks meet: set MASTER_PORT" in lines.pop()
    assert job.runs == []
