"""``Report``: what became of a workload's body, as plain values that cross from one process to another."""

from collections.abc import Mapping
from typing import Any

import attrs

from aorta.model.frozen import frozen

#: The moments of a trial's body, in their order.
IMPORT, CONFIG, CONSTRUCT, SETUP, RUN, CLEANUP = PHASES = (
    "import",
    "config",
    "constructor",
    "setup",
    "run",
    "cleanup",
)

#: The most of a traceback that is kept, in bytes: the most telling parts are its start and its end.
TRACEBACK_LIMIT = 64 << 10


@frozen
class Raised:
    """An exception: in which phase, of which type, its text, and whether it is an AssertionError.

    ``at`` is when, by the monotonic clock.
    """

    phase: str
    type: str
    text: str
    traceback: str
    assertion: bool = False
    at: float | None = None

    def told(self) -> str:
        """Return it in one line."""
        where = "" if self.phase == RUN else f" in {self.phase}"
        said = f": {self.text}" if self.text else ""
        return " ".join(f"{self.type}{said}{where and f' ({where.strip()})'}".split())


@frozen
class Report:
    """The end of a body. Without ``raised`` the result's fields hold what ``run`` returned.

    ``passed`` is null where there is no result; ``wrong`` says what is wrong with one. ``elapsed_s`` is from
    before the constructor to after ``cleanup``, in seconds of the monotonic clock. ``device`` is
    what the workload says that it was bound to.
    """

    elapsed_s: float = 0.0
    raised: Raised | None = None
    cleanup: Raised | None = None
    wrong: str | None = None
    passed: bool | None = None
    failure_count: int = 0
    first_failure_iteration: int | None = None
    failure_details: tuple[Mapping[str, Any], ...] = ()
    total_iterations: int = 0
    step_times_ms: tuple[float, ...] = ()
    work_s: float = 0.0
    metrics: Mapping[str, Any] = attrs.field(factory=dict)
    main_work_started: bool | None = None
    executed_iterations: int | None = None
    configured_iterations: int | None = None
    notes: tuple[str, ...] = ()
    device: str | None = None


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON values."""
    made: Any = report
    return attrs.asdict(made)


def from_json(value: Mapping[str, Any]) -> Report:
    """Return the report that JSON values hold. Raises TypeError for others."""
    given = dict(value)
    for name in ("raised", "cleanup"):
        given[name] = None if given.get(name) is None else Raised(**given[name])
    for name in ("failure_details", "step_times_ms", "notes"):
        given[name] = tuple(given.get(name) or ())
    return Report(**given)


def bounded(text: str, limit: int = TRACEBACK_LIMIT) -> str:
    """Return a text of at most so many bytes of UTF-8, its middle left out where it is longer."""
    raw = text.encode("utf-8", "backslashreplace")
    if len(raw) <= limit:
        return raw.decode("utf-8")
    half = limit // 2 - 40
    cut = len(raw) - 2 * half
    first, last = raw[:half].decode("utf-8", "ignore"), raw[-half:].decode("utf-8", "ignore")
    return f"{first}\n… {cut} bytes left out …\n{last}"
