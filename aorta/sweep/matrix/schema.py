"""The JSON Schema of matrix.json, and a check against it that needs nothing installed."""

from collections.abc import Mapping, Sequence
from typing import Any

from aorta.sweep.matrix.compare import CALLS, CONFOUNDS
from aorta.sweep.matrix.run_facts import STATES
from aorta.sweep.outcome import SOURCES, VERDICTS

SCHEMA_VERSION = 1

Schema = dict[str, Any]

#: The largest number that every reader of JSON has.
_MOST = 1.7976931348623157e308

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**63}
INTEGER: Schema = {"type": "integer", "minimum": -(2**63), "maximum": 2**63}
NUMBER: Schema = {"type": "number", "minimum": -_MOST, "maximum": _MOST}
RATE: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def _or_null(schema: Schema) -> Schema:
    kinds = {**schema, "type": [schema["type"], "null"]}
    return {**kinds, "enum": [*kinds["enum"], None]} if "enum" in kinds else kinds


def _one_of(words: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _by_name(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


def _object(optional: Sequence[str] = (), /, **members: Schema) -> Schema:
    """Return the schema of an object; a minor change may add members, so others are allowed."""
    required = [name for name in members if name not in optional]
    return {"type": "object", "properties": members, "required": required}


_TRIAL = _object(
    ("started_at", "reason", "signal", "exit_code"),
    trial=COUNT,
    verdict=_one_of(VERDICTS),
    elapsed_s=_or_null(NUMBER),
    path=TEXT,
    started_at=TEXT,
    reason=TEXT,
    signal=TEXT,
    exit_code=INTEGER,
)
_FIRST = _or_null(_object(trial=COUNT, path=TEXT, reason=_or_null(TEXT)))
_STOP_AFTER = _or_null(_object(events=COUNT, max_trials=COUNT, event_verdict=_one_of(VERDICTS)))
_ENVIRONMENT = _object(
    boundary=TEXT,
    docker=_or_null(TEXT),
    venv=_or_null(TEXT),
    buck_target=_or_null(TEXT),
    emulator=_or_null(TEXT),
    mirage_profile=_or_null(TEXT),
    source=TEXT,
)
_COMPARISON = _object(
    call=_one_of(CALLS),
    p_value=_or_null(RATE),
    adjusted_p=_or_null(RATE),
    worse_from=_or_null(RATE),
    better_to=_or_null(RATE),
    why=_or_null(TEXT),
)
_CONFOUND = _object(tag=_one_of(CONFOUNDS), percent=_or_null(INTEGER), why=_or_null(TEXT))
_DETECTORS = _list(_object(id=TEXT, trials=COUNT))
_STEP_TIMES = {
    f"{name}_step_time_ms": _or_null(NUMBER) for name in ("mean", "std", "min", "max", "p50", "p90", "p99")
}
_CELL = _object(
    name=TEXT,
    mitigations=_list(TEXT),
    diagnostic=_or_null(TEXT),
    environment=TEXT,
    resolved_environment=_ENVIRONMENT,
    env_overlay=_by_name(_or_null(TEXT)),
    workload_config={"type": "object"},
    trials=COUNT,
    steps=COUNT,
    stop_after=_STOP_AFTER,
    done_count=COUNT,
    passed_count=COUNT,
    failed_count=COUNT,
    error_count=COUNT,
    failure_rate=_or_null(RATE),
    failure_rate_interval=_or_null({**_list(RATE), "minItems": 2, "maxItems": 2}),
    error_rate=_or_null(RATE),
    unreliable=FLAG,
    comparison=_COMPARISON,
    exit_status_counts=_by_name(COUNT),
    outcome_counts=_by_name(COUNT),
    executed_iter_min=_or_null(COUNT),
    executed_iter_max=_or_null(COUNT),
    configured_iters=_or_null(COUNT),
    step_time_source=_one_of(SOURCES),
    step_time_samples=COUNT,
    **_STEP_TIMES,
    step_time_ratio=_or_null(NUMBER),
    confound=_CONFOUND,
    total_elapsed_s=NUMBER,
    mean_elapsed_s=_or_null(NUMBER),
    top_failure_detector_id=_or_null(TEXT),
    top_warn_detector_id=_or_null(TEXT),
    failure_detectors=_DETECTORS,
    warn_detectors=_DETECTORS,
    failure_hints=_list(_object(hint=TEXT, trials=COUNT)),
    metrics_summary=_by_name(_object(mean=NUMBER, min=NUMBER, max=NUMBER, n=COUNT)),
    env_digests=_list(_object(digest=TEXT, trials=_list(COUNT))),
    first_failure=_FIRST,
    first_error=_FIRST,
    trial_paths=_list(TEXT),
    trial_results=_list(_TRIAL),
)
_MATRIX = _object(
    schema_version={"type": "integer", "const": SCHEMA_VERSION},
    state=_one_of(STATES),
    complete=FLAG,
    why=_or_null(TEXT),
    in_flight=_or_null(_object(cell=TEXT, trial=_or_null(COUNT))),
    updated_at=_or_null(TEXT),
    totals=_object(planned=COUNT, done=COUNT, passed=COUNT, failed=COUNT, errors=COUNT),
    warnings=_list(TEXT),
    run_id=TEXT,
    run_timestamp=TEXT,
    resumed_at=_list(TEXT),
    workload=TEXT,
    mode=TEXT,
    trial_isolation=TEXT,
    order=TEXT,
    ticket=_or_null(TEXT),
    trials_per_cell=COUNT,
    steps_per_trial=COUNT,
    warmup_steps=COUNT,
    baseline_cell=TEXT,
    confound=_object(threshold=NUMBER, baseline_cell_configured=_or_null(TEXT)),
    significance=_object(alpha=RATE, hypotheses=COUNT),
    stop_after=_STOP_AFTER,
    recipe_source=_object(path=_or_null(TEXT), sha256=_or_null(TEXT), fingerprint=_or_null(TEXT)),
    runtime_provenance=_object(package_version=_or_null(TEXT), git_sha=_or_null(TEXT)),
    argv=_list(TEXT),
    node=_or_null(TEXT),
    host_digest=_or_null(TEXT),
    cells=_list(_CELL),
)


def matrix_schema() -> Schema:
    """Return the JSON Schema of matrix.json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The matrix of an aorta sweep",
        **_MATRIX,
    }


_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def complaint(value: Any, schema: Mapping[str, Any] = _MATRIX, place: str = "") -> str | None:
    """Return what is wrong with a document first, with its place; null for a matrix.

    It knows what ``matrix_schema`` uses of JSON Schema, no more.
    """
    where = place or "the document"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(isinstance(value, _KINDS[kind]) and _is_no_flag(value, kind) for kind in kinds):
        return f"{where} is no {' or '.join(kinds)}"
    if value is None:
        return None
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get(
        "maximum", value
    ):
        return f"{where} is out of range"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return f"{where} has {len(value)} members"
        members = [(f"{place}[{index}]", member, schema["items"]) for index, member in enumerate(value)]
    elif isinstance(value, dict):
        known = schema.get("properties", {})
        missing = next((name for name in schema.get("required", ()) if name not in value), None)
        if missing is not None:
            return f"{where} has no {missing}"
        others = schema.get("additionalProperties")
        members = [
            (f"{place}.{name}".lstrip("."), member, known.get(name, others)) for name, member in value.items()
        ]
    else:
        return None
    found = (complaint(member, part, path) for path, member, part in members if part is not None)
    return next((text for text in found if text), None)


def _is_no_flag(value: Any, kind: str) -> bool:
    return kind == "boolean" or not isinstance(value, bool)
