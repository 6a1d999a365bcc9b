"""A dry run of several ranks: rank 0 tells where they would meet; on a laptop it tells what launch is needed."""

import os
import socket

from tests.launch.environs import slurm

NONE = dict.fromkeys(("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"))
PAIR = """
from aorta.workloads.ranks import Ranks
class Pair(Ranks):
    min_world_size = 2
"""


def dry(job, *, recipe="r.yaml", rank=0, size=2, **env):
    """Return the exit status and what a dry run prints: rows by their names, and the whole."""
    job.start(rank, "--dry-run", recipe=recipe, size=size, **env)
    [code], [out], [errors] = job.ended()
    assert job.runs == []
    rows = {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in out.splitlines() if "  " in line}
    return code, rows, out + errors


def test_by_hand(job):
    code, rows, text = dry(job)
    assert code == 0, text
    assert rows["Ranks"] == "2, started by hand (RANK, WORLD_SIZE)"
    assert rows["Meeting"] == f"on 127.0.0.1, port {job.port} (MASTER_PORT)"
    assert rows["Trial ports"] == "for each trial any free one of rank 0's host"
    assert rows["Isolation"].startswith("process")


def test_a_port_that_something_else_has(job):
    taken = socket.create_server(("", job.port))
    with taken:
        code, rows, text = dry(job)
        assert code == 2
        assert rows["Meeting"] == f"on 127.0.0.1, port {job.port} (MASTER_PORT)"
        assert (
            f"error: MASTER_PORT is {job.port}, at which rank 0 cannot listen on {os.uname().nodename} (Address already"
            " in use): choose another MASTER_PORT for this job\nThis would not run: 1 error."
        ) in text
        # The others need no port, nor does one rank, and an agent of torchrun serves there by right.
        assert dry(job, rank=1) == (0, {}, "")
        assert dry(job, size=1)[0] == 0
        agent = {"TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_USE_AGENT_STORE": "True"}
        code, rows, text = dry(job, **agent)
        assert (code, rows["Ranks"]) == (0, "2, started by torchrun"), text
        assert "No problem was found." in text
    assert dry(job)[0] == 0


def test_a_step_of_slurm(job):
    code, rows, text = dry(job, **{**NONE, **slurm(0, 0)})
    assert code == 0, text
    assert rows["Ranks"] == "4 on 2 nodes, started by slurm"
    assert rows["Meeting"] == "on n07, the first free port from 19542 to 19557"
    assert rows["Trial ports"] == "18558 to 19541 (made of the job's name), each used once"


def test_a_base_of_the_user_s(job):
    _, rows, _ = dry(job, MASTER_PORT=None, AORTA_TRIAL_MASTER_PORT_BASE=20000)
    assert rows["Meeting"] == "on 127.0.0.1, the first free port from 20984 to 20999"
    assert rows["Trial ports"] == "20000 to 20983 (AORTA_TRIAL_MASTER_PORT_BASE), each used once"


def test_other_ranks_say_nothing(job):
    assert dry(job, rank=1) == (0, {}, "")


def test_what_needs_more_ranks_is_in_order_elsewhere(job):
    (job.folder / "pair.py").write_text(PAIR)
    recipe = job.recipe("pair.yaml", workload="pair")
    known = {
        "AORTA_WORKLOADS": "pair=pair:Pair",
        "PYTHONPATH": f"{job.environ(0)['PYTHONPATH']}:{job.folder}",
    }
    code, rows, text = dry(job, recipe=recipe, **NONE, **known)
    assert code == 0
    assert rows["Ranks"] == "1: no launcher started this; the workload needs 2 or more"
    assert "error here: workload pair needs 2 ranks or more, and there is 1: start aorta on each" in text
    assert text.rstrip().endswith("This would not run on this machine.\nNothing was run or written.")
    # and a run ends with the same
    job.start(0, recipe=recipe, **NONE, **known)
    [line] = job.refused()
    assert line.startswith("aorta: workload pair needs 2 ranks or more, and there is 1")


def test_a_recipe_of_race_is_in_order_on_a_laptop(job):
    code, rows, text = dry(job, recipe=job.recipe("race.yaml", workload="race"), **NONE)
    assert code == 0, text
    assert rows["Ranks"] == "1: no launcher started this; the workload needs 2 or more"
    assert "error: " not in text


def test_a_launch_that_contradicts_itself(job):
    code, rows, text = dry(job, rank=0, size=2, LOCAL_RANK=1)
    assert code == 2
    assert rows["Ranks"] == "not known"
    assert "error: LOCAL_RANK is 1 and RANK is 0" in text
