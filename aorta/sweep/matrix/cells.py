"""Cells and trials as the document has them: JSON values, whatever a plan holds."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aorta.model.redact import redact, redact_value
from aorta.sweep.matrix.compare import Comparison, Pace
from aorta.sweep.matrix.kinds import KEPT, rank
from aorta.sweep.matrix.logs import telling_log
from aorta.sweep.matrix.samples import Summed
from aorta.sweep.matrix.statistics import wilson
from aorta.sweep.matrix.tally import Tally
from aorta.sweep.outcome import ERROR, FAIL, PASS
from aorta.sweep.planning.plan import PlannedCell
from aorta.sweep.recipe.model import PLACES, StopAfter
from aorta.sweep.summary import TrialSummary

#: The most characters of a reason, and the most hints of a cell.
REASON, HINTS = 500, 5
#: The most ranks and nodes of a cell that are listed with how often they were to blame.
RANKS = 64


def planned(cell: PlannedCell, overlay: Mapping[str, str | None]) -> dict[str, Any]:
    """Return what the plan says of a cell; secrets are redacted."""
    environment = cell.environment
    return {
        "name": cell.name,
        "mitigations": list(cell.mitigations),
        "diagnostic": cell.diagnostic,
        "environment": environment.name,
        "resolved_environment": {
            "boundary": environment.boundary,
            **{field: getattr(environment, field) for field in PLACES},
            "source": environment.source,
        },
        "env_overlay": {
            name: None if value is None else redact_value(name, value) for name, value in overlay.items()
        },
        "workload_config": as_json(cell.workload_config),
        "trials": cell.trials,
        "steps": cell.steps,
        "stop_after": stop_after(cell.stop_after),
    }


def stop_after(rule: StopAfter | None) -> dict[str, Any] | None:
    """Return what ends a cell before all of its trials; null for nothing."""
    if rule is None:
        return None
    return {"events": rule.events, "max_trials": rule.max_trials, "event_verdict": rule.event_verdict}


def counted(tally: Tally, comparison: Comparison, pace: Pace) -> dict[str, Any]:
    """Return what the trials of a cell add up to."""
    low, high, configured = tally.iterations
    failed = tally.verdicts[FAIL]
    total = (tally.elapsed.mean or 0.0) * len(tally.elapsed) / 1000
    return {
        "done_count": tally.done,
        "passed_count": tally.verdicts[PASS],
        "failed_count": failed,
        "error_count": tally.verdicts[ERROR],
        "failure_rate": rounded(tally.failure_rate),
        "failure_rate_interval": [rounded(end) for end in wilson(failed, tally.judged)]
        if tally.judged
        else None,
        "error_rate": rounded(tally.error_rate),
        "unreliable": tally.is_unreliable,
        "comparison": {
            "call": comparison.call,
            "p_value": significant(comparison.p_value),
            "adjusted_p": significant(comparison.adjusted_p),
            "worse_from": rounded(comparison.worse_from),
            "better_to": rounded(comparison.better_to),
            "why": comparison.why,
        },
        "exit_status_counts": dict(sorted(tally.exits.items())),
        "outcome_counts": dict(sorted(tally.outcomes.items())),
        "executed_iter_min": low,
        "executed_iter_max": high,
        "configured_iters": configured,
        **_times(tally, pace),
        "total_elapsed_s": rounded(total),
        "mean_elapsed_s": rounded(total / tally.done) if tally.done else None,
        "top_failure_detector_id": _top(tally.detectors),
        "top_warn_detector_id": _top(tally.warned),
        "failure_detectors": _ranked(tally.detectors, "id"),
        "warn_detectors": _ranked(tally.warned, "id"),
        "failure_kinds": _ranked(tally.kinds[FAIL], "kind")[:KEPT],
        "error_kinds": _ranked(tally.kinds[ERROR], "kind")[:KEPT],
        "failure_hints": _ranked(tally.hints, "hint")[:HINTS],
        "metrics_summary": {
            name: {"mean": metric.mean, "min": metric.min, "max": metric.max, "n": metric.n}
            for name, metric in tally.metrics()
        },
        "env_digests": [
            {"digest": digest, "trials": sorted(trials)}
            for digest, trials in sorted(tally.digests.items(), key=lambda item: min(item[1]))
        ],
        **_blamed(tally),
    }


def _blamed(tally: Tally) -> dict[str, Any]:
    """Return how often which of several ranks, and of their nodes, was to blame, the most frequent first."""
    if not tally.blamed:
        return {}
    ranks = sorted(tally.blamed.items(), key=lambda item: (-item[1], item[0]))[:RANKS]
    nodes = sorted(tally.blamed_nodes.items(), key=lambda item: (-item[1], item[0]))[:RANKS]
    return {
        "blamed_ranks": [{"rank": rank, "node": node, "trials": trials} for (rank, node), trials in ranks],
        "blamed_nodes": [{"node": node, "trials": trials} for node, trials in nodes],
    }


def _times(tally: Tally, pace: Pace) -> dict[str, Any]:
    summed: Summed | None = tally.samples.summed()
    names = ("mean", "std", "min", "max", "p50", "p90", "p99")
    return {
        "step_time_source": tally.source,
        "step_time_samples": len(tally.samples),
        **{f"{name}_step_time_ms": rounded(getattr(summed, name, None)) for name in names},
        "step_time_ratio": rounded(pace.ratio),
        "confound": {"tag": pace.tag, "percent": pace.percent, "why": pace.why},
    }


def _ranked(counts: Counter[str], name: str) -> list[dict[str, Any]]:
    return [{name: key, "trials": number} for key, number in _sorted(counts)]


def _top(counts: Counter[str]) -> str | None:
    return next((key for key, _ in _sorted(counts)), None)


def _sorted(counts: Counter[str]) -> Sequence[tuple[str, int]]:
    """Return counts, the largest first, then what tells more, then by name: in no order of trials."""
    return sorted(counts.items(), key=lambda item: (-item[1], rank(item[0]), item[0]))


def trial(summary: TrialSummary, folder: str | None = None) -> dict[str, Any]:
    """Return a trial as the document lists it; ``reason`` and how it exited only where there is one.

    So is the ``rank`` that the reason is of, with its ``node`` and logs; which of them holds anything is told
    where the run's ``folder`` is known.
    """
    made: dict[str, Any] = {
        "trial": summary.trial,
        "verdict": summary.verdict,
        "elapsed_s": rounded(summary.elapsed_s),
        "path": summary.path,
    }
    if summary.started_at is not None:
        made["started_at"] = summary.started_at
    if summary.reason is not None:
        made["reason"] = redact(summary.reason)[:REASON]
    if summary.signal is not None:
        made["signal"] = summary.signal
    elif summary.exit_code is not None:
        made["exit_code"] = summary.exit_code
    for one in summary.blamed[:1]:
        made |= {"rank": one.rank, "node": one.node, **({"stderr": one.stderr} if one.stderr else {})}
        if one.stderr and folder is not None:
            made["log"] = telling_log(folder, one.stderr)
    return made


def rounded(value: float | None) -> float | None:
    """Return a number to six decimals; null for what no JSON number is."""
    return None if value is None or not math.isfinite(value) else round(value, 6)


def significant(value: float | None) -> float | None:
    """Return a probability to six significant digits."""
    return None if value is None else float(f"{value:.6g}")


def as_json(value: Any, name: str = "") -> Any:
    """Return a value as JSON has it: keys are texts, and what is no JSON value is its text.

    Secrets are redacted, also by the ``name`` that a text has.
    """
    if isinstance(value, Mapping):
        return {str(key): as_json(member, str(key)) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(member, name) for member in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return redact_value(name, str(value))
