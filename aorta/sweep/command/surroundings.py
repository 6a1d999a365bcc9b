"""What is looked at around a trial: the kernel's log, the memory of GPUs, core dumps, killed processes."""

import time

from aorta.sweep.command.catalogue import WARN, Enabled, fired
from aorta.sweep.command.exits import CoreDumps, End, OomKills, core_finding
from aorta.sweep.outcome import Finding

_LOOK_S = 1.0
#: A driver gives memory back a moment after a process ended.
_LATE_S = (0.05, 0.2)


class Surroundings:
    """The machine around the trials of a run. What can be read is found out once."""

    def __init__(self, enabled: Enabled, *, growth: bool) -> None:
        from aorta.sweep.command.vram import Vram

        self.notes: tuple[str, ...] = ()
        self.vram = Vram()
        self._enabled = enabled
        self._growth = growth and enabled("tier3:vram_growth")
        self._oom_kills = OomKills()
        self._cores = CoreDumps()
        self._log = None
        if enabled.tier("tier3"):
            from aorta.sweep.command.kernel_log import open_kernel_log

            self._log = open_kernel_log(has_gpu=bool(self.vram))
            if self._log is None:
                self.notes = ("the kernel log cannot be read by this user, so nothing of it is seen (tier3)",)

    def begin(self) -> None:
        """Take the measure before a trial."""
        self._since = time.time()
        self._kills = self._oom_kills.count()
        self._used = self.vram.used() if self.vram else {}
        if self._log is not None:
            self._log.begin()

    def oom_kills(self) -> int:
        """Return how many processes of the cgroup were killed for want of memory since the beginning."""
        return max(self._oom_kills.count() - self._kills, 0)

    def findings(self, end: End, folders: tuple[str, ...]) -> list[Finding]:
        """Return what happened around a trial that has ended. Core dumps are looked for in ``folders``."""
        found: list[Finding | None] = [
            core_finding(self._cores.new(folders, self._since), end),
            self._grown() if self._growth else None,
        ]
        messages = self._log.messages() if self._log is not None else []
        if messages:
            from aorta.sweep.command.kernel_patterns import kernel_findings

            found += kernel_findings(messages, clean=end.clean)
        ids = {one.id for one in found if one is not None}
        if end.oom_kills and "tier3:oom_kill" not in ids:
            text = f"the kernel killed {end.oom_kills} of this cgroup's processes for want of memory"
            found.append(fired("tier3:oom_kill", text, "cgroup", effect=WARN if end.clean else None))
        return [one for one in found if one is not None and self._enabled(one.id)]

    def _grown(self) -> Finding | None:
        if not self._used:
            return None
        from aorta.sweep.command.vram import grown

        finding = grown(self._used, self.vram.used())
        for wait_s in _LATE_S:
            if finding is not None:
                time.sleep(wait_s)
                finding = grown(self._used, self.vram.used())
        return finding


class VramWatch:
    """Looks once a second at how much memory is in use of the fullest GPU; ``peak_mib`` is the most of it."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.peak_mib: float | None = None
        self._vram = surroundings.vram
        self.next_at = time.monotonic()
        self.look(self.next_at)

    def look(self, now: float) -> bool:
        """Take note; it ends no trial."""
        used = max(self._vram.used().values(), default=None)
        if used is not None:
            self.peak_mib = max(self.peak_mib or 0.0, used / (1 << 20))
        self.next_at = now + _LOOK_S
        return False
