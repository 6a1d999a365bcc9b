"""A trial under torchrun has a port of its own, and is not told that the agent serves a store there."""

import json

from tests.launch.conftest import Job

CASE = "launch-agent-store-flag-inherited-by-fresh-worker"

WORKLOAD = """
import json, os
from aorta.workloads.ranks import Ranks

class Mine(Ranks):
    def run(self):
        with open(f"seen{os.environ['RANK']}.json", "w") as file:
            json.dump(dict(os.environ), file)
        return super().run()
"""


def test_a_worker_is_told_its_own_port_and_no_store_of_an_agent(tmp_path):
    job = Job(tmp_path)
    agent = {
        "TORCHELASTIC_RUN_ID": "r",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_ERROR_FILE": str(tmp_path / "error.json"),
        # the ranks meet without the agent, so that none need run here
        "AORTA_TRIAL_MASTER_PORT_BASE": 20000 + job.port % 8000,
    }
    try:
        (tmp_path / "mine.py").write_text(WORKLOAD)
        recipe = job.recipe("mine.yaml", workload="mine")
        path = f"{job.environ(0)['PYTHONPATH']}:{tmp_path}"
        for rank in (0, 1):
            job.start(rank, recipe=recipe, PYTHONPATH=path, AORTA_WORKLOADS="mine=mine:Mine", **agent)
        codes, _, errors = job.ended()
        assert codes == [0, 0], errors
    finally:
        job.end()
    seen = [json.loads((tmp_path / f"seen{rank}.json").read_text()) for rank in (0, 1)]
    assert [one["TORCHELASTIC_USE_AGENT_STORE"] for one in seen] == ["False", "False"]
    assert len({one["MASTER_PORT"] for one in seen}) == 1
    assert seen[0]["MASTER_PORT"] != str(job.port)
    assert all("TORCHELASTIC_ERROR_FILE" not in one for one in seen)
