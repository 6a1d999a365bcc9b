"""``Race``: warm up, then check every value of every iteration, and tell rank, layer and iteration."""

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from aorta.workloads.protocol import DISTRIBUTED, PROCESS, RANK_LOCAL, Workload, WorkloadResult
from aorta.workloads.race.config import RaceConfig, check_inject, sizes
from aorta.workloads.race.values import DIVERGENCE, LAYER_CHECKSUM

if TYPE_CHECKING:
    from aorta.workloads.race.modes import Evidence

#: The most corruptions that are told one by one.
DETAILS = 256


class Race(Workload):
    """Find corruption by races of communication and computation: every value is known and checked exactly."""

    launch_mode = DISTRIBUTED
    # One rank alone communicates with nobody: that it found nothing would mean nothing.
    min_world_size = 2
    trial_isolation_default = PROCESS
    trial_isolation_required = True
    trial_isolation_supported = frozenset({PROCESS})
    distributed_result_scope = RANK_LOCAL
    requires = ("torch",)
    config_type = RaceConfig

    def setup(self) -> None:
        """Join the process group, and make the buffers."""
        queues = self.config.gpu_max_hw_queues
        if queues is not None:
            # Read by the runtime when it starts, which is later than this.
            os.environ.setdefault("GPU_MAX_HW_QUEUES", str(queues))
        self._tell_topology()
        import torch

        from aorta.workloads import group
        from aorta.workloads.race.config import dtype_of
        from aorta.workloads.race.modes import mode_of
        from aorta.workloads.race.values import values_of

        if self.config.deterministic:
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            torch.use_deterministic_algorithms(mode=True)
        # Sums of products are exact only where nothing is added up in half precision.
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        trial = self.trial
        values = values_of(trial.world_size, str(dtype_of(self.config)).removeprefix("torch."))
        self.device = group.device_of(self.config.device, trial)
        self.sizes = sizes(self.config, gpu=self.device.type == group.CUDA)
        check_inject(self.config, ranks=trial.world_size, iterations=self.sizes.verify)
        group.join(trial.rank, trial.world_size, group.store_of(trial), self.device)
        self.mode = mode_of(self.config, self.sizes, values, trial.rank, self.device)

    def _tell_topology(self) -> None:
        """Say in the log where a node has other ranks than the recipe is made for."""
        if self._fits() is False:
            wanted, local = self.config.expected_local_world_size, os.environ["LOCAL_WORLD_SIZE"]
            told = f"expected_local_world_size is {wanted}, and this node has LOCAL_WORLD_SIZE={local}"
            sys.stdout.write(f"rank {self.trial.rank}: {told}\n")
            sys.stdout.flush()

    def _fits(self) -> bool | None:
        """Tell whether a node has as many ranks as the recipe is made for; None where that is not known."""
        local = os.environ.get("LOCAL_WORLD_SIZE")
        wanted = self.config.expected_local_world_size
        return None if wanted is None or not local else str(wanted) == local

    def run(self) -> WorkloadResult:
        """Do all iterations."""
        begun = time.perf_counter()
        total = self.sizes.warmup + self.sizes.verify
        self._mismatches = 0
        times: list[float] = []
        failures: list[dict[str, Any]] = []
        count = done = 0
        for number in range(total):
            iteration = number - self.sizes.warmup
            start = time.perf_counter()
            self.mode.step(number, self._planted(iteration))
            times.append((time.perf_counter() - start) * 1000)
            done += 1
            if iteration >= 0:
                found = self._found(iteration)
                count += len(found)
                self._mismatches += sum(one["type"].startswith(LAYER_CHECKSUM) for one in found)
                failures += self._printed(found[: DETAILS - len(failures)])
                if self.config.stop_on_first_corruption and self._any(bool(found)):
                    break
            self._log(number, total, count)
        return self._result(times, failures, count, done, total, time.perf_counter() - begun)

    def cleanup(self) -> None:
        """Leave the process group."""
        from aorta.workloads import group

        group.leave()

    def _planted(self, iteration: int) -> int | None:
        planted = self.config.inject
        if planted is None or (planted.rank, planted.iteration) != (self.trial.rank, iteration):
            return None
        layer: int = planted.layer
        return layer

    def _found(self, iteration: int) -> list[dict[str, Any]]:
        """Return what is wrong in an iteration: one copy from the device for all evidence."""
        import torch

        evidence = self.mode.evidence
        found = torch.stack([one.found for one in evidence]).cpu().tolist()
        return [
            self._detail(one, iteration, *told) for one, told in zip(evidence, found, strict=True) if told[0]
        ]

    def _detail(
        self, one: "Evidence", iteration: int, wrong: int, first: int, checksum: int
    ) -> dict[str, Any]:
        where = f"on rank {self.trial.rank}, layer {one.layer}, iteration {iteration}"
        what = f"{wrong} wrong values" if wrong > 1 else "1 wrong value"
        detail = {
            "type": one.kind,
            "rank": self.trial.rank,
            "layer": one.layer,
            "iteration": iteration,
            "wrong_values": wrong,
            "first_place": first,
            "checksum": checksum,
        }
        if one.expected is not None:
            detail["expected_checksum"] = one.expected
            what = f"{checksum} instead of {one.expected}"
        elif one.kind == DIVERGENCE:
            what = "other weights than the other ranks'"
        return {**detail, "hint": f"{one.kind}: {what} {where}"}

    def _printed(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Print what was found at once: the process may not live to return it."""
        sys.stdout.write("".join(f"{one['hint']}\n" for one in found))
        sys.stdout.flush()
        return found

    def _any(self, found: bool) -> bool:
        """Tell whether any rank has found something, so that all stop together."""
        import torch
        import torch.distributed as dist

        flag = torch.tensor([int(found)], device=self.device)
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        return bool(flag.item())

    def _log(self, number: int, total: int, count: int) -> None:
        every = self.config.log_interval
        if every and (number + 1) % every == 0:
            told = f"rank {self.trial.rank}: iteration {number + 1} of {total}, {count} corruptions\n"
            sys.stdout.write(told)
            sys.stdout.flush()

    def _result(
        self,
        times: list[float],
        failures: list[dict[str, Any]],
        count: int,
        done: int,
        total: int,
        elapsed: float,
    ) -> WorkloadResult:
        local = os.environ.get("LOCAL_WORLD_SIZE")
        return WorkloadResult(
            passed=count == 0,
            failure_count=count,
            first_failure_iteration=failures[0]["iteration"] if failures else None,
            failure_details=tuple(failures),
            total_iterations=done,
            step_times_ms=tuple(times[self.sizes.warmup :]),
            elapsed_sec=elapsed,
            metrics={
                "mode": self.config.mode,
                "device": str(self.device),
                "rank": self.trial.rank,
                "world_size": self.trial.world_size,
                "local_world_size": int(local) if local and local.isdigit() else None,
                "topology_matches_recipe": self._fits(),
                "layers_verified": self.mode.layers,
                "compute_reference": self.mode.compute.reference,
                "reduce_scatter_oracle_dtype": "float32",
                "effective_h2d_tensor_size": self.sizes.h2d,
                "declared_h2d_tensor_size": self.config.h2d_tensor_size,
                "layer_checksum_mismatches": self._mismatches,
                "corruption_details_omitted": count - len(failures),
                "gpu_max_hw_queues": os.environ.get("GPU_MAX_HW_QUEUES"),
            },
            main_work_started=done > 0,
            executed_iterations=done,
            configured_iterations=total,
        )
