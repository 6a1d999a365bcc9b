"""What pages say of srun and other launchers, in real ones."""

import json
import shutil
import time

import pytest

from tests.parts import torches
from tests.parts.doc_programs import environment, script
from tests.parts.needs import need
from tests.parts.pages import ROOT, blocks
from tests.parts.slurm import PATH
from tests.parts.sweeps import processes_with
from tests.slurm.conftest import wait_for

PAGE = "docs/env-probe.md"
LINES = [line for block in blocks(PAGE, "console") for line in block.commands if line.startswith("srun ")]


@pytest.fixture
def env(steps):
    """Return the environment of the page's lines, with the real srun in place of a stand-in."""
    env = environment(steps.beside)
    programs = steps.beside / "programs"
    (programs / "srun").unlink()
    return {**env, "PATH": f"{programs}:{PATH}"}


def test_the_lines(steps, env):
    assert [line.split()[0] for line in LINES] == ["srun"] * 2
    for line in LINES:
        done = steps.cluster.run("sh", "-c", line, cwd=steps.folder, env=env)
        assert done.returncode == 0, done.stderr
    assert steps.files == ["env-0.json", "env-1.json", *(f"rank-{rank}.json" for rank in range(4))]
    assert [steps.document(f"rank-{rank}.json")["launcher"]["rank"] for rank in range(4)] == [0, 1, 2, 3]
    assert [steps.document(f"env-{node}.json")["launcher"]["node_rank"] for node in (0, 1)] == [0, 1]


def test_the_program_that_captures_itself(steps, env):
    program = steps.beside / "train.py"
    program.write_text(blocks(PAGE, "python")[-1].text)
    words = ("-N2 --ntasks-per-node=2", "python", str(program))
    for output, files in ((None, []), ("env-{rank}.json", ["env-0.json", "env-2.json"])):
        done = steps.run(*words, **env, **({"AORTA_ENV_OUTPUT": output} if output else {}))
        assert (done.returncode, done.stderr) == (0, "")
        assert steps.files == files
    for name, node in (("env-0.json", "node1"), ("env-2.json", "node2")):
        assert steps.document(name)["launcher"]["node"] == node


CLUSTER = "docs/running-on-a-cluster.md"
#: The others need no cluster, and run in tests/docs/test_cluster_page.py.
LAUNCHED = [
    line
    for block in blocks(CLUSTER, "console")
    for line in block.commands
    if not line.startswith(("sh ", "aorta "))
]


@pytest.fixture
def reader(steps):
    """Return the environment of a reader of the page of clusters, with the files of the page and real programs."""
    env = environment(steps.beside)
    programs = steps.beside / "programs"
    (programs / "srun").unlink()
    script(programs / "torchrun", "/bin/sh", f'exec {torches.python()} -m torch.distributed.run "$@"')
    shutil.copytree(ROOT / "recipes", steps.folder / "recipes")
    for block in blocks(CLUSTER):
        if block.title:
            (steps.folder / block.title).write_text(block.text)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {**env, **root, "PATH": f"{programs}:{PATH}", "OMP_NUM_THREADS": "1"}


@pytest.mark.timeout(400)
def test_the_lines_of_the_page_of_clusters(steps, reader):
    """In their order and in one folder, as a reader types them."""
    need(shutil.which("mpirun", path=PATH) is not None, "needs Open MPI: there is no mpirun")
    launchers = {line.split()[0] for line in LAUNCHED}
    assert launchers >= {"srun", "sbatch", "torchrun", "mpirun"}
    seen = set()
    for line in dict.fromkeys(LAUNCHED):
        if "environments/local/nodes" in line:
            # Of the newest run it is said on the page that it had two nodes.
            done = steps.cluster.run("sh", "-c", f"{line}; test $? -le 1", cwd=two_nodes(steps), env=reader)
        else:
            done = steps.cluster.run("sh", "-c", line, cwd=steps.folder, env=reader)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert "internal error" not in done.stderr, line
        for path in set(steps.folder.glob("triage_results/_no_ticket_/*/2*/matrix.json")) - seen:
            seen.add(path)
            matrix = json.loads(path.read_text())
            assert matrix["complete"], line
            ranks = 4 if "-N2" in line or "sbatch" in line else 2
            assert matrix["world_size"] == ranks, line
            assert len(matrix["nodes"]) == ranks / 2, line
    assert len(seen) == 7


def two_nodes(steps):
    """Return a folder in which the newest run is one of two nodes."""
    [run] = [
        path.parent
        for path in steps.folder.glob("triage_results/_no_ticket_/ranks/2*/matrix.json")
        if len(json.loads(path.read_text())["nodes"]) == 2
    ][-1:]
    place = steps.beside / "two" / "triage_results" / "_no_ticket_" / "ranks"
    place.mkdir(parents=True)
    (place / "latest").symlink_to(run)
    return steps.beside / "two"


SLOW = """
schema_version: 1
workload: ranks
trials: 3
steps: 4
workload_config: {pause_ms: 700.0}
cells:
  - {name: baseline, mitigations: [none], environment: local}
"""


@pytest.mark.timeout(150)
def test_the_script_of_the_page_goes_on_when_its_time_is_over(steps, reader):
    """The signal is the one that Slurm sends a minute before the limit."""
    (steps.folder / "recipes/smoke/cpu-ranks.yaml").write_text(SLOW)
    job = steps.cluster.run(
        "sbatch", "--parsable", "sweep.sbatch", cwd=steps.folder, env=reader
    ).stdout.strip()
    run = "triage_results/_no_ticket_/ranks/2*"
    wait_for(lambda: list(steps.folder.glob(f"{run}/cells/baseline/trial_000.json")), 60)
    steps.cluster.run("scancel", "--signal=TERM", job, cwd=steps.folder)
    wait_for(lambda: state_of(steps, job) == "PENDING", 30)
    # Slurm lets two minutes pass, so that nothing of the job is left on its nodes.
    wait_for(lambda: not processes_with(f"SLURM_JOB_ID={job}"), 20)
    time.sleep(3.0)
    steps.cluster.run("scontrol", "update", f"JobId={job}", "StartTime=now", cwd=steps.folder)
    [matrix] = steps.folder.glob(f"{run}/matrix.json")
    assert json.loads(matrix.read_text())["state"] == "interrupted"
    wait_for(lambda: json.loads(matrix.read_text())["complete"], 60)
    wait_for(lambda: state_of(steps, job) in ("COMPLETED", ""), 30)
    made = json.loads(matrix.read_text())
    assert (len(made["resumed_at"]), made["totals"]["passed"]) == (1, 3)


def state_of(steps, job):
    return steps.cluster.run(
        "squeue", "-h", "-j", job, "-o", "%T", "-t", "all", cwd=steps.folder
    ).stdout.strip()
