"""``WorkloadRunner``: executes a workload's trials, in this process or in interpreters of their own."""

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aorta.model.frozen import evolve
from aorta.sweep.command.ending import GRACE_S
from aorta.sweep.files import TrialFiles
from aorta.sweep.outcome import ERROR, Outcome
from aorta.sweep.planning.plan import Plan, PlannedCell
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
        cell: PlannedCell,
        trial: int,
        files: TrialFiles,
        environ: Mapping[str, str],
        overlay: Mapping[str, str | None] | None = None,
        *,
        over: Callable[[], bool] | None = None,
        agent: AgentStore | None = None,
    ) -> Outcome:
        """Run one trial and return what became of it; a signal to aorta ends it and is raised again.

        ``environ`` is all that the trial gets; ``overlay`` is what of it the cell changed, for workloads
        that start containers. Of several ranks ``over`` is asked now and then whether it is to be ended, and
        ``agent`` is the store that torchrun's agent serves.
        """
        from aorta.sweep.workload import verdict
        from aorta.workloads.config import ConfigError, make_config

        info = evolve(_info(cell, trial, files, environ, overlay or {}), agent_store=agent)
        try:
            os.makedirs(files.folder, exist_ok=True)
            config = make_config(self._class, cell.workload_config, cell.steps)
            if self._plan.isolation == PROCESS or over is not None:
                return self._elsewhere().execute(cell, info, files, environ, over)
            return self._here(cell, config, info, files, environ)
        except ConfigError as error:
            return verdict.not_started(str(error))
        except OSError as error:
            told = f"{error.strerror}: {error.filename}" if error.filename else str(error)
            return verdict.not_started(f"the trial could not be started: {told}")
        finally:
            # What is empty tells nothing.
            with contextlib.suppress(OSError):
                os.rmdir(files.folder)

    def _elsewhere(self) -> "Apart":
        from aorta.sweep.workload.apart import Apart

        if self._apart is None:
            lasts = self._plan.isolation != PROCESS
            self._apart = Apart(self._found.target, self._plan.recipe.timeout_s, self._grace_s, lasts=lasts)
        return self._apart

    def _here(
        self, cell: PlannedCell, config: Any, info: TrialInfo, files: TrialFiles, environ: Mapping[str, str]
    ) -> Outcome:
        from aorta.sweep.workload.in_process import TrialTimeout, run_here
        from aorta.sweep.workload.verdict import outcome_of

        limit = self._plan.recipe.timeout_s
        logs = (files.stdout, files.stderr) if self._plan.recipe.save_logs else None
        late = self._seen.late(environ)
        report = run_here(self._class, config, info, environ, timeout_s=limit, logs=logs)
        self._seen.note(environ)
        outcome = evolve(outcome_of(report, cell.steps), env_late=late)
        if report.raised is not None and report.raised.type == TrialTimeout.__name__:
            reason = f"{report.raised.text} in {report.raised.phase}"
            return evolve(outcome, verdict=ERROR, reason=reason, timed_out=True)
        return outcome


def _info(
    cell: PlannedCell,
    trial: int,
    files: TrialFiles,
    environ: Mapping[str, str],
    overlay: Mapping[str, str | None],
) -> TrialInfo:
    ranks = _number(environ, "WORLD_SIZE", 1)
    address, port = environ.get("MASTER_ADDR"), environ.get("MASTER_PORT")
    return TrialInfo(
        cell=cell.name,
        trial=trial,
        steps=cell.steps,
        rank=_number(environ, "RANK", 0),
        world_size=ranks,
        local_rank=_number(environ, "LOCAL_RANK", 0),
        artifact_dir=files.folder,
        store=f"{address}:{port}" if ranks > 1 and address and port else None,
        image=cell.environment.docker,
        variables=dict(overlay),
    )


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default
