"""Which rank of which job a process of a real Slurm step takes itself for."""

import json
import sys

from tests.parts import torches

TELLS = """
import json, os, attrs
from aorta.launch.identity import identity_of
from aorta.launch.tasks import LaunchError
try:
    one = identity_of(os.environ)
    names = ("launcher", "rank", "size", "local_rank", "node", "nodes", "address", "agent_store", "job")
    print(json.dumps({name: getattr(one, name) for name in names}))
except LaunchError as error:
    print(json.dumps(str(error)))
"""


def told(steps, options, *words, **env):
    """Return what each process of a step takes itself for, by rank; texts are refusals."""
    (steps.folder / "tells.py").write_text(TELLS)
    done = steps.run(options, *(words or (sys.executable,)), "tells.py", **env)
    found = [json.loads(line) for line in done.stdout.splitlines() if line[:1] in '{"']
    assert found, done.stderr
    return sorted(found, key=str)


def test_tasks_of_a_step(steps):
    found = told(steps, "-N2 --ntasks-per-node=2")
    places = [(one["rank"], one["size"], one["local_rank"], one["node"], one["nodes"]) for one in found]
    assert sorted(places) == [(0, 4, 0, 0, 2), (1, 4, 1, 0, 2), (2, 4, 0, 1, 2), (3, 4, 1, 1, 2)]
    assert {(one["launcher"], one["address"]) for one in found} == {("slurm", "node1")}
    assert len({one["job"] for one in found}) == 1
    # a step of its own has a name of its own
    assert told(steps, "-N1 -n2")[0]["job"] != found[0]["job"]


def test_torchrun_in_each_of_two_tasks(steps):
    end = "--rdzv-endpoint=node1:29477"
    agents = (torches.python(), "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1")
    found = told(steps, "-N2 --ntasks-per-node=1", *agents, "--rdzv-backend=c10d", end, OMP_NUM_THREADS="1")
    assert {(one["launcher"], one["size"], one["agent_store"]) for one in found} == {("torchrun", 2, True)}
    assert sorted((one["rank"], one["node"]) for one in found) == [(0, 0), (1, 1)]
    assert len({one["job"] for one in found}) == 1


def test_a_rank_exported_before_srun_is_refused(steps):
    found = told(steps, "-N2 --ntasks-per-node=1", RANK="0", WORLD_SIZE="2")
    [refused] = [one for one in found if isinstance(one, str)]
    assert refused.startswith("RANK is 0 and SLURM_PROCID is 1 in a step of 2 tasks: was RANK exported")
    alone = told(steps, "-N2 --ntasks-per-node=1", RANK="0", WORLD_SIZE="1")
    assert all("WORLD_SIZE is 1, and this is one of 2 tasks of its launcher" in one for one in alone)
