"""Two sweeps at once on the same nodes: their ranks find their own, and their trials' ports never clash.

AORTA_TEST_TRIES says how often that is tried.
"""

import os

import pytest

from tests.slurm.rank_sweeps import SWEEP, TWO, Run, recipe

TRIES = int(os.environ.get("AORTA_TEST_TRIES", "3"))
#: Nothing set, and the same ports for both, as in a user's profile.
PORTS = {"own": {}, "one": {"AORTA_TRIAL_MASTER_PORT_BASE": "23000"}}


@pytest.mark.timeout(60 + 20 * TRIES)
@pytest.mark.parametrize("env", PORTS.values(), ids=PORTS)
def test_no_port_clashes(steps, cluster, env):
    for number in range(TRIES):
        folders = [steps.folder / f"{number}{name}" for name in "ab"]
        started = []
        for folder in folders:
            folder.mkdir()
            recipe(folder, trials=2)
            # Of jobs of their own, as two users have them.
            words = ("srun", *TWO.split(), *SWEEP)
            started.append(cluster.start(*words, cwd=folder, env=env))
        told = [process.communicate(timeout=100) for process in started]
        for folder, process, (_, err) in zip(folders, started, told, strict=True):
            assert process.returncode == 0, err
            matrix = Run(folder).matrix
            assert (matrix["state"], matrix["world_size"], matrix["warnings"]) == ("complete", 2, [])
            assert [cell["passed_count"] for cell in matrix["cells"]] == [2, 2]
