"""The process group of a trial, in torch: one rank has it to itself, several meet at a store."""

import datetime as dt
from typing import Any

from aorta.workloads.protocol import AgentStore, TrialInfo
from aorta.workloads.tcp_store import address_of

AUTO, CPU, CUDA = DEVICES = ("auto", "cpu", "cuda")

#: Seconds that a collective may take: what blocks for longer is lost.
TIMEOUT_S = 300.0


def device_of(wish: str, trial: TrialInfo) -> Any:
    """Return the torch device of a rank, a GPU or the CPU. Raises RuntimeError where no GPU is to be had."""
    import torch

    if wish == CPU or (wish == AUTO and not torch.cuda.is_available()):
        return torch.device(CPU)
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = device_index(count, trial.local_rank)
    torch.cuda.set_device(index)
    return torch.device(CUDA, index)


def device_index(count: int, local_rank: int) -> int:
    """Return which of ``count`` visible GPUs is a rank's. Raises RuntimeError where there is none for it.

    A launcher may show each rank one GPU of its own; else all ranks of a node see all of its GPUs.
    """
    if count == 0:
        raise RuntimeError("device cuda: torch sees no GPU here")
    index = 0 if count == 1 else local_rank
    if index >= count:
        raise RuntimeError(
            f"local rank {local_rank} has no GPU: torch sees {count}; start no more ranks on a node than it"
            " has GPUs"
        )
    return index


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
    """Return a trial's torch store: in memory for one rank, else the agent's, else one that rank 0 serves.

    Under torchrun all trials use the one store of its agent, each with a prefix of its own, so that none
    reads what an earlier one left. Raises ValueError where there is no place for a store.
    """
    import torch.distributed as dist

    if trial.world_size == 1:
        return dist.HashStore()
    if trial.agent_store is not None:
        return agent_store(trial.agent_store, timeout_s)
    host, port = address_of(trial.store)
    return dist.TCPStore(
        host,
        port,
        trial.world_size,
        is_master=trial.rank == 0,
        timeout=dt.timedelta(seconds=timeout_s),
    )


def agent_store(agent: AgentStore, timeout_s: float = TIMEOUT_S) -> Any:
    """Return the store of torchrun's agent, as one trial sees it."""
    import torch.distributed as dist

    wait = dt.timedelta(seconds=timeout_s)
    whole = dist.TCPStore(agent.host, agent.port, is_master=False, timeout=wait, wait_for_workers=False)
    return dist.PrefixStore(agent.prefix, whole)


def leave() -> None:
    """Give the process group back, if there is one."""
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()
