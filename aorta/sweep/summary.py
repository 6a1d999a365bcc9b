"""``TrialSummary``: what the matrix knows of one trial."""

from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.frozen import frozen
from aorta.sweep.outcome import NO_SOURCE


@frozen
class Blamed:
    """A rank that is to blame for a trial; ``stderr`` is its log, relative to the run, null without one."""

    rank: int
    node: str
    stderr: str | None = None

    @property
    def named(self) -> str:
        """Return how the rank is called in texts."""
        return f"rank {self.rank} on {self.node}"


@frozen
class TrialSummary:
    """One recorded trial, as little of it as the matrix needs. ``path`` is relative to the run.

    ``blamed`` are the ranks that are to blame for it, where there are several, that of the ``reason`` first.
    """

    cell: str
    trial: int
    verdict: str
    path: str
    reason: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    started_at: str | None = None
    elapsed_s: float = 0.0
    step_times_ms: tuple[float, ...] = ()
    step_time_source: str = NO_SOURCE
    iterations: int | None = None
    configured_iterations: int | None = None
    failed: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    hint: str | None = None
    env_digest: str | None = None
    metrics: Mapping[str, Any] = attrs.field(factory=dict)
    blamed: tuple[Blamed, ...] = ()
