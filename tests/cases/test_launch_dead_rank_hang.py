"""A rank that ends, whatever its exit status, or hangs: all ranks are gone soon, with a status that is not 0."""

import time

import pytest

from tests.launch.conftest import Job

CASE = "launch-dead-rank-hang"

#: Rank 0 does what is asked, the other waits for it.
WORKLOAD = """
import os, signal, time
import attrs
from aorta.workloads.ranks import Ranks, RanksConfig

@attrs.frozen(kw_only=True)
class Config(RanksConfig):
    way: str = ""

class Mine(Ranks):
    config_type = Config

    def setup(self):
        if self.trial.rank == 0 and self.config.way == "raise in setup":
            raise RuntimeError("planted")
        super().setup()

    def run(self):
        if self.trial.rank == 0:
            if self.config.way.startswith("exit"):
                os._exit(int(self.config.way.split()[1]))
            if self.config.way == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
        return super().run()

    def cleanup(self):
        if self.trial.rank == 0 and self.config.way == "hang at the end":
            time.sleep(1000)
        super().cleanup()
"""


@pytest.mark.parametrize("way", ["raise in setup", "exit 1", "exit 0", "kill", "hang at the end"])
def test_no_rank_stays(tmp_path, way):
    job = Job(tmp_path)
    try:
        (tmp_path / "mine.py").write_text(WORKLOAD)
        more = f"trial_timeout: 5\nworkload_config: {{way: {way}}}"
        recipe = job.recipe("mine.yaml", workload="mine", more=more)
        path = f"{job.environ(0)['PYTHONPATH']}:{tmp_path}"
        began = time.monotonic()
        for rank in (0, 1):
            job.start(rank, recipe=recipe, PYTHONPATH=path, AORTA_WORKLOADS="mine=mine:Mine")
        codes, _, errors = job.ended(80)
        assert codes == [1, 1], errors
        assert time.monotonic() - began < 60
        assert job.matrix()["lost_rank"] is True
    finally:
        job.end()
