"""What one node does to the other: a failure stays its own, and no snapshot is lost unsaid."""

import re
import signal

import pytest

from tests.parts.doc_programs import script
from tests.slurm.conftest import AORTA, QUICK, wait_for


@pytest.fixture
def full_disk(cluster):
    """Fill the local disk of node2, for as long as a test takes."""
    fill = f"dd if=/dev/zero of={cluster.local}/filler bs=4k; rm -f {cluster.local}/env*"
    cluster.run("sh", "-c", fill, cwd=cluster.folder, host="node2")
    yield
    for node in ("node1", "node2"):
        cluster.run("sh", "-c", f"rm -rf {cluster.local}/*", cwd=cluster.folder, host=node)


def test_a_full_disk_of_one_node(steps, full_disk):
    local = steps.cluster.local
    done = steps.probe("-N2 --ntasks-per-node=2 --label", "-o", f"{local}/env-{{node}}.json")
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if "aorta: cannot write" in line]
    assert len(told) == 1
    assert told[0].startswith(f"2: aorta: cannot write {local}/env-1.json: No space left")
    assert re.search(r"node2: task 2: Exited with exit code 1", done.stderr)
    seen = {
        node: steps.cluster.run("sh", "-c", f"ls -A {local}; cat {local}/env*", cwd=local, host=node).stdout
        for node in ("node1", "node2")
    }
    assert seen["node2"] == "filler\n"
    assert seen["node1"].startswith("env-0.json\n{")
    assert '"node": "node1"' in seen["node1"]


def on_node2(steps, text):
    """Return a PATH on which a tool that captures run does something on the second node."""
    folder = steps.beside / "bin"
    folder.mkdir()
    script(folder / "hipconfig", "/bin/sh", f'if [ "$SLURM_NODEID" = 1 ]; then {text}; fi; echo 6.2.1-0')
    return f"{folder}:/usr/bin:/bin"


def test_a_task_that_is_killed(steps):
    path = on_node2(steps, "kill -KILL $PPID; sleep 1")
    done = steps.run("-N2 --ntasks-per-node=2", *AORTA, "env", "probe", "-o", "env-{node}.json", PATH=path)
    assert done.returncode == 128 + signal.SIGKILL
    assert re.search(r"node2: task 2: Killed", done.stderr)
    assert steps.files == ["env-0.json"]
    assert steps.document("env-0.json")["launcher"]["node"] == "node1"


def test_a_step_that_is_ended(steps):
    """scancel's SIGTERM comes while the second node waits for a tool: 143, and nothing half-written."""
    marker = steps.beside / "waits"
    path = on_node2(steps, f"touch {marker}; sleep 40")
    process = steps.start(
        "-N2 --ntasks-per-node=2", *AORTA, "env", "probe", "-o", "env-{node}.json", PATH=path
    )
    with process:
        wait_for(lambda: marker.exists() and steps.files == ["env-0.json"])
        step = "%i", "--steps", f"--job={steps.job}"
        [number] = [
            line
            for line in steps.cluster.run(
                "squeue", "--noheader", "--format", *step, cwd=steps.folder
            ).stdout.split()
            if re.fullmatch(rf"{steps.job}\.\d+", line)
        ]
        steps.cluster.run("scancel", "--signal=TERM", number, cwd=steps.folder)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM, told
    assert re.search(r"node2: task 2: Exited with exit code 143", told)
    assert "Traceback" not in told
    assert steps.files == ["env-0.json"]
    assert steps.document("env-0.json")["launcher"]["node"] == "node1"


def test_a_job_that_is_cancelled(cluster, steps):
    """Slurm sends SIGTERM, and SIGKILL two seconds later: the capture is gone by then, and its tool too."""
    marker = steps.beside / "waits"
    path = on_node2(steps, f"touch {marker}; exec sleep 40")
    words = (
        "srun",
        "-N2",
        "-n2",
        "--label",
        "--job-name=cancelled",
        *AORTA,
        "env",
        "probe",
        "-o",
        "x/{node}.json",
    )
    with cluster.start(*words, cwd=steps.folder, env={"PATH": path}) as process:
        wait_for(marker.exists)
        cluster.run("scancel", "--name=cancelled", cwd=steps.folder)
        process.communicate(timeout=30)
    assert process.returncode != 0
    left = {path.name for path in (steps.folder / "x").glob("*")} if (steps.folder / "x").exists() else set()
    assert left <= {"0.json"}


