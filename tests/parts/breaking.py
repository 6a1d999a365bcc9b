"""A workload whose ranks end in odder ways. Nothing of the tests but its base is imported here."""

import threading
import time

import attrs

from aorta.workloads import WorkloadResult
from tests.parts.losing import Losing

#: The characters of metrics that no record is to hold.
MUCH = 20 << 20


class Breaking(Losing):
    """Its ``way`` may be ``lingers``, ``much``, ``cleanup-raises``, ``asserts``,
    ``leaves``, ``slow-to-clean`` or ``found-then-hangs`` too.
    """

    def join(self):
        """Find the others, if there are any."""
        if self.trial.world_size > 1:
            super().join()

    def meet(self):
        """Wait for the others, if there are any."""
        if self.trial.world_size > 1:
            super().meet()

    def run(self):
        """End oddly, or as the base does."""
        if self.is_planted("lingers"):
            return self.run_lingering()
        if self.is_lost_in("asserts"):
            raise AssertionError("the sum is wrong")
        if self.is_lost_in("leaves"):
            return WorkloadResult(passed=True, executed_iterations=1, configured_iterations=4)
        if self.is_lost_in("found-then-hangs"):
            self.meet()
            details = ({"hint": "a wrong sum in layer 3"},)
            return WorkloadResult(
                passed=False, failure_count=1, failure_details=details, executed_iterations=1
            )
        if self.is_planted("slow-to-clean"):
            return self.run_raising()
        result = super().run()
        return attrs.evolve(result, metrics={"text": "x" * MUCH}) if self.is_lost_in("much") else result

    def run_lingering(self):
        """One raises; the last answers a little later, and has a thread that keeps its process."""
        self.meet()
        if self.is_lost_in("lingers"):
            raise RuntimeError("planted in run")
        if self.trial.rank == self.trial.world_size - 1:
            time.sleep(1.5)
            threading.Thread(target=time.sleep, args=(1000,)).start()
        else:
            self.meet()
        return WorkloadResult(passed=True, executed_iterations=1)

    def run_raising(self):
        """All raise, the planted one first."""
        self.meet()
        time.sleep(0.0 if self.is_lost_in("slow-to-clean") else 0.6)
        raise ValueError(f"planted in rank {self.trial.rank}")

    def cleanup(self):
        """Raise where others wait for this rank, or leave them."""
        if self.is_lost_in("cleanup-raises"):
            raise OSError("planted in cleanup")
        if self.is_lost_in("slow-to-clean"):
            time.sleep(2)
        if self.is_lost_in("found-then-hangs"):
            time.sleep(1000)
        super().cleanup()
