"""The JSON Schema of a trial's record."""

from aorta.sweep.json_schema import (
    COUNT,
    DIALECT,
    FLAG,
    INTEGER,
    NUMBER,
    TEXT,
    Schema,
    by_name,
    list_of,
    object_of,
    one_of,
    or_null,
)
from aorta.sweep.outcome import ENDS, SOURCES, VERDICTS

SCHEMA_VERSION = 1

_FINDING = object_of(
    ("captured",),
    id=TEXT,
    effect=TEXT,
    where=or_null(TEXT),
    text=or_null(TEXT),
    captured=by_name(or_null(TEXT)),
)
#: Those from ``phase`` on are there for a rank that did not pass.
_RANK = object_of(
    ("phase", "reason", "exit_code", "signal", "traceback", "log", "stderr", "local_rank", "device"),
    rank=COUNT,
    node=TEXT,
    local_rank=or_null(COUNT),
    device=or_null(TEXT),
    verdict=one_of(VERDICTS),
    end=one_of(ENDS),
    elapsed_s=NUMBER,
    phase=or_null(TEXT),
    reason=or_null(TEXT),
    exit_code=or_null(INTEGER),
    signal=or_null(TEXT),
    traceback=or_null(TEXT),
    log=or_null(TEXT),
    stderr=or_null(TEXT),
)
#: Without the snapshot, which ``env`` holds. ``ranks`` and ``lost`` are of trials of several ranks;
#: ``env_late`` names variables that were set after what reads them had done so.
TRIAL = object_of(
    ("ranks", "lost", "env_late"),
    schema_version={"type": "integer", "const": SCHEMA_VERSION},
    cell=TEXT,
    trial=COUNT,
    verdict=one_of(VERDICTS),
    reason=or_null(TEXT),
    traceback=or_null(TEXT),
    exit_code=or_null(INTEGER),
    signal=or_null(TEXT),
    timed_out=FLAG,
    started_at=TEXT,
    elapsed_s=NUMBER,
    step_times_ms=list_of(NUMBER),
    step_time_source=one_of(SOURCES),
    iterations=or_null(COUNT),
    configured_iterations=or_null(COUNT),
    findings=list_of(_FINDING),
    failure_details=list_of({"type": "object"}),
    metrics={"type": "object"},
    notes=list_of(TEXT),
    env_overlay=by_name(or_null(TEXT)),
    env_late=list_of(TEXT),
    launcher=or_null({"type": "object"}),
    artifacts=list_of(TEXT),
    ranks=list_of(_RANK),
    lost=or_null(_RANK),
    env_digest=TEXT,
)
_ENV: Schema = {
    "type": "object",
    "description": "The compact snapshot before the trial, as schema/snapshot-2.0.schema.json has it, without"
    " members that are null. collection.reused tells of what time the sections are that were taken over from"
    " an earlier snapshot of the run.",
    "required": ["schema_version", "captured_at", "partial", "collection"],
}


def trial_schema() -> Schema:
    """Return the JSON Schema of the record of a trial."""
    members = {**TRIAL["properties"], "env": _ENV}
    return {
        "$schema": DIALECT,
        "title": "The record of a trial of an aorta sweep",
        **TRIAL,
        "properties": members,
        "required": [*TRIAL["required"], "env"],
    }
