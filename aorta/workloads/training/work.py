"""``Training``: steps of a real training loop, each timed and looked at for numbers that are none."""

import contextlib
import math
import time
from typing import Any

from aorta.workloads.protocol import (
    DISTRIBUTED,
    ISOLATIONS,
    PROCESS,
    RANK_LOCAL,
    Workload,
    WorkloadResult,
)
from aorta.workloads.training.config import TrainingConfig


class Training(Workload):
    """Train a small model under DDP or FSDP2, on GPUs or CPUs, and watch loss and gradients."""

    launch_mode = DISTRIBUTED
    trial_isolation_default = PROCESS
    trial_isolation_supported = frozenset(ISOLATIONS)
    distributed_result_scope = RANK_LOCAL
    requires = ("torch",)
    config_type = TrainingConfig

    def setup(self) -> None:
        """Join the process group, and make the model and the data."""
        import torch

        from aorta.workloads import group
        from aorta.workloads.training.model import model_of, spread

        config, trial = self.config, self.trial
        self.device = group.device_of(config.device, trial)
        group.join(trial.rank, trial.world_size, group.store_of(trial), self.device)
        # The weights are the same on all ranks, the data are not.
        torch.manual_seed(config.seed)
        self.model = spread(model_of(config.model, self.device), config, self.device, trial.world_size)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.learning_rate)
        source = torch.Generator().manual_seed(config.seed + 1 + trial.rank)
        shape = (config.batch_size, config.seq_len + 1)
        tokens = torch.randint(config.model.vocab_size, shape, generator=source).to(self.device)
        self.given, self.wanted = tokens[:, :-1], tokens[:, 1:]

    def run(self) -> WorkloadResult:
        """Train."""
        begun = time.perf_counter()
        times: list[float] = []
        losses: list[float] = []
        failures: list[dict[str, Any]] = []
        total = self.config.warmup_steps + self.config.steps
        for number in range(total):
            start = time.perf_counter()
            loss, found = self._step()
            times.append((time.perf_counter() - start) * 1000)
            losses.append(loss)
            stop, source = self._told(bool(found), math.isfinite(loss))
            failures += [self._failure(what, number, source) for what in found]
            if stop:
                break
        return WorkloadResult(
            passed=not failures,
            failure_count=len(failures),
            first_failure_iteration=failures[0]["iteration"] if failures else None,
            failure_details=tuple(failures),
            total_iterations=len(times),
            step_times_ms=tuple(times[self.config.warmup_steps :]),
            elapsed_sec=time.perf_counter() - begun,
            metrics={
                "parallelism": self.config.parallelism,
                "device": str(self.device),
                "world_size": self.trial.world_size,
                "first_loss": losses[0],
                "last_loss": losses[-1],
            },
            main_work_started=True,
            executed_iterations=len(times),
            configured_iterations=total,
        )

    def cleanup(self) -> None:
        """Leave the process group."""
        from aorta.workloads import group

        self.model = self.optimizer = None
        group.leave()

    def _step(self) -> tuple[float, list[str]]:
        """Do one step; return the loss and what is wrong."""
        import torch

        checks = self.config.checks
        self.optimizer.zero_grad()
        with self._precision():
            made = self.model(self.given)
            loss = torch.nn.functional.cross_entropy(made.float().flatten(0, 1), self.wanted.flatten())
        loss.backward()
        bad = torch.stack(
            [
                ~torch.isfinite(loss.detach()),
                ~torch.isfinite(self._norm()),
                ~torch.isfinite(made.detach()).all(),
            ]
        ).cpu()
        self.optimizer.step()
        value = float(loss.item())
        asked = (checks.fail_on_nan_loss, checks.fail_on_nan_grad, checks.fail_on_nonfinite_output)
        names = ("loss", "gradient", "output")
        return value, [
            name
            for name, is_asked, is_bad in zip(names, asked, bad.tolist(), strict=True)
            if is_asked and is_bad
        ]

    def _norm(self) -> Any:
        """Return the norm of this rank's part of the gradients."""
        import torch

        parts = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        local = [part.to_local() if hasattr(part, "to_local") else part for part in parts]
        return torch.stack([part.float().norm() for part in local]).norm()

    def _precision(self) -> Any:
        import torch

        if self.config.dtype == "bfloat16" and self.config.parallelism == "ddp":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return contextlib.nullcontext()

    def _told(self, found: bool, is_finite: bool) -> tuple[bool, int | None]:
        """Return whether any rank found something, so that all stop, and the first with no finite loss."""
        import torch
        import torch.distributed as dist

        nobody = self.trial.world_size
        own = torch.tensor([int(not found), nobody if is_finite else self.trial.rank], device=self.device)
        dist.all_reduce(own, op=dist.ReduceOp.MIN)
        clean, first = own.tolist()
        return not clean, first if first < nobody else None

    def _failure(self, what: str, number: int, source: int | None) -> dict[str, Any]:
        """Return a failure; ``source`` is the rank whose loss is not finite, which gradients bring to all."""
        rank = self.trial.rank
        more = f", nor the loss on rank {source}" if what == "gradient" and source not in (None, rank) else ""
        return {
            "type": f"nonfinite_{what}",
            "iteration": number,
            "rank": rank,
            "hint": f"the {what} is not finite on rank {rank} in iteration {number}{more}",
        }
