"""Ranks of a real torchrun meet: through its agent's store, at MASTER_PORT without one, on two agents, again
after a restart, and after an earlier sweep of the same job."""

import json
import subprocess
import sys

import pytest

from aorta.launch.identity import identity_of
from tests.parts import torches
from tests.workloads.launching import free_port

#: Prints what a worker was told; the first of them that are told to fail does so once.
#: Each worker tells its variables in one piece: ``print`` writes the end of a line by itself.
TELLS = r"import json, os; os.write(1, (json.dumps(dict(os.environ)) + '\n').encode())"
SWEEP = ("-m", "aorta", "sweep", "run", "--recipe", "r.yaml", "--join-timeout", "60")
#: Two sweeps one after the other in each worker, and a third that goes on with the second.
TWICE = """
{python} -m aorta sweep run --recipe r.yaml || exit 1
{python} -m aorta sweep run --recipe r.yaml --ticket U || exit 1
{python} -m aorta sweep run --recipe r.yaml --ticket U --trials 1 --resume
"""
#: A sweep whose rank 1 is killed the first time that its agent starts it.
AGAIN = """
if [ "$RANK" = 1 ] && [ ! -e killed ]; then
  : > killed
  {python} -m aorta sweep run --recipe r.yaml &
  until [ -e triage_results/*/*/2*/cells/base/trial_000.json ]; do sleep 0.2; done
  kill -9 $!
  exit 7
fi
exec {python} -m aorta sweep run --recipe r.yaml
"""


def torchrun(job, *words, **env):
    """Start torchrun in the job's folder, where ranks are told nothing by hand."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    told = {**job.environ(0, PATH="/usr/bin:/bin", **dict.fromkeys(names)), "OMP_NUM_THREADS": "1", **env}
    process = subprocess.Popen(
        [torches.python(), "-m", "torch.distributed.run", *words],
        cwd=job.folder,
        env=told,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    job.started.append(process)
    return process


def two_agents(job, *words, **env):
    """Start two agents, as on two nodes, each with a worker."""
    end = f"127.0.0.1:{free_port()}"
    rendezvous = ("--nnodes=2", "--nproc-per-node=1", "--rdzv-backend=c10d", f"--rdzv-endpoint={end}")
    for _ in range(2):
        torchrun(job, *rendezvous, *words, **env)


@pytest.mark.timeout(200)
def test_two_agents_as_two_nodes(job):
    two_agents(job, *SWEEP)
    codes, outs, errors = job.ended()
    assert codes == [0, 0], errors
    assert "".join(outs).count("Wrote matrix") == 1
    matrix = job.matrix()
    assert (matrix["launcher"], matrix["world_size"]) == ("torchrun", 2)
    # one host name twice: the nodes' numbers tell them apart
    names = [node["node"] for node in matrix["nodes"]]
    assert len(set(names)) == 2
    assert [name.rpartition(".")[2] for name in names] == ["0", "1"]
    assert [node["ranks"] for node in matrix["nodes"]] == [[0], [1]]


@pytest.mark.timeout(200)
def test_a_restart_of_workers_goes_on_with_the_run(job):
    job.recipe(trials=4, more="workload_config: {pause_ms: 1000}")
    (job.folder / "again.sh").write_text(AGAIN.format(python=torches.python()))
    two_agents(job, "--max-restarts=1", "--rdzv-id=sweep1", "--no-python", "/bin/sh", "again.sh")
    codes, outs, errors = job.ended(150)
    assert codes == [0, 0], errors
    matrix = job.matrix()
    assert (matrix["state"], matrix["cells"][0]["done_count"]) == ("complete", 4), errors
    assert matrix["cells"][0]["passed_count"] >= 3, errors
    assert "Wrote matrix" in "".join(outs)


@pytest.mark.timeout(200)
def test_sweeps_one_after_the_other_in_one_job(job):
    (job.folder / "twice.sh").write_text(TWICE.format(python=torches.python()))
    torchrun(job, "--standalone", "--nproc-per-node=2", "--no-python", "/bin/sh", "twice.sh")
    codes, outs, errors = job.ended(150)
    assert codes == [0], errors
    assert outs[0].count("Wrote matrix") == 3, errors
    assert len(job.runs) == 2


def test_without_the_agent_s_store_and_what_its_workers_are_told(job):
    end = f"127.0.0.1:{free_port()}"
    alone = ("--nnodes=1", "--nproc-per-node=2", "--rdzv-backend=c10d", f"--rdzv-endpoint={end}")
    script = job.folder / "tells.py"
    script.write_text(TELLS)
    off = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    torchrun(job, *alone, str(script), **off)
    [code], [out], errors = job.ended()
    assert code == 0, errors
    found = sorted((identity_of(json.loads(line)) for line in out.splitlines()), key=lambda one: one.rank)
    assert [(one.rank, one.size, one.local_rank, one.node, one.nodes) for one in found] == [
        (0, 2, 0, 0, 1),
        (1, 2, 1, 0, 1),
    ]
    assert {(one.launcher, one.agent_store) for one in found} == {("torchrun", False)}
    torchrun(job, *alone, *SWEEP, **off)
    codes, _, errors = job.ended()
    assert codes == [0], errors
    assert job.matrix()["world_size"] == 2


def test_an_interpreter_without_torch(job):
    words = ("--standalone", "--nproc-per-node=2", "--no-python", sys.executable, *SWEEP)
    torchrun(job, *words)
    torchrun(job, *words, AORTA_TRIAL_MASTER_PORT_BASE=str(20000 + job.port % 8000))
    codes, _, errors = job.ended()
    assert codes[0] == 1
    lines = [line for line in errors[0].splitlines() if line.startswith("aorta: the store")]
    assert len(set(lines)) == 1, errors[0]
    assert "did not answer: ModuleNotFoundError: No module named 'torch'; install torch for this" in lines[0]
    assert "or set AORTA_TRIAL_MASTER_PORT_BASE on all ranks" in lines[0]
    # which helps
    assert codes[1] == 0, errors[1]
    assert job.matrix()["world_size"] == 2
