"""From results to the snapshot: every section in its place, every reason and record with it."""

from typing import Any

from aorta.collect.orchestrator import Orchestrator
from aorta.collect.remarks import remarks
from aorta.collect.result import missing
from aorta.host.protocol import NotRecordedError
from aorta.model.frozen import evolve
from aorta.model.reason import Reason
from aorta.model.sections import ORDER
from aorta.model.shape import empty
from aorta.model.snapshot import Collection, Covered, Record, Snapshot
from aorta.model.vocabulary import PARTS, Coverage, Detail, ReasonKind, Status

_RANK = {Coverage.ABSENT: 0, Coverage.UNKNOWN: 1, Coverage.SEEN: 2}


def merge(run: Orchestrator, envelope: Collection) -> Snapshot:
    """Return the snapshot of a capture; ``envelope`` holds what is known of the capture itself.

    Should that fail, a snapshot of full shape says so, with every value that was collected.
    """
    try:
        return _merged(run, envelope)
    except Exception as error:
        return last_resort(run, envelope, error)


def last_resort(run: Orchestrator, envelope: Collection, error: Exception) -> Snapshot:
    """Return a snapshot of full shape when aorta itself fails: what was collected, and that it failed."""
    reason = Reason(
        section="collection", kind=ReasonKind.FAILED, detail=f"{type(error).__name__} in aorta itself"
    )
    plain: dict[str, Any] = dict.fromkeys(ORDER)
    plain |= {name: empty(spec.shape) for name, spec in run.registry.collectors.items()}
    plain |= {name: run.results[name].plain for name in run.wanted() if name in run.results}
    sections = {name: value for name, value in plain.items() if "." not in name}
    return Snapshot(
        sections=sections,
        plain=sections,
        extensions={name: _extension(name, value) for name, value in plain.items() if "." in name},
        collection=evolve(envelope, reasons=(reason,)),
    )


def _extension(name: str, value: Any) -> dict[str, Any]:
    return {"schema": f"{name}/1", "data": value}


def _merged(run: Orchestrator, envelope: Collection) -> Snapshot:
    _fill(run)
    coverage = _coverage(run)
    reasons = [reason for result in run.results.values() for reason in result.reasons]
    reasons += remarks(run, coverage)
    plain = {name: result.plain for name, result in run.results.items()}
    names = [name for name in (*ORDER, *run.registry.collectors) if "." not in name]
    sections = dict.fromkeys(names)
    collection = evolve(
        envelope,
        collectors=_records(run),
        providers={name: run.results[name].record for name in run.registry.providers if name in run.results},
        plugins=tuple(run.registry.plugins),
        reasons=tuple(_ordered(reasons, run)),
        coverage=coverage,
        redacted=tuple(sorted({name for result in run.results.values() for name in result.redacted})),
    )
    return Snapshot(
        captured_at=_now(run),
        sections={name: run.results[name].value if name in run.results else None for name in sections},
        plain={name: plain.get(name) for name in sections},
        extensions={name: _extension(name, plain[name]) for name in run.registry.collectors if "." in name},
        collection=collection,
    )


def _now(run: Orchestrator) -> str | None:
    try:
        return run.host.now()
    except (OSError, NotRecordedError):
        return None


def _fill(run: Orchestrator) -> None:
    """Give every registered section a result, also those that were not asked for or never came."""
    for name, spec in run.registry.collectors.items():
        if name in run.results and name in run.wanted():
            continue
        asked = name in run.wanted()
        kind = ReasonKind.FAILED if asked else ReasonKind.NOT_REQUESTED
        status = Status.FAILED if asked else Status.NOT_REQUESTED
        text = "the capture ended before it" if asked else "not among the sections asked for"
        if name in run.request.without:
            text = "left out by the caller"
        run.results[name] = missing(spec, status, kind, text, plugin=run.registry.plugin_of[name])


def _records(run: Orchestrator) -> dict[str, Record]:
    absent = Record(status=Status.NOT_REQUESTED, detail=Detail.COMPACT)
    names = dict.fromkeys((*ORDER, *run.registry.collectors))
    return {name: run.results[name].record if name in run.results else absent for name in names}


def _coverage(run: Orchestrator) -> Covered:
    merged: dict[str, Coverage] = {}
    for result in run.results.values():
        for part, state in result.coverage.items():
            if part not in merged or _RANK[state] > _RANK[merged[part]]:
                merged[part] = state
    return Covered(**{part: state for part, state in merged.items() if part in PARTS})


def _ordered(reasons: list[Reason], run: Orchestrator) -> list[Reason]:
    """Sort by section as declared, whatever ended first; providers follow, then the capture itself."""
    names = dict.fromkeys((*ORDER, *run.registry.collectors, *run.registry.providers))
    place = {name: number for number, name in enumerate(names)}
    return sorted(reasons, key=lambda reason: place.get(reason.section, len(place)))
