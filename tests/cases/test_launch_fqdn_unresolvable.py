"""Trials get the launcher's MASTER_ADDR as it is, and nothing asks for the name that belongs to a number."""

import subprocess
from pathlib import Path

from aorta.launch.identity import identity_of
from tests.launch.conftest import Job

CASE = "launch-fqdn-unresolvable"
ROOT = Path(__file__).resolve().parents[2]

#: Prints where a trial's ranks meet.
WORKLOAD = """
import os
from aorta.workloads.ranks import Ranks

class Mine(Ranks):
    def run(self):
        with open(f"met{os.environ['RANK']}", "w") as file:
            file.write(os.environ["MASTER_ADDR"])
        return super().run()
"""


def test_the_address_of_the_launcher_is_that_of_the_trials(tmp_path):
    job = Job(tmp_path)
    try:
        (tmp_path / "mine.py").write_text(WORKLOAD)
        recipe = job.recipe("mine.yaml", workload="mine")
        path = f"{job.environ(0)['PYTHONPATH']}:{tmp_path}"
        for rank in (0, 1):
            env = {"PYTHONPATH": path, "AORTA_WORKLOADS": "mine=mine:Mine", "MASTER_ADDR": "127.1.2.3"}
            job.start(rank, recipe=recipe, **env)
        codes, _, errors = job.ended()
        assert codes == [0, 0], errors
    finally:
        job.end()
    assert [(tmp_path / f"met{rank}").read_text() for rank in (0, 1)] == ["127.1.2.3"] * 2
    told = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "192.0.2.21", "MASTER_PORT": "29500"}
    assert identity_of(told).address == "192.0.2.21"


def test_nobody_asks_for_names_of_numbers():
    words = ["grep", "-rnE", "getfqdn|gethostby|getnameinfo", "--include=*.py", str(ROOT / "aorta")]
    assert subprocess.run(words, capture_output=True, text=True, check=False).stdout == ""
