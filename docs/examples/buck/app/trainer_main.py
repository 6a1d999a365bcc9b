"""A training program that first writes what it runs on: one snapshot a node."""

import os
import sys

import torch


def capture_environment() -> None:
    """Write a snapshot to AORTA_ENV_OUTPUT, from the first process of each node; ``{rank}`` is its rank.

    A snapshot that cannot be taken or written costs a line on standard error, never the job.
    """
    output = os.environ.get("AORTA_ENV_OUTPUT")
    rank = os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or "0"
    local_rank = os.environ.get("LOCAL_RANK") or os.environ.get("SLURM_LOCALID") or "0"
    if not output or local_rank != "0":
        return
    try:
        from aorta.instrumentation import capture_to

        capture_to(output.replace("{rank}", rank))
    except Exception as error:
        sys.stderr.write(f"warning: no snapshot of the environment: {type(error).__name__}: {error}\n")


def train() -> int:
    """Your program; what it returns is the exit status."""
    weights = torch.ones(4, requires_grad=True)
    (weights * weights).sum().backward()
    return 0 if weights.grad is not None and bool(weights.grad.isfinite().all()) else 1


def main() -> int:
    """Capture first: what the program changes in its environment later is not the question."""
    capture_environment()
    return train()


if __name__ == "__main__":
    sys.exit(main())
