"""What keeps the ranks of a step from running together: all say the same, soon, and nothing is written."""

import sys
import time

from tests.slurm.conftest import wait_for
from tests.slurm.rank_sweeps import FOUR, SWEEP, lines_by_rank, other_file, recipe


def check_refused(steps, words, **env):
    """Run a sweep of four ranks, check that all refuse it with the same lines, and return these."""
    began = time.monotonic()
    done = steps.run(f"{FOUR} --label", *SWEEP, **env)
    assert done.returncode == 2, done.stderr
    assert time.monotonic() - began < 20
    said = lines_by_rank(done.stderr)
    assert sorted(said) == [0, 1, 2, 3]
    assert len({tuple(lines) for lines in said.values()}) == 1, done.stderr
    assert words in said[0][0]
    assert not (steps.folder / "triage_results").exists()
    return said[0]


def test_a_rank_that_was_exported_for_all(steps):
    """All four tasks would take themselves for rank 0: they say the same, and leave nothing."""
    recipe(steps.folder)
    check_refused(steps, "was RANK exported before srun?", RANK="0", WORLD_SIZE="4")


def test_a_recipe_with_a_mistake_is_told_alike_by_all(steps):
    path = steps.folder / recipe(steps.folder)
    path.write_text(path.read_text().replace("trial_timeout", "trial_time_out"))
    check_refused(steps, "trial_time_out")


def test_a_node_that_sees_another_recipe(steps):
    """As where a file system is not the same on all nodes."""
    path = steps.folder / recipe(steps.folder)
    with other_file(steps, path, path.read_text().replace("steps: 2", "steps: 3")):
        [line] = check_refused(steps, "aorta: the recipe is ")
    first, _, other = line.partition(", and ")
    assert ("node2" in first, "node1" in first, "node2" in other) == (True, False, False)


def test_a_port_that_is_taken(steps, cluster):
    """Rank 0 does not choose another one, which the others would not know."""
    recipe(steps.folder)
    listens = "import socket, time; s = socket.create_server(('', 29511)); open('up', 'w'); time.sleep(60)"
    with cluster.start(sys.executable, "-c", listens, cwd=steps.folder, host="node1") as process:
        wait_for((steps.folder / "up").exists)
        try:
            check_refused(
                steps,
                "port 29511 of node1 is in use by something else",
                MASTER_ADDR="node1",
                MASTER_PORT="29511",
            )
        finally:
            process.kill()
