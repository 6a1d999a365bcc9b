"""The nodes of a sweep: a snapshot of each, and what sets one apart."""

from tests.slurm.rank_sweeps import FOUR, SWEEP, Run, other_file, recipe


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
