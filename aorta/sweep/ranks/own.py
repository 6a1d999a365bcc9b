"""``OwnRank``: runs this process's rank of a trial, the same way on rank 0 and on all others."""

import time
from collections.abc import Callable, Mapping

from aorta.launch.identity import Identity
from aorta.model.frozen import evolve
from aorta.sweep.outcome import ABORTED, PASS, TIMED_OUT
from aorta.sweep.planning.plan import Plan
from aorta.sweep.ranks.ends import RankEnd, is_waiting
from aorta.sweep.ranks.hello import Hello
from aorta.sweep.ranks.local import end_of_log
from aorta.sweep.spec import TrialSpec
from aorta.sweep.variables import ARTIFACTS, RANK
from aorta.sweep.workload.trial import WorkloadRunner
from aorta.workloads.protocol import AgentStore

#: A worker that is to end has this many seconds: the others wait for it.
GRACE_S = 1.5


class OwnRank:
    """A rank; ``place`` is what the ranks agreed on of it."""

    def __init__(self, plan: Plan, identity: Identity, place: Hello) -> None:
        self._identity = identity
        self._place = place
        self._runner = WorkloadRunner(plan, grace_s=GRACE_S)

    def execute(self, spec: TrialSpec, *, port: int, generation: str, over: Callable[[], bool]) -> RankEnd:
        """Run the trial and return how it ended here; ``over`` tells that it is to be ended."""
        began = time.monotonic()
        own = spec.files.of_rank(self._place.rank)
        variables = {**self._environ(spec.environ, port), ARTIFACTS: own.folder}
        outcome = self._runner.execute(
            evolve(spec, files=own, environ=variables), over=over, agent=self._agent(generation)
        )
        return RankEnd(
            rank=self._place.rank,
            host=self._place.host,
            local_rank=self._place.local_rank,
            outcome=outcome,
            waits=outcome.end in (TIMED_OUT, ABORTED) and is_waiting(outcome.traceback or ""),
            log="" if outcome.verdict == PASS else end_of_log(own),
            # What it raised was there before its cleanup had ended.
            after_s=(time.monotonic() if outcome.raised_at is None else outcome.raised_at) - began,
        )

    def close(self) -> None:
        """End what was kept for more trials."""
        self._runner.close()

    def _environ(self, environ: Mapping[str, str], port: int) -> dict[str, str]:
        """Return the variables of a launcher for this trial, whose ranks meet at a port of their own."""
        place = self._place
        told = {
            RANK: place.rank,
            "RANK": place.rank,
            "WORLD_SIZE": place.size,
            "LOCAL_RANK": place.local_rank,
            "LOCAL_WORLD_SIZE": place.local_size,
            "MASTER_ADDR": self._identity.address,
            "MASTER_PORT": port,
        }
        made = {**environ, **{name: str(value) for name, value in told.items()}}
        # What a worker's torch wrote there, the agent would take for the end of this process.
        made.pop("TORCHELASTIC_ERROR_FILE", None)
        if "TORCHELASTIC_USE_AGENT_STORE" in made:
            # Else every rank would wait for a server at the trial's port, and none would be one.
            made["TORCHELASTIC_USE_AGENT_STORE"] = "False"
        return made

    def _agent(self, generation: str) -> AgentStore | None:
        identity = self._identity
        if not identity.agent_store:
            return None
        prefix = f"aorta/{identity.job}/{generation}"
        return AgentStore(host=str(identity.address), port=int(identity.port or 0), prefix=prefix)
