"""``Tally``: what the trials of one cell add up to, kept up to date as they come."""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from aorta.model.frozen import frozen
from aorta.model.redact import redact
from aorta.sweep.matrix.kinds import kind_of
from aorta.sweep.matrix.samples import Samples
from aorta.sweep.outcome import ERROR, FAIL, NO_SOURCE, PASS, PER_STEP, SOURCES
from aorta.sweep.summary import TrialSummary

#: From this part of trials without a verdict on, the others may not be typical either.
UNRELIABLE = 0.10

#: The most characters of a hint.
HINT = 300

#: Numbers that name something and measure nothing; a mean of them says nothing.
NO_METRICS = frozenset(
    (
        # Who ran it, and with whom
        *("rank", "local_rank", "global_rank", "node_rank", "group_rank", "slurm_procid", "node_id"),
        *("world_size", "local_world_size", "expected_local_world_size", "node_count", "num_nodes"),
        *("pid", "ppid", "pgid", "uid", "gid", "device", "device_id", "device_index", "gpu_id"),
        # How it ended, which has its own columns
        *("exit_code", "exit_status", "returncode", "return_code", "signal", "trial", "trial_index"),
        # Where it could be reached, and what it was started from
        *("port", "master_port", "port_base", "seed", "random_seed", "deterministic_seed", "schema_version"),
        # When it was
        *("timestamp", "time", "start_time", "end_time", "started_at", "ended_at"),
    )
)

DID_NOT_RUN, STOPPED_EARLY, COMPLETED, UNKNOWN = ("did_not_run", "stopped_early", "completed", "unknown")


@frozen
class Metric:
    """A metric of the passing trials that had it."""

    mean: float
    min: float
    max: float
    n: int


class Tally:
    """A cell's trials, whose first ``warmup_steps`` do not count for step times."""

    def __init__(self, warmup_steps: int = 0) -> None:
        self._warmup = warmup_steps
        self.verdicts = dict.fromkeys((PASS, FAIL, ERROR), 0)
        self.exits: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.detectors: Counter[str] = Counter()
        self.warned: Counter[str] = Counter()
        self.hints: Counter[str] = Counter()
        self.kinds: dict[str, Counter[str]] = {FAIL: Counter(), ERROR: Counter()}
        self.digests: dict[str, array[int]] = {}
        self.blamed: Counter[tuple[int, str]] = Counter()
        self.blamed_nodes: Counter[str] = Counter()
        self.samples = Samples()
        self.source = NO_SOURCE
        self.elapsed = Samples()
        self.iterations: list[int | None] = [None, None, None]
        self._metrics: dict[str, array[float]] = {}

    def add(self, trial: TrialSummary) -> None:
        """Count one trial."""
        self.verdicts[trial.verdict] += 1
        if trial.signal is not None or trial.exit_code is not None:
            self.exits[trial.signal or str(trial.exit_code)] += 1
        self.outcomes[outcome_of(trial)] += 1
        self.detectors.update(dict.fromkeys(trial.failed, 1))
        self.warned.update(dict.fromkeys(trial.warned, 1))
        if (kind := kind_of(trial)) is not None:
            self.kinds[trial.verdict][kind] += 1
        self.blamed.update((one.rank, one.node) for one in trial.blamed)
        self.blamed_nodes.update({one.node for one in trial.blamed})
        if trial.hint:
            self.hints[redact(trial.hint)[:HINT]] += 1
        if trial.env_digest is not None:
            self.digests.setdefault(trial.env_digest, array("q")).append(trial.trial)
        self.elapsed.add((trial.elapsed_s * 1000,))
        self._count_iterations(trial)
        if trial.verdict != ERROR:
            self._add_times(trial)
        if trial.verdict == PASS:
            for name, value in numbers_in(trial.metrics):
                self._metrics.setdefault(name, array("d")).append(value)

    def _count_iterations(self, trial: TrialSummary) -> None:
        low, high, _ = self.iterations
        if trial.iterations is not None:
            low = trial.iterations if low is None else min(low, trial.iterations)
            high = trial.iterations if high is None else max(high, trial.iterations)
        self.iterations = [low, high, trial.configured_iterations or self.iterations[2]]

    def _add_times(self, trial: TrialSummary) -> None:
        """Add the step times of a trial that was judged; one that was not may have ended anywhere."""
        times, before = times_of(trial, self._warmup), len(self.samples)
        self.samples.add(times)
        if len(self.samples) > before:
            # The worst that any trial had is what all of them together are worth.
            known = [source for source in (self.source, trial.step_time_source) if source != NO_SOURCE]
            self.source = max(known, key=SOURCES.index, default=NO_SOURCE)

    @property
    def done(self) -> int:
        """Return how many trials there are."""
        return sum(self.verdicts.values())

    @property
    def judged(self) -> int:
        """Return how many trials passed or failed."""
        return self.verdicts[PASS] + self.verdicts[FAIL]

    @property
    def failure_rate(self) -> float | None:
        """Return the part of judged trials that failed; null where none was judged."""
        return self.verdicts[FAIL] / self.judged if self.judged else None

    @property
    def error_rate(self) -> float | None:
        """Return the part of trials without a verdict; null before the first."""
        return self.verdicts[ERROR] / self.done if self.done else None

    @property
    def is_unreliable(self) -> bool:
        """Tell whether too many trials ended without a verdict."""
        return (self.error_rate or 0.0) >= UNRELIABLE

    def metrics(self) -> Iterator[tuple[str, Metric]]:
        """Yield the metrics by name, in the order of names."""
        for name, values in sorted(self._metrics.items()):
            n = len(values)
            # Divided first: the sum of numbers may be beyond all numbers where their mean is none.
            mean = math.fsum(value / n for value in values)
            yield name, Metric(mean=mean, min=min(values), max=max(values), n=n)


def outcome_of(trial: TrialSummary) -> str:
    """Return how far a trial came, as its iterations say."""
    if trial.iterations is None:
        return UNKNOWN
    if trial.iterations == 0:
        return DID_NOT_RUN
    return STOPPED_EARLY if trial.iterations < (trial.configured_iterations or 0) else COMPLETED


def times_of(trial: TrialSummary, warmup: int) -> tuple[float, ...]:
    """Return the step times of a trial that count, in milliseconds.

    The first ``warmup`` steps are left out where each step was timed and there are more. Where only the
    trial was timed, divided by its steps, there is no first one to leave out.
    """
    times, source = trial.step_times_ms, trial.step_time_source
    if source == NO_SOURCE:
        return ()
    return times[warmup:] if source == PER_STEP and len(times) > warmup else times


def numbers_in(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the metrics that are finite numbers and measure something."""
    for name, value in metrics.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or name.lower() in NO_METRICS:
            continue
        try:
            number = float(value)
        except OverflowError:
            continue
        if math.isfinite(number):
            yield name, number
