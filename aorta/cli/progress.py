"""What a capture is doing, on standard error."""

import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aorta.collect.orchestrator import Orchestrator

#: Nothing is shown of a capture that is over sooner.
PATIENCE_S = 0.6
STEP_S = 0.2


class Progress:
    """One line that is renewed on a terminal; a line for each change where that was asked for elsewhere."""

    def __init__(self, *, shown: bool, renewed: bool) -> None:
        self._shown = shown
        self._renewed = renewed
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._last = ""

    @classmethod
    def of(cls, wanted: bool | None) -> "Progress":
        """Return what was asked for; None means: on a terminal only."""
        terminal = sys.stderr is not None and sys.stderr.isatty()
        return cls(shown=terminal if wanted is None else wanted, renewed=terminal)

    def start(self, run: "Orchestrator") -> None:
        """Begin to watch a capture."""
        if self._shown and sys.stderr is not None:
            self._thread = threading.Thread(target=self._watch, args=(run,), name="progress", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End watching; the line is taken away."""
        if self._thread is None:
            return
        self._over.set()
        self._thread.join()
        if self._renewed and self._last:
            self._print("\r\x1b[K")

    def _watch(self, run: "Orchestrator") -> None:
        if self._renewed and self._over.wait(PATIENCE_S):
            return
        while True:
            line = self._line(run)
            if line and (line != self._last or self._renewed):
                self._print(f"\r\x1b[K{line}" if self._renewed else f"{line}\n")
                self._last = line
            if self._over.wait(STEP_S):
                return

    def _line(self, run: "Orchestrator") -> str:
        done = len(run.results)
        at_work = sorted(run.running())
        if not at_work:
            return ""
        what = ", ".join(at_work[:4]) + (" …" if len(at_work) > 4 else "")
        seconds = f"{time.monotonic() - run.started:.0f} s, " if self._renewed else ""
        return f"aorta: {seconds}{done} done, at work: {what}"[:118]

    def _print(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._over.set()
