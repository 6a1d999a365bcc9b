"""A node that is lost in a sweep: Slurm's own srun ends with 0 then, so the sweep has to tell."""

import contextlib
import os
import signal
import time

import pytest

from tests.parts.slurm import two_nodes
from tests.parts.sweeps import processes_with
from tests.slurm.conftest import wait_for
from tests.slurm.rank_sweeps import SWEEP, TWO, Run, recipe

FIRST = "triage_results/T/ranks/2*/cells/base/trial_000.json"


@pytest.fixture
def own_cluster():
    """Bring up a cluster of whose nodes one may be lost."""
    with two_nodes() as cluster:
        yield cluster


def kill_all_of(cluster, node):
    """Kill all processes of a node, the daemons first."""
    space = os.readlink(f"/proc/{cluster.hosts[node]}/ns/net")
    for pid in sorted(map(int, filter(str.isdigit, os.listdir("/proc")))):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/ns/net") == space:
                os.kill(pid, signal.SIGKILL)


def lose(cluster, node, folder, *, power=True):
    """End all that runs on a node. Without power nothing says that a connection has ended; it is silent."""
    if power:
        cluster.run("ip", "link", "set", "eth0", "down", cwd=folder, host=node)
    kill_all_of(cluster, node)


#: Tells the exit status of each rank: what srun makes of them comes half a minute later, when Slurm has seen
#: the loss too.
TELLING = '"$@"; code=$?; echo $code > code$SLURM_PROCID; exit $code'


@contextlib.contextmanager
def sweep(cluster, folder):
    """Start a sweep, and go on when its first trial is done."""
    recipe(folder, trials=20, steps=1, pause_ms=500.0)
    with cluster.start("srun", *TWO.split(), "sh", "-c", TELLING, "-", *SWEEP, cwd=folder) as process:
        wait_for(lambda: list(folder.glob(FIRST)), 30)
        yield
        process.kill()


def code_of(folder, rank):
    """Wait until a rank has ended, and return its exit status."""
    file = folder / f"code{rank}"
    wait_for(lambda: file.exists() and file.read_text(), 30)
    return int(file.read_text())


@pytest.mark.parametrize("how", ["processes", "power"])
def test_the_trial_is_an_error_and_the_exit_code_1(own_cluster, tmp_path, how):
    with sweep(own_cluster, tmp_path):
        lose(own_cluster, "node2", tmp_path, power=how == "power")
        began = time.monotonic()
        assert code_of(tmp_path, 0) == 1
        print(f"aorta ended {time.monotonic() - began:.1f} s after the loss")
    run = Run(tmp_path)
    assert (run.matrix["state"], run.matrix["lost_rank"]) == ("stopped", True)
    last = run.records[-1]
    assert (last["verdict"], last["lost"]["rank"], last["lost"]["node"]) == ("error", 1, "node2")
    assert "rank 1 on node2: its aorta was lost" in last["reason"]
    assert run.matrix["totals"]["done"] == len(run.records)
    assert processes_with(f"AORTA_SWEEP_RUN={run.matrix['run_id']}") == []


def test_the_others_end_when_the_first_node_is_lost(own_cluster, tmp_path):
    with sweep(own_cluster, tmp_path):
        lose(own_cluster, "node1", tmp_path)
        assert code_of(tmp_path, 1) == 1
    run = Run(tmp_path)
    assert (run.matrix["state"], run.matrix["totals"]["errors"]) == ("running", 0)
    assert processes_with(f"AORTA_SWEEP_RUN={run.matrix['run_id']}") == []
