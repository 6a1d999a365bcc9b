"""``WorkloadRunner``: executes a workload's trials, in this process or in interpreters of their own."""

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aorta.model.frozen import evolve
from aorta.sweep.command.ending import GRACE_S
from aorta.sweep.outcome import ERROR, Outcome
from aorta.sweep.planning.plan import Plan
from aorta.sweep.spec import TrialSpec
from aorta.workloads.discovery import located
from aorta.workloads.import_time import Seen
from aorta.workloads.protocol import PROCESS, AgentStore, TrialInfo

if TYPE_CHECKING:
    from aorta.sweep.workload.apart import Apart


class WorkloadRunner:
    """Executes trials of a plan's workload. Raises UnknownWorkloadError where it cannot be had.

    ``in_process`` of several ranks is one interpreter a rank for all its trials, and not this process: a rank
    that waits in a library for one that is lost could not be ended here.
    """

    def __init__(self, plan: Plan, *, grace_s: float = GRACE_S) -> None:
        self._plan = plan
        self._grace_s = grace_s
        self._found = located(plan.workload)
        self._class = self._found.load()
        self._apart: Apart | None = None
        self._seen = Seen()
        self._seen.note(os.environ)

    def close(self) -> None:
        """End an interpreter that is there for more trials."""
        if self._apart is not None:
            self._apart.close()

    def execute(
        self,
        spec: TrialSpec,
        *,
        over: Callable[[], bool] | None = None,
        agent: AgentStore | None = None,
    ) -> Outcome:
        """Run one trial and return what became of it; a signal to aorta ends it and is raised again.

        Of several ranks ``over`` is asked now and then whether it is to be ended, and ``agent`` is the store
        that torchrun's agent serves.
        """
        from aorta.sweep.workload import verdict
        from aorta.workloads.config import ConfigError, make_config

        info = evolve(_info(spec), agent_store=agent)
        try:
            os.makedirs(spec.files.folder, exist_ok=True)
            config = make_config(self._class, spec.cell.workload_config, spec.cell.steps)
            if self._plan.isolation == PROCESS or over is not None:
                return self._elsewhere().execute(spec, info, over)
            return self._here(spec, config, info)
        except ConfigError as error:
            return verdict.not_started(str(error))
        except OSError as error:
            told = f"{error.strerror}: {error.filename}" if error.filename else str(error)
            return verdict.not_started(f"the trial could not be started: {told}")
        finally:
            # What is empty tells nothing.
            with contextlib.suppress(OSError):
                os.rmdir(spec.files.folder)

    def _elsewhere(self) -> "Apart":
        from aorta.sweep.workload.apart import Apart

        if self._apart is None:
            lasts = self._plan.isolation != PROCESS
            self._apart = Apart(self._found.target, self._plan.recipe.timeout_s, self._grace_s, lasts=lasts)
        return self._apart

    def _here(self, spec: TrialSpec, config: Any, info: TrialInfo) -> Outcome:
        from aorta.sweep.workload.in_process import TrialTimeout, run_here
        from aorta.sweep.workload.verdict import outcome_of

        limit = self._plan.recipe.timeout_s
        logs = (spec.files.stdout, spec.files.stderr) if self._plan.recipe.save_logs else None
        late = self._seen.late(spec.environ)
        report = run_here(self._class, config, info, spec.environ, timeout_s=limit, logs=logs)
        self._seen.note(spec.environ)
        outcome = evolve(outcome_of(report, spec.cell.steps), env_late=late)
        if report.raised is not None and report.raised.type == TrialTimeout.__name__:
            reason = f"{report.raised.text} in {report.raised.phase}"
            return evolve(outcome, verdict=ERROR, reason=reason, timed_out=True)
        return outcome


def _info(spec: TrialSpec) -> TrialInfo:
    cell, environ = spec.cell, spec.environ
    ranks = _number(environ, "WORLD_SIZE", 1)
    address, port = environ.get("MASTER_ADDR"), environ.get("MASTER_PORT")
    return TrialInfo(
        cell=cell.name,
        trial=spec.trial,
        steps=cell.steps,
        rank=_number(environ, "RANK", 0),
        world_size=ranks,
        local_rank=_number(environ, "LOCAL_RANK", 0),
        artifact_dir=spec.files.folder,
        store=f"{address}:{port}" if ranks > 1 and address and port else None,
        image=cell.environment.docker,
        variables=dict(spec.overlay),
    )


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default