def test_again_on_the_same_nodes(steps):
    for _ in range(2):
        assert steps.probe("-N2 -n2", "-o", "env-{node}.json").returncode == 0
    assert steps.files == ["env-0.json", "env-1.json"]
    assert [steps.document(name)["launcher"]["node"] for name in steps.files] == ["node1", "node2"]


def test_again_on_another_node(steps):
    """The numbers of nodes begin at 0 in each step: the file of another node stays."""
    assert steps.probe("-N1 -n2 -w node2", "-o", "env-{node}.json").returncode == 0
    before = (steps.folder / "env-0.json").read_bytes()
    done = steps.probe("-N1 -n2 -w node1", "-o", "env-{node}.json")
    assert done.returncode == 1
    assert "env-0.json: it holds the snapshot of another host; --force replaces it" in done.stderr
    assert (steps.folder / "env-0.json").read_bytes() == before
    assert steps.probe("-N1 -n2 -w node1", "--force", "-o", "env-{node}.json").returncode == 0
    assert steps.document("env-0.json")["launcher"]["node"] == "node1"
    assert steps.files == ["env-0.json"]


def one_won(steps, running):
    """Check that one of two wrote its file whole, and that the other said why it did not."""
    ended = []
    for process in running:
        with process:
            ended.append((process.communicate(timeout=40)[1], process.returncode))
    assert sorted(code for _, code in ended) == [0, 1], ended
    [refused] = [told for told, code in ended if code == 1]
    assert "env.json: it holds the snapshot of another host" in refused
    assert steps.files == ["env.json"]
    return steps.document("env.json")


def test_two_steps_that_write_one_file(steps):
    """Each is alone in its step, and knows of no other."""
    words = (*AORTA, "env", "probe", *QUICK)
    running = [steps.start(f"-N1 -n1 -w node{number}", *words) for number in (1, 2)]
    assert one_won(steps, running)["launcher"]["node"] in ("node1", "node2")


def test_two_hosts_without_a_launcher_that_write_one_file(cluster, steps):
    """As with pdsh."""
    words = (*AORTA, "env", "probe", *QUICK)
    running = [cluster.start(*words, cwd=steps.folder, host=node) for node in ("node1", "node2")]
    assert one_won(steps, running)["launcher"]["kind"] == "none"


#: What torchrun sets for two processes a node; one agent on each.
AGENT = """
export WORLD_SIZE=4 LOCAL_WORLD_SIZE=2 GROUP_WORLD_SIZE=2 GROUP_RANK=$((1 - SLURM_NODEID))
export TORCHELASTIC_RUN_ID=x TORCHELASTIC_RESTART_COUNT=0 MASTER_ADDR=node1 MASTER_PORT=29500
for LOCAL_RANK in 0 1; do
    RANK=$((2 * GROUP_RANK + LOCAL_RANK))
    export RANK LOCAL_RANK
    {words} &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || exit; done
"""


def test_one_agent_of_torchrun_on_each_node(steps):
    """Which agent is the first is torchrun's decision, not Slurm's."""
    words = " ".join([*AORTA, "env", "probe", *QUICK, "-o", "env-{node}.json"])
    done = steps.run("-N2 -n2", "sh", steps.script(AGENT.replace("{words}", words)))
    assert done.returncode == 0, done.stderr
    assert steps.files == ["env-0.json", "env-1.json"]
    for group, node in ((0, "node2"), (1, "node1")):
        told = steps.document(f"env-{group}.json")["launcher"]
        assert (told["kind"], told["node"], told["group_rank"], told["nnodes"]) == (
            "torchrun",
            node,
            group,
            2,
        )
        assert (told["rank"], told["world_size"], told["local_world_size"]) == (2 * group, 4, 2)
    done = steps.run("-N2 -n2", "sh", steps.script(AGENT.replace("{words}", words.replace("{node}", "all"))))
    assert done.returncode == 2
    assert done.stderr.count("-o env-all-{node}.json") == 4
    assert steps.files == ["env-0.json", "env-1.json"]
