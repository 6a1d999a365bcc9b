"""The JSON Schema of matrix.json."""

from aorta.sweep.json_schema import (
    COUNT,
    DIALECT,
    FLAG,
    INTEGER,
    NUMBER,
    RATE,
    TEXT,
    Schema,
    by_name,
    list_of,
    object_of,
    one_of,
    or_null,
)
from aorta.sweep.matrix.compare import CALLS, CONFOUNDS
from aorta.sweep.matrix.run_facts import STATES
from aorta.sweep.outcome import SOURCES, VERDICTS

SCHEMA_VERSION = 1

_NODE = object_of(node=TEXT, ranks=list_of(COUNT), host_digest=or_null(TEXT))
#: The rank that a reason is of, where there are several. ``log`` is that of its logs which holds anything.
_RANK = {"rank": COUNT, "node": TEXT, "stderr": TEXT, "log": or_null(TEXT)}
_TRIAL = object_of(
    ("started_at", "reason", "signal", "exit_code", *_RANK),
    trial=COUNT,
    verdict=one_of(VERDICTS),
    elapsed_s=or_null(NUMBER),
    path=TEXT,
    started_at=TEXT,
    reason=TEXT,
    signal=TEXT,
    exit_code=INTEGER,
    **_RANK,
)
_FIRST = or_null(object_of(tuple(_RANK), trial=COUNT, path=TEXT, reason=or_null(TEXT), **_RANK))
_STOP_AFTER = or_null(object_of(events=COUNT, max_trials=COUNT, event_verdict=one_of(VERDICTS)))
_ENVIRONMENT = object_of(
    boundary=TEXT,
    docker=or_null(TEXT),
    venv=or_null(TEXT),
    buck_target=or_null(TEXT),
    emulator=or_null(TEXT),
    mirage_profile=or_null(TEXT),
    source=TEXT,
)
_COMPARISON = object_of(
    call=one_of(CALLS),
    p_value=or_null(RATE),
    adjusted_p=or_null(RATE),
    worse_from=or_null(RATE),
    better_to=or_null(RATE),
    why=or_null(TEXT),
)
_CONFOUND = object_of(tag=one_of(CONFOUNDS), percent=or_null(INTEGER), why=or_null(TEXT))
_DETECTORS = list_of(object_of(id=TEXT, trials=COUNT))
_KINDS = list_of(object_of(kind=TEXT, trials=COUNT))
_STEP_TIMES = {
    f"{name}_step_time_ms": or_null(NUMBER) for name in ("mean", "std", "min", "max", "p50", "p90", "p99")
}
_CELL = object_of(
    ("blamed_ranks", "blamed_nodes"),
    name=TEXT,
    mitigations=list_of(TEXT),
    diagnostic=or_null(TEXT),
    environment=TEXT,
    resolved_environment=_ENVIRONMENT,
    env_overlay=by_name(or_null(TEXT)),
    workload_config={"type": "object"},
    trials=COUNT,
    steps=COUNT,
    stop_after=_STOP_AFTER,
    done_count=COUNT,
    passed_count=COUNT,
    failed_count=COUNT,
    error_count=COUNT,
    failure_rate=or_null(RATE),
    failure_rate_interval=or_null({**list_of(RATE), "minItems": 2, "maxItems": 2}),
    error_rate=or_null(RATE),
    unreliable=FLAG,
    comparison=_COMPARISON,
    exit_status_counts=by_name(COUNT),
    outcome_counts=by_name(COUNT),
    executed_iter_min=or_null(COUNT),
    executed_iter_max=or_null(COUNT),
    configured_iters=or_null(COUNT),
    step_time_source=one_of(SOURCES),
    step_time_samples=COUNT,
    **_STEP_TIMES,
    step_time_ratio=or_null(NUMBER),
    confound=_CONFOUND,
    total_elapsed_s=NUMBER,
    mean_elapsed_s=or_null(NUMBER),
    top_failure_detector_id=or_null(TEXT),
    top_warn_detector_id=or_null(TEXT),
    failure_detectors=_DETECTORS,
    warn_detectors=_DETECTORS,
    failure_kinds=_KINDS,
    error_kinds=_KINDS,
    failure_hints=list_of(object_of(hint=TEXT, trials=COUNT)),
    metrics_summary=by_name(object_of(mean=NUMBER, min=NUMBER, max=NUMBER, n=COUNT)),
    env_digests=list_of(object_of(digest=TEXT, trials=list_of(COUNT))),
    blamed_ranks=list_of(object_of(rank=COUNT, node=TEXT, trials=COUNT)),
    blamed_nodes=list_of(object_of(node=TEXT, trials=COUNT)),
    first_failure=_FIRST,
    first_error=_FIRST,
    trial_paths=list_of(TEXT),
    trial_results=list_of(_TRIAL),
)
MATRIX = object_of(
    schema_version={"type": "integer", "const": SCHEMA_VERSION},
    state=one_of(STATES),
    complete=FLAG,
    why=or_null(TEXT),
    lost_rank=FLAG,
    in_flight=or_null(object_of(cell=TEXT, trial=or_null(COUNT))),
    updated_at=or_null(TEXT),
    totals=object_of(planned=COUNT, done=COUNT, passed=COUNT, failed=COUNT, errors=COUNT),
    warnings=list_of(TEXT),
    run_id=TEXT,
    run_timestamp=TEXT,
    resumed_at=list_of(TEXT),
    workload=TEXT,
    mode=TEXT,
    trial_isolation=TEXT,
    order=TEXT,
    ticket=or_null(TEXT),
    trials_per_cell=COUNT,
    steps_per_trial=COUNT,
    warmup_steps=COUNT,
    baseline_cell=or_null(TEXT),
    confound=object_of(threshold=NUMBER, baseline_cell_configured=or_null(TEXT)),
    significance=object_of(alpha=RATE, hypotheses=COUNT),
    stop_after=_STOP_AFTER,
    recipe_source=object_of(path=or_null(TEXT), sha256=or_null(TEXT), fingerprint=or_null(TEXT)),
    runtime_provenance=object_of(package_version=or_null(TEXT), git_sha=or_null(TEXT)),
    command=list_of(TEXT),
    argv=list_of(TEXT),
    node=or_null(TEXT),
    cwd=or_null(TEXT),
    host_digest=or_null(TEXT),
    launcher=or_null(TEXT),
    starts=by_name(COUNT),
    world_size=COUNT,
    nodes=list_of(_NODE),
    cells=list_of(_CELL),
)


def matrix_schema() -> Schema:
    """Return the JSON Schema of matrix.json."""
    return {"$schema": DIALECT, "title": "The matrix of an aorta sweep", **MATRIX}
