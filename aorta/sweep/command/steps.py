"""Step times, as the output of a command tells them."""

import math
import re
from collections.abc import Sequence

from aorta.model.frozen import frozen
from aorta.sweep.command.limited import Budget
from aorta.sweep.outcome import NO_SOURCE, PER_STEP, WALL_CLOCK

#: Further steps are counted, and their times are not kept.
MOST_STEPS = 1_000_000


@frozen
class Steps:
    """The steps of a trial: their times in milliseconds, and how many were seen, None where none is told."""

    times_ms: tuple[float, ...] = ()
    source: str = NO_SOURCE
    seen: int | None = None


class StepScan:
    """Finds steps by a regular expression: a group named ``ms`` or ``s``, or the only group, milliseconds."""

    def __init__(self, regex: str) -> None:
        self._regex = re.compile(regex)
        names = self._regex.groupindex
        self._group: int | str = next((name for name in ("ms", "s") if name in names), 1)
        self._factor = 1000.0 if self._group == "s" else 1.0
        self._budget = Budget()
        self.times_ms: list[float] = []
        self.seen = 0

    @property
    def gave_up(self) -> bool:
        """Tell whether the expression took too long."""
        return self._budget.spent

    def scan(self, lines: Sequence[tuple[int, str]]) -> None:
        """Look through the lines of a block, for a limited time."""
        if not self.gave_up:
            self._budget.do(lambda: self._search(lines))

    def _search(self, lines: Sequence[tuple[int, str]]) -> None:
        for _, line in lines:
            for match in self._regex.finditer(line):
                self._take(match)

    def _take(self, match: "re.Match[str]") -> None:
        try:
            time_ms = float(match[self._group] or "") * self._factor
        except ValueError:
            return
        if math.isfinite(time_ms) and time_ms >= 0:
            self.seen += 1
            if self.seen <= MOST_STEPS:
                self.times_ms.append(time_ms)


def steps_of(scan: StepScan | None, *, steps: int, elapsed_s: float, clean: bool) -> Steps:
    """Return the steps of a trial.

    Where the recipe does not look for steps, the elapsed time divided by the ``steps`` that it asks for
    stands for each, if the command ended well.
    """
    if scan is None:
        return Steps(times_ms=(elapsed_s * 1000 / steps,), source=WALL_CLOCK) if clean else Steps()
    if scan.times_ms:
        return Steps(times_ms=tuple(scan.times_ms), source=PER_STEP, seen=scan.seen)
    return Steps(seen=None if scan.gave_up else 0)
