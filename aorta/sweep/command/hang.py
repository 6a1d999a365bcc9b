"""Hangs: a command that, with all below it, for a while wrote and read nothing and used no processor."""

import contextlib
import os
import time

from aorta.model.frozen import frozen
from aorta.sweep.command.processes import Tree, io_of

#: A process that only waits still wakes up now and then: this part of the time is no work, and so many bytes.
IDLE_PART = 0.005
IDLE_BYTES = 4096

_LOOK_S = 1.0
#: The longest time between looks, as a part of the window.
_PART = 0.1
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@frozen
class _Activity:
    """What a trial did so far; ``who`` are its processes, of which a change is an activity too."""

    logs: tuple[int, int] = (0, 0)
    cpu_s: float = 0.0
    moved: int = 0
    who: frozenset[int] | None = None


class HangWatch:
    """Looks at a trial, once a second at most, and flags it after ``window_s`` without activity.

    The time at the start up to ``grace_s`` does not count. Work outside the tree, as that of a container
    whose client waits here, is not seen; so whoever judges clears the flag when the command ends well.
    ``idle_s`` is how long nothing had happened when it was flagged, None while it is not.
    """

    def __init__(
        self, tree: Tree, logs: tuple[int, int], *, window_s: float, grace_s: float, ends: bool
    ) -> None:
        self.idle_s: float | None = None
        self._tree, self._logs, self._window_s, self._ends = tree, logs, window_s, ends
        now = time.monotonic()
        # With a grace period the first look only takes the measure.
        self._last = None if grace_s > 0 else _Activity()
        self._since = now
        self.next_at = now + (grace_s or _LOOK_S)

    def look(self, now: float) -> bool:
        """Compare with the last activity; tell whether the trial hangs and is to be ended for it."""
        seen = self._activity()
        if self._last is None or self._is_active(self._last, seen):
            self._last, self._since, self.idle_s = seen, now, None
        elif now - self._since >= self._window_s:
            self.idle_s = now - self._since
        self.next_at = now + max(_LOOK_S, min(self._window_s * _PART, 5 * _LOOK_S))
        return self._ends and self.idle_s is not None

    def _is_active(self, old: _Activity, new: _Activity) -> bool:
        allowed_s = max(IDLE_PART * self._window_s, _TICK_S / 2)
        return (
            old.logs != new.logs
            or (old.who is not None and old.who != new.who)
            or not 0 <= new.cpu_s - old.cpu_s < allowed_s
            or not 0 <= new.moved - old.moved < IDLE_BYTES
        )

    def _activity(self) -> _Activity:
        found = self._tree.quick()
        sizes = [0, 0]
        for place, handle in enumerate(self._logs):
            with contextlib.suppress(OSError):
                sizes[place] = os.fstat(handle).st_size
        return _Activity(
            logs=(sizes[0], sizes[1]),
            cpu_s=sum(process.ticks for process in found.values()) * _TICK_S,
            moved=sum(map(io_of, found)),
            who=frozenset(found),
        )
