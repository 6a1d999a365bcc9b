"""``WorkloadRunner``: executes a workload's trials, in this process or each in an interpreter of its own."""

import contextlib
import json
import os
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aorta.model.frozen import evolve
from aorta.sweep.command.ending import GRACE_S
from aorta.sweep.files import TrialFiles
from aorta.sweep.outcome import ERROR, Outcome
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.workloads.discovery import located
from aorta.workloads.protocol import PROCESS, AgentStore, TrialInfo

if TYPE_CHECKING:
    from aorta.sweep.workload.process import Ended

#: The most bytes of an answer, and of the end of a log that are looked at.
_ANSWER_BYTES, _LOG_BYTES = 64 << 20, 16 << 10
#: What a virtual environment need not have, since aorta's own serves: all of it is plain Python.
_SERVED = ("attr", "attrs", "typing_extensions")


class WorkloadRunner:
    """Executes trials of a plan's workload. Raises UnknownWorkloadError where it cannot be had."""

    def __init__(self, plan: Plan, *, grace_s: float = GRACE_S) -> None:
        self._plan = plan
        self._grace_s = grace_s
        self._found = located(plan.workload)
        self._class = self._found.load()

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
        that start containers. ``over`` is asked now and then whether it is to be ended. ``agent`` is the
        store that torchrun's agent serves.
        """
        from aorta.workloads.config import ConfigError, make_config

        info = evolve(_info(cell, trial, files, environ, overlay or {}), agent_store=agent)
        try:
            os.makedirs(files.folder, exist_ok=True)
            config = make_config(self._class, cell.workload_config, cell.steps)
            if self._plan.isolation == PROCESS:
                return self._in_process_of_its_own(cell, info, files, environ, over)
            return self._here(cell, config, info, files, environ)
        except ConfigError as error:
            return Outcome(verdict=ERROR, reason=str(error))
        except OSError as error:
            told = f"{error.strerror}: {error.filename}" if error.filename else str(error)
            return Outcome(verdict=ERROR, reason=f"the trial could not be started: {told}")
        finally:
            # What is empty tells nothing.
            with contextlib.suppress(OSError):
                os.rmdir(files.folder)

    def _here(
        self, cell: PlannedCell, config: Any, info: TrialInfo, files: TrialFiles, environ: Mapping[str, str]
    ) -> Outcome:
        from aorta.sweep.workload.in_process import TrialTimeout, run_here
        from aorta.sweep.workload.verdict import outcome_of

        limit = self._plan.recipe.timeout_s
        logs = (files.stdout, files.stderr) if self._plan.recipe.save_logs else None
        report = run_here(self._class, config, info, environ, timeout_s=limit, logs=logs)
        outcome = outcome_of(report, cell.steps)
        if report.raised is not None and report.raised.type == TrialTimeout.__name__:
            reason = f"{report.raised.text} in {report.raised.phase}"
            return evolve(outcome, verdict=ERROR, reason=reason, timed_out=True)
        return outcome

    def _in_process_of_its_own(
        self,
        cell: PlannedCell,
        info: TrialInfo,
        files: TrialFiles,
        environ: Mapping[str, str],
        over: Callable[[], bool] | None,
    ) -> Outcome:
        from aorta.sweep.command.running import CannotStartError
        from aorta.sweep.workload.process import Worker, ended

        python = _python(cell)
        if python is None:
            return Outcome(verdict=ERROR, reason="no Python interpreter can be started from this program")
        paths = {name: f"{files.stem}.{name}" for name in ("request.json", "response.json", "trace")}
        nonce = secrets.token_hex(16)
        request = {
            "nonce": nonce,
            "target": self._found.target,
            "config": cell.workload_config,
            "trial": _as_mapping(info),
            "response": paths["response.json"],
            "trace": paths["trace"],
            "parent": os.getpid() if threading.current_thread() is threading.main_thread() else None,
            **self._modules(venv=cell.environment.venv is not None),
        }
        try:
            text = json.dumps(request, allow_nan=False)
        except (TypeError, ValueError) as error:
            return Outcome(verdict=ERROR, reason=f"workload_config is not JSON: {error}")
        try:
            for path in paths.values():
                _remove(path)
            descriptor = os.open(paths["request.json"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            worker = Worker(
                python=python,
                request=paths["request.json"],
                trace=paths["trace"],
                stdout=files.stdout,
                stderr=files.stderr,
                environ=environ,
                answered=lambda: os.path.exists(paths["response.json"]),
            )
            end = ended(worker, self._plan.recipe.timeout_s, self._grace_s, over)
            return self._outcome(cell, files, end, _answer(paths["response.json"], nonce))
        except CannotStartError as error:
            return Outcome(verdict=ERROR, reason=f"{python} could not be started: {error.error}")
        finally:
            for path in (*paths.values(), f"{paths['response.json']}.part"):
                _remove(path)

    def _outcome(self, cell: PlannedCell, files: TrialFiles, end: "Ended", answer: Any) -> Outcome:
        from aorta.sweep.workload import verdict
        from aorta.workloads.report import from_json

        notes = end.notes
        if end.begun is not None:
            notes = (f"the interpreter took {end.begun:.2f} s to start", *notes)
        name = verdict.signal_in(end.status)
        if end.timed_out:
            # An answer on the way out comes too late.
            limit = self._plan.recipe.timeout_s
            outcome = verdict.timed_out(limit, end.elapsed_s, end.phase, end.stacks)
        elif end.aborted:
            outcome = verdict.aborted(end.elapsed_s, end.phase, end.stacks)
        elif answer is not None:
            outcome = verdict.outcome_of(from_json(answer), cell.steps)
            if end.lingered:
                notes = (*notes, "its process did not end by itself after its answer, and was ended")
            elif name is not None:
                outcome = verdict.crashed_after(outcome, name)
            elif end.status:
                notes = (*notes, f"its process ended with exit status {end.status} after its answer")
        else:
            outcome = verdict.outcome_without(end.status, end.phase, end.stacks, tail_of(files.stderr))
            outcome = evolve(outcome, elapsed_s=max(end.elapsed_s - (end.begun or 0.0), 0.0))
        return evolve(outcome, notes=(*outcome.notes, *notes))

    def _modules(self, *, venv: bool) -> dict[str, Any]:
        """Return where the worker finds modules.

        An interpreter of ours gets this one's search path; that of a virtual environment only aorta, what
        aorta is made of, and the workload's own package, where it has none by itself.
        """
        last = {self._found.target.partition(":")[0].partition(".")[0], *_SERVED} - {"aorta"}
        return {
            "first": _places(["aorta"]),
            "last": _places(sorted(last)) if venv else {},
            "path": [] if venv else [os.path.abspath(one) for one in sys.path if isinstance(one, str)],
        }


def _python(cell: PlannedCell) -> str | None:
    from aorta.host.slow import interpreter

    return cell.environment.python or interpreter()


def _places(names: list[str]) -> dict[str, str]:
    """Return in which directory or archive this process has top-level modules."""
    from importlib.util import find_spec

    places = {}
    for name in names:
        with contextlib.suppress(ImportError, ValueError, AttributeError):
            spec = find_spec(name)
            folders = list(spec.submodule_search_locations or ()) if spec is not None else []
            origin = folders[0] if folders else spec.origin if spec is not None else None
            if origin is not None:
                places[name] = os.path.dirname(os.path.abspath(origin))
    return places


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


def _as_mapping(info: TrialInfo) -> dict[str, Any]:
    import attrs

    made: Any = info
    return attrs.asdict(made)


def _answer(path: str, nonce: str) -> Any:
    """Return the report of an answer; None where there is none, or not one to this request."""
    try:
        with open(path, "rb") as file:
            answer = json.loads(file.read(_ANSWER_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return answer.get("report") if isinstance(answer, dict) and answer.get("nonce") == nonce else None


def tail_of(path: str, limit: int = _LOG_BYTES) -> str:
    """Return the end of a log; an empty text where there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - limit))
            return file.read().decode("utf-8", "backslashreplace")
    except OSError:
        return ""


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
