"""``ranks``: a job's ranks exchange checked values over a TCP store; no torch, no GPU, any machine."""

import hashlib
import time
from typing import Any, Literal

import attrs

from aorta.model.text import count_of
from aorta.workloads.config import check_below, described
from aorta.workloads.protocol import (
    DISTRIBUTED,
    ISOLATIONS,
    PROCESS,
    RANK_LOCAL,
    Workload,
    WorkloadResult,
)
from aorta.workloads.stores import Alone, InAgent
from aorta.workloads.tcp_store import Client, Server, address_of


@attrs.frozen(kw_only=True)
class Inject:
    """Where a wrong value is planted: what this rank sends in this iteration."""

    rank: int
    iteration: int


@attrs.frozen(kw_only=True)
class RanksConfig:
    """The keys of ``workload_config``."""

    steps: int = described(1, "exchanges; the trial's steps")
    payload_bytes: int = described(1024, "size of what each rank sends in a step")
    pause_ms: float = described(0.0, "idle time in each step, in milliseconds")
    timeout_s: float = described(60.0, "longest wait for another rank, in seconds")
    store: Literal["tcp", "agent"] = described(
        "tcp", "tcp: rank 0 serves, without torch; agent: the store of torchrun's agent, through torch"
    )
    inject: Inject | None = attrs.field(
        default=None, metadata={"doc": "plant a wrong value, sent by this rank in this iteration"}
    )

    def __attrs_post_init__(self) -> None:
        """Refuse what makes no sense. Raises ValueError."""
        if self.payload_bytes < 1 or self.pause_ms < 0 or self.timeout_s <= 0:
            raise ValueError("payload_bytes is at least 1, pause_ms at least 0, timeout_s above 0")


class Ranks(Workload):
    """Exchange checked values between all ranks over TCP, without torch, to rehearse a job's launch."""

    launch_mode = DISTRIBUTED
    trial_isolation_default = PROCESS
    trial_isolation_supported = frozenset(ISOLATIONS)
    distributed_result_scope = RANK_LOCAL
    config_type = RanksConfig

    def _check_planted(self) -> None:
        planted, ranks, steps = self.config.inject, self.trial.world_size, self.config.steps
        if planted is None:
            return
        check_below("inject.rank", planted.rank, ranks, count_of(ranks, "rank"))
        check_below("inject.iteration", planted.iteration, steps, count_of(steps, "step"))

    def setup(self) -> None:
        """Reach the store; rank 0 serves it, unless torchrun's agent does."""
        self._server: Server | None = None
        self._store: Any = Alone(values={})
        self._check_planted()
        if self.trial.world_size == 1:
            return
        if self.config.store == "agent":
            self._store = InAgent(self.trial.agent_store, self.config.timeout_s)
            return
        host, port = address_of(self.trial.store)
        if self.trial.rank == 0:
            self._server = Server("", port)
        self._store = Client("127.0.0.1" if self.trial.rank == 0 else host, port, self.config.timeout_s)

    def run(self) -> WorkloadResult:
        """Send a known value in each step, and check what each rank sent."""
        begun = time.perf_counter()
        failures: list[dict[str, Any]] = []
        times = []
        for step in range(self.config.steps):
            start = time.perf_counter()
            self._send(step)
            failures += [
                self._failure(step, rank)
                for rank in range(self.trial.world_size)
                if not self._is_right(step, rank)
            ]
            if self.config.pause_ms:
                time.sleep(self.config.pause_ms / 1000)
            times.append((time.perf_counter() - start) * 1000)
        self._meet()
        return WorkloadResult(
            passed=not failures,
            failure_count=len(failures),
            first_failure_iteration=failures[0]["iteration"] if failures else None,
            failure_details=tuple(failures),
            total_iterations=self.config.steps,
            step_times_ms=tuple(times),
            elapsed_sec=time.perf_counter() - begun,
            metrics={
                "rank": self.trial.rank,
                "world_size": self.trial.world_size,
                "store": self.config.store,
            },
            main_work_started=True,
            executed_iterations=self.config.steps,
            configured_iterations=self.config.steps,
        )

    def cleanup(self) -> None:
        """Leave the store; rank 0 ends it."""
        if hasattr(self, "_store"):
            self._store.close()
        if getattr(self, "_server", None) is not None:
            self._server.close()  # type: ignore[union-attr]

    def _send(self, step: int) -> None:
        own, planted = self.trial.rank, self.config.inject
        wrong = planted is not None and (planted.rank, planted.iteration) == (own, step)
        value = self._payload(step + (1 if wrong else 0), own)
        # For each rank one of its own, which it takes out: the store does not grow.
        for rank in range(self.trial.world_size):
            self._store.set(f"{step}/{own}/{rank}", value)

    def _is_right(self, step: int, rank: int) -> bool:
        return bool(
            self._store.get(f"{step}/{rank}/{self.trial.rank}", last=True) == self._payload(step, rank)
        )

    def _payload(self, step: int, rank: int) -> str:
        block = hashlib.sha256(f"{self.trial.cell}/{self.trial.trial}/{step}/{rank}".encode()).hexdigest()
        size: int = self.config.payload_bytes
        return (block * (size // len(block) + 1))[:size]

    def _failure(self, step: int, rank: int) -> dict[str, Any]:
        return {
            "type": "exchange",
            "iteration": step,
            "rank": self.trial.rank,
            "from_rank": rank,
            "hint": f"rank {self.trial.rank} got a wrong value of rank {rank} in iteration {step}",
        }

    def _meet(self) -> None:
        """Wait for all ranks, so that the store outlives its last use."""
        own, ranks = self.trial.rank, range(1, self.trial.world_size)
        if own:
            self._store.set(f"done/{own}", "")
            return
        for rank in ranks:
            self._store.get(f"done/{rank}", last=True)
