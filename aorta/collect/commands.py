"""Commands of one capture: each line runs once, side by side, and every caller waits for itself."""

import threading
import time
from collections.abc import Sequence

from aorta.host.protocol import Argv, Completed, Host, Limit, shown
from aorta.model.vocabulary import Outcome

AT_ONCE = 16


class Job:
    """One running command. ``limit`` is the longest that anyone waits for it."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.ended = threading.Event()
        self.result: Completed | None = None


class CommandPool:
    """Runs the commands of one capture on daemon threads, at most 16 at once.

    A line that was asked for before is not run again: who asks later gets the same result. A waiter
    whose own time is over gets ``timed_out`` while the command goes on for those who wait longer.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._jobs: dict[tuple[str, ...], Job] = {}

    def start(self, argv: Argv, timeout: float, path: Sequence[str]) -> tuple[Job, bool]:
        """Start a command, or join one that runs or ran; tell whether it is shared."""
        until = time.monotonic() + timeout
        key = tuple(shown(argv))
        with self._lock:
            job = self._jobs.get(key)
            if job is not None:
                job.limit.extend(until)
                return job, True
            job = self._jobs[key] = Job(Limit(until))
        threading.Thread(
            target=self._run, args=(job, argv, path), name=f"command {key[0]}", daemon=True
        ).start()
        return job, False

    def _run(self, job: Job, argv: Argv, path: Sequence[str]) -> None:
        with self._slots:
            try:
                job.result = self._host.run(argv, timeout=job.limit, path=path)
            except Exception as error:
                detail = f"{type(error).__name__}: {error}"
                job.result = Completed(outcome=Outcome.DENIED, detail=detail)
            finally:
                job.ended.set()

    def wait(self, job: Job, until: float) -> Completed:
        """Return how a command ended, or that it had not by ``until`` (monotonic seconds)."""
        # The runner itself notices the limit and reports what was printed so far: leave it the time.
        job.ended.wait(max(0.0, until - time.monotonic()) + GRACE)
        return job.result or Completed(outcome=Outcome.TIMED_OUT)


#: Seconds that a waiter adds for the runner's own clean-up of a command that ran out of time.
GRACE = 0.05
