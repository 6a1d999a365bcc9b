"""The nodes of a sweep: a snapshot of each, and what sets one apart."""

import contextlib
import json
import sys

import pytest

from tests.slurm.conftest import AORTA, wait_for
from tests.slurm.rank_sweeps import FOUR, SWEEP, TWO, Run, other_file, recipe

#: A sweep that looks at the hosts again however short it was.
LOOKS = """
import aorta.sweep.run.session as one
one.LOOK_AGAIN = 0.0
from aorta.cli import main
main()
"""


def test_each_node_has_its_snapshot(steps):
    recipe(steps.folder)
    done = steps.run(FOUR, *SWEEP)
    assert done.returncode == 0, done.stderr
    run = Run(steps.folder)
    assert [run.node(name)["launcher"]["node"] for name in ("node1", "node2")] == ["node1", "node2"]
    digests = [node["host_digest"] for node in run.matrix["nodes"]]
    assert len(set(digests)) == 2
    assert digests[0] == run.matrix["host_digest"]


def test_a_node_with_another_rocm_is_named(steps, rocm):
    recipe(steps.folder)
    with other_file(steps, rocm / ".info/version", "7.0.2-11\n"):
        done = steps.run(FOUR, *SWEEP, ROCM_PATH=str(rocm))
    assert done.returncode == 0, done.stderr
    run = Run(steps.folder)
    assert [run.node(name)["rocm"]["version"] for name in ("node1", "node2")] == ["7.1.0-20", "7.0.2-11"]
    [line] = run.matrix["warnings"]
    assert line.startswith("environment local: rocm.version is ")
    assert '"7.0.2-11" in rank 2 on node node2 (environments/local/nodes/node2.json)' in line
    assert '"7.1.0-20" in rank 0 on node node1 (environments/local/nodes/node1.json)' in line
    assert line in (run.path / "matrix.md").read_text().replace("\\", "")


@pytest.mark.parametrize("changes", [True, False])
def test_a_node_whose_host_changes_meanwhile(steps, rocm, changes):
    recipe(steps.folder, trials=2, steps=1, pause_ms=1500.0)
    env = {"ROCM_PATH": str(rocm)}
    words = (sys.executable, "-W", "error", "-c", LOOKS, "sweep", "run", "--recipe", "r.yaml")
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(steps.start(TWO, *words, **env))
        wait_for(lambda: list(steps.folder.glob("triage_results/T/ranks/2*/cells/base/*.log")), 30)
        if changes:
            stack.enter_context(other_file(steps, rocm / ".info/version", "7.0.2-11\n"))
        err = process.communicate(timeout=100)[1]
    assert process.returncode == 0, err
    run = Run(steps.folder)
    before, after = (f"nodes/node2/host_env{when}.json" for when in ("", ".after"))
    line = "the host of node2 changed during the run, in rocm: what differs is told by"
    assert run.matrix["warnings"] == [f"{line} aorta env diff {before} {after}"] * changes
    assert [name for name in run.files if "host_env" in name] == ["host_env.json", *[after, before] * changes]
    if changes:
        versions = [json.loads((run.path / name).read_text())["rocm"]["version"] for name in (before, after)]
        assert versions == ["7.1.0-20", "7.0.2-11"]
        told = steps.cluster.run(*AORTA, "env", "diff", before, after, cwd=run.path).stdout
        assert "rocm.version" in told
