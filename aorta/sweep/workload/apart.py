"""Trials in interpreters of their own, one for each or one that lasts: what they are asked and answer."""

import contextlib
import json
import os
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from aorta.instrumentation.process import Stopped
from aorta.model.frozen import evolve
from aorta.sweep.command.running import CannotStartError
from aorta.sweep.command.start import CHANNEL
from aorta.sweep.outcome import LOST, Outcome
from aorta.sweep.planning.plan import PlannedCell
from aorta.sweep.spec import TrialSpec
from aorta.sweep.workload import verdict
from aorta.sweep.workload.lasting import Lasting
from aorta.sweep.workload.process import ended
from aorta.sweep.workload.tail import tail_of
from aorta.sweep.workload.watching import Ended, Worker, stacks_in
from aorta.workloads.protocol import TrialInfo
from aorta.workloads.report import from_json

#: The most bytes of an answer.
_ANSWER_BYTES = 64 << 20
#: What a virtual environment need not have, since aorta's own serves: all of it is plain Python.
_SERVED = ("attr", "attrs", "typing_extensions")


class Apart:
    """Runs trials of the workload ``target`` outside of this process.

    ``lasts``: all of them in one interpreter, and not each in a fresh one. ``timeout_s`` and ``grace_s`` are
    a trial's time, and that between SIGTERM and SIGKILL.
    """

    def __init__(self, target: str, timeout_s: float | None, grace_s: float, *, lasts: bool) -> None:
        self._target = target
        self._timeout_s = timeout_s
        self._grace_s = grace_s
        self._lasting = Lasting(grace_s) if lasts else None

    def close(self) -> None:
        """End an interpreter that lasts."""
        if self._lasting is not None:
            self._lasting.close()

    def execute(self, spec: TrialSpec, info: TrialInfo, over: Callable[[], bool] | None) -> Outcome:
        """Run a trial and return what became of it. Raises OSError for its files, and what signals raise."""
        files, python = spec.files, _python(spec.cell)
        if python is None:
            return verdict.not_started("no Python interpreter can be started from this program")
        paths = files.working()
        request = self._request(spec, info, paths)
        try:
            text = json.dumps(request, allow_nan=False)
        except (TypeError, ValueError) as error:
            return verdict.not_started(f"workload_config is not JSON: {error}")
        worker = Worker(
            python=python,
            request=paths["request.json"],
            trace=paths["trace"],
            stdout=files.stdout,
            stderr=files.stderr,
            environ=spec.environ,
            answered=lambda: os.path.exists(paths["response.json"]),
        )
        try:
            files.clear()
            _write(worker.request, text)
            end = self._ended(worker, over)
            if end.timed_out or end.aborted:
                # Whoever would record it may be gone.
                _keep_stacks(end.stacks, files.stacks)
            outcome = self._outcome(spec, end, _answer(paths["response.json"], request["nonce"]))
            early = _answer(paths["early.json"], request["nonce"]) if outcome.end in LOST else None
            if early is None:
                return outcome
            found = verdict.outcome_of(from_json(early), spec.cell.steps)
            if end.told_at is not None and (found.raised_at or 0.0) > end.told_at:
                # Because it was ended, or with what others were ended with.
                return outcome
            return verdict.with_what_was_found(found, outcome)
        except Stopped:
            # Its trial has no record.
            _keep_stacks(stacks_in(paths["trace"]), files.stacks)
            raise
        except CannotStartError as error:
            return verdict.not_started(f"{python} could not be started: {error.error}")
        finally:
            files.clear()

    def _ended(self, worker: Worker, over: Callable[[], bool] | None) -> Ended:
        if self._lasting is not None:
            return self._lasting.ended(worker, self._timeout_s, over)
        return ended(worker, self._timeout_s, self._grace_s, over)

    def _request(self, spec: TrialSpec, info: TrialInfo, paths: Mapping[str, str]) -> dict[str, Any]:
        """Return what the interpreter is told; one that lasts gets the variables of each trial here."""
        lasts = self._lasting is not None
        return {
            "nonce": secrets.token_hex(16),
            "target": self._target,
            "config": spec.cell.workload_config,
            "trial": _as_mapping(info),
            "early": paths["early.json"],
            "response": paths["response.json"],
            "trace": paths["trace"],
            "parent": os.getpid() if threading.current_thread() is threading.main_thread() else None,
            "channel": CHANNEL if lasts else None,
            "environ": dict(spec.environ) if lasts else {},
            **self._modules(venv=spec.cell.environment.venv is not None),
        }

    def _outcome(self, spec: TrialSpec, end: Ended, answer: Any) -> Outcome:
        notes = end.notes
        if end.begun is not None:
            notes = (f"the interpreter took {end.begun:.2f} s to start", *notes)
        name = verdict.signal_in(end.status)
        if end.timed_out:
            # An answer on the way out comes too late.
            outcome = verdict.timed_out(self._timeout_s, end.elapsed_s, end.phase, end.stacks)
        elif end.aborted:
            outcome = verdict.aborted(end.elapsed_s, end.phase, end.stacks)
        elif answer is not None:
            outcome = verdict.outcome_of(from_json(answer), spec.cell.steps)
            if end.lingered:
                notes = (*notes, "its process did not end by itself after its answer, and was ended")
            elif name is not None:
                outcome = verdict.crashed_after(outcome, name)
            elif end.status:
                notes = (*notes, f"its process ended with exit status {end.status} after its answer")
        else:
            outcome = verdict.outcome_without(end.status, end.phase, end.stacks, tail_of(spec.files.stderr))
            outcome = evolve(outcome, elapsed_s=max(end.elapsed_s - (end.begun or 0.0), 0.0))
        return evolve(outcome, notes=(*outcome.notes, *notes), env_late=end.late)

    def _modules(self, *, venv: bool) -> dict[str, Any]:
        """Return where the worker finds modules.

        An interpreter of ours gets this one's search path; that of a virtual environment only aorta, what
        aorta is made of, and the workload's own package, where it has none by itself.
        """
        last = {self._target.partition(":")[0].partition(".")[0], *_SERVED} - {"aorta"}
        return {
            "first": _places(["aorta"]),
            "last": _places(sorted(last)) if venv else {},
            "path": [] if venv else [os.path.abspath(one) for one in sys.path if isinstance(one, str)],
        }


def _keep_stacks(stacks: str, path: str) -> None:
    """Leave where the process was that had to be ended."""
    if stacks:
        with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as file:
            file.write(f"{stacks}\n")


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


def _as_mapping(info: TrialInfo) -> dict[str, Any]:
    import attrs

    made: Any = info
    return attrs.asdict(made)


def _write(path: str, text: str) -> None:
    """Write a request; it holds the secrets of the configuration and of the variables."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _answer(path: str, nonce: str) -> Any:
    """Return the report of an answer; None where there is none, or not one to this request."""
    try:
        with open(path, "rb") as file:
            answer = json.loads(file.read(_ANSWER_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return answer.get("report") if isinstance(answer, dict) and answer.get("nonce") == nonce else None
