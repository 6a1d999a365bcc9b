"""Workloads whose ranks are lost on purpose, in torch and without it. Nothing of the tests is imported here."""

import ctypes
import datetime as dt
import os
import signal
import sys
import threading
import time

import attrs

from aorta.workloads import Workload, WorkloadResult
from aorta.workloads.tcp_store import Client, Server

#: What a rank prints before it is lost, to be looked for in the record.
WORDS = "this rank is to be lost"


@attrs.frozen(kw_only=True)
class LosingConfig:
    """``rank`` is lost in a ``way``, in the trial ``only`` or in all; ``fails`` reports a failure.

    ``wait_s`` is how long a rank waits for others; ``pause_ms`` how long the work takes by itself.
    """

    steps: int = 1
    way: str = "none"
    rank: int = 1
    only: int | None = None
    fails: int | None = None
    wait_s: float = 60.0
    pause_ms: float = 0.0


class Losing(Workload):
    """Without torch: ranks meet at a TCP store that rank 0 serves."""

    launch_mode = "distributed"
    trial_isolation_default = "process"
    trial_isolation_supported = frozenset({"process"})
    distributed_result_scope = "rank_local"
    config_type = LosingConfig

    def setup(self):
        """Find the others."""
        self.met = 0
        if self.is_lost_in("setup"):
            raise RuntimeError("planted in setup")
        self.join()

    def run(self):
        """Meet, be lost, meet again."""
        config, number = self.config, self.trial.rank
        self.meet()
        time.sleep(config.pause_ms / 1000)
        for way in ("crash", "exception", "hang", "kill", "exit", "abort"):
            if self.is_lost_in(way):
                lose(way)
        if self.is_lost_in("blocked"):
            # By then the others wait for it.
            time.sleep(1.0)
            lose("kill")
        if self.is_lost_in("collective"):
            threading.Timer(1.0, lose, ("kill",)).start()
        elif self.is_planted("collective"):
            # So that the other one waits in there.
            time.sleep(4.0)
        if number == config.fails:
            return WorkloadResult(
                passed=False,
                failure_count=1,
                failure_details=({"hint": f"found by rank {number}"},),
                executed_iterations=1,
            )
        self.meet()
        return WorkloadResult(
            passed=True, executed_iterations=config.steps, metrics={"rank": number}, step_times_ms=(1.0,)
        )

    def cleanup(self):
        """Leave the others."""
        if self.is_lost_in("cleanup"):
            lose("kill")
        self.leave()

    def is_planted(self, way):
        """Tell whether some rank is lost in this way in this trial."""
        return self.config.way == way and self.config.only in (None, self.trial.trial)

    def is_lost_in(self, way):
        """Tell whether it is this one; it says so then."""
        is_it = self.is_planted(way) and self.trial.rank == self.config.rank
        if is_it:
            print(f"{WORDS}: {way}", file=sys.stderr, flush=True)
        return is_it

    def join(self):
        """Find the others at the trial's store."""
        self.server = None
        host, _, port = str(self.trial.store).rpartition(":")
        if self.trial.rank == 0:
            self.server = Server("", int(port))
        self.store = Client("127.0.0.1" if self.trial.rank == 0 else host, int(port), self.config.wait_s)

    def meet(self):
        """Wait for all others."""
        self.met += 1
        self.store.set(f"{self.met}/{self.trial.rank}", "")
        for rank in range(self.trial.world_size):
            self.store.get(f"{self.met}/{rank}")

    def leave(self):
        """Give the store back; rank 0 waits until nobody needs it."""
        if not hasattr(self, "store"):
            return
        if self.met == 2:
            self.store.set(f"left/{self.trial.rank}", "")
            if self.server is not None:
                for rank in range(self.trial.world_size):
                    self.store.get(f"left/{rank}")
        self.store.close()
        if self.server is not None:
            self.server.close()


class LosingTorch(Losing):
    """In torch: ranks meet in collectives of gloo."""

    requires = ("torch",)

    def join(self):
        """Make the process group."""
        import torch.distributed as dist

        from aorta.workloads import group

        store = group.store_of(self.trial, self.config.wait_s)
        dist.init_process_group(
            "gloo",
            store=store,
            rank=self.trial.rank,
            world_size=self.trial.world_size,
            timeout=dt.timedelta(seconds=self.config.wait_s),
        )

    def meet(self):
        """Add up a tensor of all."""
        import torch
        import torch.distributed as dist

        self.met += 1
        value = torch.ones(4)
        dist.all_reduce(value)
        assert value.tolist() == [float(self.trial.world_size)] * 4

    def leave(self):
        """Give the process group back."""
        import torch.distributed as dist

        if dist.is_initialized():
            dist.destroy_process_group()


class GlobalLosing(Losing):
    """The ranks have one result in common."""

    distributed_result_scope = "global"


def lose(way):
    """End this process, or go no further."""
    if way == "crash":
        ctypes.string_at(1)
    elif way == "exception":
        raise RuntimeError("planted in run")
    elif way == "hang":
        time.sleep(1000)
    elif way == "exit":
        os._exit(0)
    else:
        os.kill(os.getpid(), {"kill": signal.SIGKILL, "abort": signal.SIGABRT}[way])
        time.sleep(1000)
