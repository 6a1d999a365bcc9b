"""The process group of a trial, in torch: one rank has it to itself, several meet at a store."""

import datetime as dt
from typing import Any

from aorta.workloads.protocol import TrialInfo

AUTO, CPU, CUDA = DEVICES = ("auto", "cpu", "cuda")

#: Seconds that a collective may take: what blocks for longer is lost.
TIMEOUT_S = 300.0


def device_of(wish: str, trial: TrialInfo) -> Any:
    """Return the torch device of a rank, a GPU or the CPU. Raises RuntimeError where no GPU is to be had."""
    import torch

    if wish == CPU or (wish == AUTO and not torch.cuda.is_available()):
        return torch.device(CPU)
    count = torch.cuda.device_count()
    if not torch.cuda.is_available() or count == 0:
        raise RuntimeError("device cuda: torch sees no GPU here")
    # A launcher may show each rank a device of its own.
    index = 0 if count == 1 else trial.local_rank
    if index >= count:
        raise RuntimeError(f"local rank {trial.local_rank} has no GPU: torch sees {count}")
    torch.cuda.set_device(index)
    return torch.device(CUDA, index)


def join(rank: int, world_size: int, store: Any, device: Any) -> None:
    """Make the default process group of ``world_size`` ranks that meet at a torch store."""
    import torch.distributed as dist

    dist.init_process_group(
        "nccl" if device.type == CUDA else "gloo",
        store=store,
        rank=rank,
        world_size=world_size,
        timeout=dt.timedelta(seconds=TIMEOUT_S),
        **({"device_id": device} if device.type == CUDA else {}),
    )


def store_of(trial: TrialInfo, timeout_s: float = TIMEOUT_S) -> Any:
    """Return a trial's torch store; with one rank it is in memory. Raises ValueError where there is none."""
    import torch.distributed as dist

    if trial.world_size == 1:
        return dist.HashStore()
    if trial.store is None:
        raise ValueError("there are several ranks, but no store for them: MASTER_ADDR and MASTER_PORT")
    host, _, port = trial.store.rpartition(":")
    return dist.TCPStore(
        host,
        int(port),
        trial.world_size,
        is_master=trial.rank == 0,
        timeout=dt.timedelta(seconds=timeout_s),
    )


def leave() -> None:
    """Give the process group back, if there is one."""
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()
