"""A trial by its request, and the answer: one file that appears whole or not at all."""

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from aorta.model.frozen import evolve
from aorta.workloads.report import CONFIG, IMPORT, Report, as_json
from aorta.workloads.trace import PHASE, mark

#: The most characters of an answer's metrics and failure_details.
LIMIT = 8 << 20


def answer(request: Mapping[str, Any], trace: int) -> None:
    """Do the trial of a request and write the answer."""
    own = os.getpid()

    def found(report: Report) -> None:
        if os.getpid() == own:
            _tell_early(request, report)

    report = _done(request, lambda phase: mark(trace, PHASE, phase), found)
    if os.getpid() != own:
        # A child of the workload's that came back here; the trial is its parent's.
        os._exit(0)
    _write(request["response"], request["nonce"], report)


def _tell_early(request: Mapping[str, Any], report: Report) -> None:
    """Leave what ``run`` came to, for a ``cleanup`` that does not end."""
    with contextlib.suppress(OSError, ValueError):
        _write(request["early"], request["nonce"], report)


def _done(
    request: Mapping[str, Any], began: Callable[[str], None], found: Callable[[Report], None]
) -> Report:
    """Do the trial and return its report."""
    from aorta.workloads.body import exception, perform
    from aorta.workloads.config import rebuilt
    from aorta.workloads.discovery import resolve
    from aorta.workloads.protocol import AgentStore, TrialInfo

    phase = IMPORT
    try:
        began(IMPORT)
        cls = resolve(request["target"])
        began(phase := CONFIG)
        config = rebuilt(cls, request["config"], request["trial"]["steps"])
    except BaseException as error:
        return Report(raised=exception(error, phase))
    told = dict(request["trial"])
    if told["agent_store"] is not None:
        told["agent_store"] = AgentStore(**told["agent_store"])
    return perform(cls, config, TrialInfo(**told), began=began, found=found)


def _write(path: str, nonce: str, report: Report) -> None:
    size = len(json.dumps([report.metrics, report.failure_details]))
    if size > LIMIT:
        note = f"metrics and failure_details left out: {size >> 20} MB, and {LIMIT >> 20} are kept"
        report = evolve(report, metrics={}, failure_details=(), notes=(*report.notes, note))
    text = json.dumps({"nonce": nonce, "report": as_json(report)}, allow_nan=False)
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.part", path)
