"""Workloads of several ranks, for the tests of what a trial's process is given."""

import os
import sys

from aorta.workloads import Workload, WorkloadResult

#: Read once, when the module is imported.
CACHED = {name: os.environ.get(name) for name in ("AORTA_TRIAL", "AORTA_CELL", "NCCL_PROTO", "HSA_XNACK")}


class Cached(Workload):
    """Tells what its module found in the environment when it was imported."""

    launch_mode = "distributed"
    trial_isolation_default = "process"
    trial_isolation_supported = frozenset({"process"})

    #: Of a GPU that the workload would be bound to.
    device = "cuda:0"

    def run(self):
        with open(os.path.join(self.trial.artifact_dir, "cached"), "w") as file:
            file.write(repr(sorted(CACHED.items())))
        return WorkloadResult(passed=True, metrics=CACHED)


class OfAUser(Workload):
    """Meets as a program of a user does, by the variables alone; nothing of aorta helps it."""

    launch_mode = "distributed"
    min_world_size = 2
    trial_isolation_supported = frozenset({"in_process", "process"})

    def setup(self):
        import torch.distributed as dist

        dist.init_process_group("gloo")

    def run(self):
        import torch
        import torch.distributed as dist

        total = torch.tensor([dist.get_rank() + 1.0])
        dist.all_reduce(total)
        own = {name: os.environ.get(name) for name in ("TORCHELASTIC_USE_AGENT_STORE", "MASTER_PORT")}
        return WorkloadResult(passed=total.item() == 3.0, metrics={**own, "store": self.trial.store})

    def cleanup(self):
        import torch.distributed as dist

        dist.destroy_process_group()


class Empty(Workload):
    """Does nothing but import torch: what a trial costs by itself."""

    launch_mode = "distributed"
    trial_isolation_default = "process"
    trial_isolation_supported = frozenset({"process"})
    requires = ("torch",)

    def setup(self):
        import torch

        assert torch is sys.modules["torch"]

    def run(self):
        return WorkloadResult(passed=True)
