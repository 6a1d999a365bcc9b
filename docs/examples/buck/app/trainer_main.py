"""A training program that first writes what it runs on: one snapshot a node."""

import os
import sys

import torch


def capture_environment() -> None:
    """Write a snapshot where AORTA_ENV_OUTPUT says, from the first process of each node; ``{rank}`` is RANK.

    AORTA_PROBE_INVOCATION (buck2_run, buck2_action) is read by aorta itself. A snapshot that cannot be taken
    or written costs a line on standard error, never the job.
    """
    output = os.environ.get("AORTA_ENV_OUTPUT")
    if not output or (os.environ.get("LOCAL_RANK") or "0") != "0":
        return
    try:
        from aorta.instrumentation import capture_to

        capture_to(output.replace("{rank}", os.environ.get("RANK") or "0"))
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
