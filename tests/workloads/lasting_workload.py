"""A workload of several ranks that meet without torch, and of which one may be lost. Nothing of tests is imported."""

import ctypes
import os
import time

from aorta.workloads import Workload, WorkloadResult
from aorta.workloads.tcp_store import Client, Server

#: How many trials this process has done.
DONE = []


class Meeting(Workload):
    """Ranks add up what each puts into the trial's store; ``way`` is how rank ``rank`` is lost in trial ``only``."""

    launch_mode = "distributed"
    trial_isolation_supported = frozenset({"in_process", "process"})
    distributed_result_scope = "rank_local"

    def setup(self):
        DONE.append(self.trial.trial)
        self.server = None
        host, _, port = self.trial.store.rpartition(":")
        if self.trial.rank == 0:
            self.server = Server("127.0.0.1", int(port))
        self.store = Client(host, int(port), 30.0)

    def run(self):
        ranks = range(self.trial.world_size)
        self.meet("first", "", ranks)
        if (self.trial.rank, self.trial.trial) == (self.config.get("rank", 1), self.config.get("only", 0)):
            self.be_lost(self.config.get("way"))
        found = self.meet("sum", f"{self.trial.cell}/{self.trial.trial}", ranks)
        self.meet("last", "", ranks)
        right = [f"{self.trial.cell}/{self.trial.trial}"] * len(ranks)
        return WorkloadResult(
            passed=found == right,
            metrics={"found": found, "pid": os.getpid(), "parent": os.getppid(), "done": len(DONE)},
        )

    def meet(self, key, value, ranks):
        self.store.set(f"{key}/{self.trial.rank}", value)
        return [self.store.get(f"{key}/{rank}") for rank in ranks]

    def be_lost(self, way):
        if way == "raise":
            raise RuntimeError("planted")
        if way == "crash":
            ctypes.string_at(0)
        if way == "exit":
            os._exit(0)
        if way == "hang":
            time.sleep(600)
        if way == "blocks":
            library, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(64)
            library.pthread_mutex_lock(lock)
            library.pthread_mutex_lock(lock)

    def cleanup(self):
        if hasattr(self, "store"):
            self.store.close()
        if getattr(self, "server", None) is not None:
            self.server.close()
