"""``training``: a real training loop under DDP or FSDP2."""

from aorta.workloads.training.work import Training as Training
