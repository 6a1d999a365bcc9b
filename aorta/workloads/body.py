"""The body of a trial: construct, ``setup``, ``run``, ``cleanup`` always; what is raised becomes a report."""

import os
import time
import traceback
from collections.abc import Callable
from typing import Any

from aorta.model.frozen import evolve
from aorta.workloads.plain import Plain
from aorta.workloads.protocol import TrialInfo, Workload, WorkloadResult
from aorta.workloads.report import CLEANUP, CONSTRUCT, RUN, SETUP, Raised, Report, bounded

#: The most failures that are kept one by one.
DETAILS = 256

#: Variables that limit which GPUs a process sees; each counts what the one before it left.
MASKS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def perform(
    cls: type[Workload],
    config: Any,
    trial: TrialInfo,
    *,
    began: Callable[[str], None] = lambda _phase: None,
    passes: Callable[[BaseException], bool] = lambda _error: False,
    found: Callable[[Report], None] = lambda _report: None,
) -> Report:
    """Do one trial of a workload and return what became of it.

    ``began`` is told each phase as it begins. An exception that ``passes`` is raised on, after ``cleanup``;
    all others, SystemExit and KeyboardInterrupt among them, become part of the report. ``found`` is told the
    report of a body that is no pass before ``cleanup``, which may never end.
    """
    begun = time.perf_counter()
    workload: Workload | None = None
    result: Any = None
    report, raised, phase = Report(), None, CONSTRUCT
    try:
        began(CONSTRUCT)
        workload = cls(config)
        workload.trial = trial
        began(phase := SETUP)
        workload.setup()
        began(phase := RUN)
        result = workload.run()
    except BaseException as error:
        raised = exception(error, phase)
        report = Report(raised=raised)
        if passes(error):
            raise
    finally:
        if workload is not None:
            report = Report(raised=raised) if raised is not None else _told(result)
            report = evolve(report, elapsed_s=time.perf_counter() - begun, device=_device(workload))
            if not report.passed:
                found(report)
            began(CLEANUP)
            report = evolve(report, cleanup=_cleaned(workload, passes))
    return evolve(report, elapsed_s=time.perf_counter() - begun)


def _told(result: Any) -> Report:
    """Return the report of what ``run`` returned; to read it may run the workload's own code."""
    try:
        return _read(result)
    except Exception as error:
        return Report(raised=exception(error, RUN))


def _device(workload: Workload) -> str | None:
    """Return what a workload says that it is bound to, and which GPUs the rank was shown."""
    try:
        device = getattr(workload, "device", None)
        if device is None:
            return None
        told = str(device)
        # The first GPU of a process is not that of the node where only some are visible.
        masks = [f"{name}={os.environ[name]}" for name in MASKS if name in os.environ]
        seen = f" ({', '.join(masks)})" if masks and told != "cpu" else ""
        return f"{told}{seen}"[:200]
    except Exception:
        return None


def _cleaned(workload: Workload, passes: Callable[[BaseException], bool]) -> Raised | None:
    try:
        workload.cleanup()
    except BaseException as error:
        if passes(error):
            raise
        return exception(error, CLEANUP)
    return None


def exception(error: BaseException, phase: str) -> Raised:
    """Return what is kept of an exception."""
    try:
        text = str(error)
    except Exception:
        text = "its text cannot be had"
    try:
        stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception:
        stack = "".join(traceback.format_tb(error.__traceback__))
    return Raised(
        phase=phase,
        type=type(error).__name__,
        text=bounded(text, 2000),
        traceback=bounded(stack),
        assertion=isinstance(error, AssertionError),
        at=time.monotonic(),
    )


def _read(result: Any) -> Report:
    """Return the report of what ``run`` returned."""
    if not isinstance(result, WorkloadResult):
        given = "nothing" if result is None else f"an object of {type(result).__name__}"
        return Report(wrong=f"run() returned {given}, no WorkloadResult")
    plain = Plain()
    passed = _truth(result.passed)
    metrics = plain.mapping(result.metrics, "metrics")
    details = _details(result.failure_details, plain)
    return Report(
        wrong=None if passed is not None else f"passed is {str(result.passed)[:60]!r}, not true or false",
        passed=passed,
        failure_count=plain.count(result.failure_count, "failure_count") or 0,
        first_failure_iteration=plain.count(result.first_failure_iteration, "first_failure_iteration"),
        failure_details=details,
        total_iterations=plain.count(result.total_iterations, "total_iterations") or 0,
        step_times_ms=plain.numbers(result.step_times_ms, "step_times_ms"),
        work_s=next(iter(plain.numbers([result.elapsed_sec or 0.0], "elapsed_sec")), 0.0),
        metrics=metrics,
        main_work_started=_truth(result.main_work_started),
        executed_iterations=plain.count(result.executed_iterations, "executed_iterations"),
        configured_iterations=plain.count(result.configured_iterations, "configured_iterations"),
        notes=tuple(plain.notes[:50]),
    )


def _details(details: Any, plain: Plain) -> tuple[dict[str, Any], ...]:
    try:
        given = list(details or ())
    except TypeError:
        plain.notes.append("failure_details left out: they are no list")
        return ()
    if len(given) > DETAILS:
        plain.notes.append(f"{len(given) - DETAILS} more failure_details left out")
    return tuple(plain.mapping(one, f"failure_details[{place}]") for place, one in enumerate(given[:DETAILS]))


def _truth(value: Any) -> bool | None:
    """Return true or false, also for numpy's and torch's; None for what is neither."""
    if value is None or isinstance(value, bool):
        return value
    try:
        value = value.item()
    except Exception:
        return None
    return value if isinstance(value, bool) else None
