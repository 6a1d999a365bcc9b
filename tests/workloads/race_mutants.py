"""``race`` on some ranks where one collective leaves a buffer of rank 1 as it was; prints what was found.

    python -m tests.workloads.race_mutants RANKS FOLDER

One line of JSON for each collective of the checked iterations of each config: the config, the number of the
call, its function, what rank 1 found, and whether buffers of any rank hold something at the end.
"""

import functools
import json
import multiprocessing
import sys

import torch
import torch.distributed as dist

from aorta.workloads import group
from aorta.workloads.protocol import TrialInfo
from aorta.workloads.race import Race
from aorta.workloads.race.config import RaceConfig
from aorta.workloads.race.values import POISON

SMALL = {
    "device": "cpu",
    "warmup_iterations": 2,
    "verify_iterations": 2,
    "simulate_compute": False,
    "stop_on_first_corruption": False,
    "fsdp_shard_size": 7,
    "allreduce_tensor_size": 5,
    "alltoall_tensor_size": 9,
    "h2d_tensor_size": 3,
    "log_interval": 0,
}
CONFIGS = (
    {"mode": "default"},
    {"mode": "default", "reuse_buffers": False},
    {"mode": "ddp", "num_layers": 2, "optimizer": "adamw"},
    {"mode": "ddp", "num_layers": 2, "ddp_bucketed": True, "optimizer": "sgd"},
    {"mode": "fsdp", "num_layers": 1},
    {"mode": "fsdp", "num_layers": 2, "dtype": "float32"},
    {"mode": "fsdp", "num_layers": 5},
)
COLLECTIVES = (
    "all_reduce",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_single",
    "all_to_all_single",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
)


class Calls:
    """Counts the calls of collectives, and lets one of them write elsewhere."""

    def __init__(self):
        self.names, self.diverted = [], None
        for name in COLLECTIVES:
            if hasattr(dist, name):
                setattr(dist, name, functools.partial(self._call, name, getattr(dist, name)))

    def _call(self, name, collective, output, *more):
        if len(self.names) == self.diverted:
            output = [one.clone() for one in output] if isinstance(output, list) else output.clone()
        self.names.append(name)
        return collective(output, *more)


def work(rank, ranks, folder, told):
    """Do all trials on one rank."""
    torch.set_num_threads(1)
    calls, numbers = Calls(), iter(range(10**6))

    def trial(config, diverted):
        calls.names, calls.diverted = [], diverted if rank == 1 else None
        store = dist.FileStore(f"{folder}/{next(numbers)}", ranks)
        group.store_of = lambda _: store
        race = Race(RaceConfig(**SMALL, **config))
        race.trial = TrialInfo(rank=rank, world_size=ranks, local_rank=rank)
        race.setup()
        found = race.run()
        is_spent = all(bool((one == POISON).all()) for one in race.mode._kept.values())
        race.cleanup()
        return sorted({one["type"] for one in found.failure_details}), is_spent

    for config in CONFIGS:
        found, is_spent = trial(config, None)
        told.put((rank, {"config": config, "call": None, "name": None, "found": found, "spent": is_spent}))
        names = calls.names
        # Those of the checked iterations, which are the second half.
        for call in range(len(names) // 2, len(names)):
            found, is_spent = trial(config, call)
            one = {"config": config, "call": call, "name": names[call], "found": found, "spent": is_spent}
            told.put((rank, one))
    told.put((rank, None))


def main(ranks, folder):
    """Start the ranks, and print what rank 1 tells."""
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    processes = [
        context.Process(target=work, args=(rank, ranks, folder, told), daemon=True) for rank in range(ranks)
    ]
    for process in processes:
        process.start()
    ended = 0
    while ended < ranks:
        rank, one = told.get(timeout=120)
        ended += one is None
        if one is not None and (rank == 1 or not one["spent"]):
            print(json.dumps({"rank": rank, **one}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
