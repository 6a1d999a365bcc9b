"""The record of a trial: what is written of it, and what is read back."""

import json
import os
from collections.abc import Mapping
from typing import Any

from aorta.instrumentation.series import Taken
from aorta.model.document import DocumentError, parse_json
from aorta.model.essence import without_nulls
from aorta.model.frozen import frozen
from aorta.model.redact import redact_value
from aorta.sweep.files import TrialFiles
from aorta.sweep.json_schema import complaint
from aorta.sweep.outcome import Finding, Outcome
from aorta.sweep.run.blamed import blamed
from aorta.sweep.run.schema import SCHEMA_VERSION, TRIAL
from aorta.sweep.summary import TrialSummary

#: The snapshot stands at the end, after what people look for.
_LAST = '"env":'


class RecordError(ValueError):
    """A file that is not the record of the trial it is named after; the text says why."""


@frozen
class Trial:
    """One trial that has ended: which it was, what it got, what became of it, and the snapshot before it."""

    cell: str
    trial: int
    started_at: str
    overlay: Mapping[str, str | None]
    outcome: Outcome
    taken: Taken
    artifacts: tuple[str, ...] = ()


def text_of(trial: Trial) -> str:
    """Return a trial's record: strict JSON, one member a line, the snapshot last."""
    outcome = trial.outcome
    launcher = trial.taken.snapshot.plain.get("launcher")
    members: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "cell": trial.cell,
        "trial": trial.trial,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "traceback": outcome.traceback,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "timed_out": outcome.timed_out,
        "started_at": trial.started_at,
        "elapsed_s": round(outcome.elapsed_s, 6),
        "step_times_ms": [round(ms, 4) for ms in outcome.step_times_ms],
        "step_time_source": outcome.step_time_source,
        "iterations": outcome.iterations,
        "configured_iterations": outcome.configured_iterations,
        "findings": [_finding(finding) for finding in outcome.findings],
        "failure_details": [dict(detail) for detail in outcome.failure_details],
        "metrics": dict(outcome.metrics),
        "notes": list(outcome.notes),
        "env_overlay": {name: _shown(name, value) for name, value in trial.overlay.items()},
        **({"env_late": list(outcome.env_late)} if outcome.env_late else {}),
        "launcher": without_nulls(launcher),
        "artifacts": list(trial.artifacts),
        **({"ranks": list(outcome.ranks), "lost": outcome.lost} if outcome.ranks or outcome.lost else {}),
        "env_digest": trial.taken.digest,
    }
    lines = [f"  {json.dumps(name)}: {_json(value)}" for name, value in members.items()]
    return "{\n" + ",\n".join([*lines, f"  {_LAST} {trial.taken.text}"]) + "\n}\n"


def summary_of(trial: Trial, path: str) -> TrialSummary:
    """Return what the matrix needs of a trial; ``path`` is its record's, relative to the run."""
    outcome = trial.outcome
    return TrialSummary(
        cell=trial.cell,
        trial=trial.trial,
        path=path,
        verdict=outcome.verdict,
        reason=outcome.reason,
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        started_at=trial.started_at,
        elapsed_s=round(outcome.elapsed_s, 6),
        step_times_ms=tuple(round(ms, 4) for ms in outcome.step_times_ms),
        step_time_source=outcome.step_time_source,
        iterations=outcome.iterations,
        configured_iterations=outcome.configured_iterations,
        failed=_ids(outcome.findings, "fail", "error"),
        warned=_ids(outcome.findings, "warn"),
        hint=_hint(outcome.failure_details),
        env_digest=trial.taken.digest,
        metrics=dict(outcome.metrics),
        blamed=blamed(outcome.ranks, outcome.lost),
    )


def read(path: str, cell: str, trial: int, relative: str) -> TrialSummary:
    """Return the summary of a record on disk. Raises RecordError when it is not that trial's, and OSError."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    # The snapshot is most of a record, and not needed here.
    head, mark, _ = text.partition(f"\n  {_LAST} ")
    try:
        record = parse_json(f"{head.rstrip(',')}\n}}" if mark else text)
    except DocumentError as error:
        raise RecordError(f"{relative}: {error}") from None
    if not text.endswith("}\n}\n"):
        raise RecordError(f"{relative}: it is cut off")
    return _read(record, cell, trial, relative)


def _read(record: Any, cell: str, trial: int, relative: str) -> TrialSummary:
    wrong = complaint(record, TRIAL)
    if wrong is not None:
        raise RecordError(f"{relative}: {wrong}")
    if record["schema_version"] != SCHEMA_VERSION:
        raise RecordError(f"{relative}: schema_version is {record['schema_version']}")
    if (record["cell"], record["trial"]) != (cell, trial):
        raise RecordError(f"{relative}: not the record of trial {trial} of {cell}")
    findings = [Finding(id=each["id"], effect=each["effect"]) for each in record["findings"]]
    copied = (
        *("verdict", "reason", "exit_code", "signal", "started_at", "elapsed_s", "step_time_source"),
        *("iterations", "configured_iterations", "env_digest", "metrics"),
    )
    return TrialSummary(
        cell=cell,
        trial=trial,
        path=relative,
        step_times_ms=tuple(record["step_times_ms"]),
        failed=_ids(findings, "fail", "error"),
        warned=_ids(findings, "warn"),
        hint=_hint(record["failure_details"]),
        blamed=blamed(record.get("ranks", ()), record.get("lost")),
        **{name: record[name] for name in copied},
    )


def _finding(finding: Finding) -> dict[str, Any]:
    told = {"id": finding.id, "effect": finding.effect, "where": finding.where, "text": finding.text}
    return {**told, "captured": dict(finding.captured)} if finding.captured else told


def _ids(findings: Any, *effects: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.id for finding in findings if finding.effect in effects))


def _hint(details: Any) -> str | None:
    hints = [detail["hint"] for detail in details if isinstance(detail.get("hint"), str)]
    return hints[0] if hints else None


def _shown(name: str, value: str | None) -> str | None:
    return None if value is None else redact_value(name, value)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(", ", ": "), allow_nan=False)


def artifacts_of(files: TrialFiles, base: str, ranks: int) -> tuple[str, ...]:
    """Return the files that a trial made of its own, relative to ``base``; empty folders are taken away."""
    folders = [files.folder, *(files.of_rank(rank).folder for rank in range(ranks))]
    return tuple(name for folder in folders for name in _artifacts_in(folder, base))


def _artifacts_in(folder: str, base: str) -> tuple[str, ...]:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return ()
    except OSError:
        found = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
        return tuple(sorted(os.path.relpath(path, base) for path in found))
    return ()
