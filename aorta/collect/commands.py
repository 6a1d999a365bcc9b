"""Commands of one capture: each line runs once, side by side, and every caller waits for itself."""

import threading
import time
from collections.abc import Sequence

import attrs

from aorta.collect.answer import unlinked
from aorta.host.protocol import PLAIN, Argv, Completed, Host, Limit, Manner, Masked, shown
from aorta.model.vocabulary import Outcome

AT_ONCE = 16

#: Seconds that a waiter adds for the runner's own clean-up of a command that ran out of time.
GRACE = 0.05


class Job:
    """One running command. ``limit`` is the longest that anyone waits for it, ``manner`` goes to the host.

    When ``ended`` is set, either ``result`` says how, or ``error`` why the host could not be asked.
    """

    def __init__(self, argv: Argv, path: tuple[str, ...], limit: Limit, manner: Manner) -> None:
        self.argv = argv
        self.manner = manner
        self.path = path
        self.limit = limit
        self.ended = threading.Event()
        self.result: Completed | None = None
        self.error: Exception | None = None


@attrs.frozen
class Ticket:
    """One caller's share in a job, until ``until`` (monotonic seconds)."""

    job: Job
    shared: bool
    path: tuple[str, ...]
    asked: float
    until: float


class CommandPool:
    """Runs the commands of one capture on daemon threads, at most 16 at once.

    A line that was asked for before is not run again: who asks later gets the same result, unless the
    program was not found and the later one knows further places. A waiter whose own time is over gets
    ``timed_out`` while the command goes on for those who wait longer.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        # What is secret in a line tells it from others, so the key holds it; it is written nowhere.
        self._jobs: dict[tuple[str, ...], Job] = {}
        self._threads: list[threading.Thread] = []
        #: "unset" or "empty" where commands were run and PATH was that.
        self.lost_path = ""

    def start(self, argv: Argv, timeout: float, path: Sequence[str], manner: Manner = PLAIN) -> Ticket:
        """Start a command, or join one that runs or ran."""
        now = time.monotonic()
        places, until = tuple(path), now + timeout
        key = tuple(word.value if isinstance(word, Masked) else word for word in argv)
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and not _found_nowhere(job, places):
                job.limit.extend(until)
                return Ticket(job, True, places, now, until)
            if not self._jobs:
                self.lost_path = _lost_path(self._host)
            job = self._jobs[key] = Job(argv, places, Limit(until), manner)
        thread = threading.Thread(
            target=self._run, args=(job,), name=f"command {shown(argv)[0] if argv else ''}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:
            job.error = error
            job.ended.set()
        else:
            self._threads.append(thread)
        return Ticket(job, False, places, now, until)

    def _run(self, job: Job) -> None:
        with self._slots:
            try:
                job.result = self._host.run(job.argv, timeout=job.limit, path=job.path, manner=job.manner)
            except Exception as error:
                job.error = error
            finally:
                job.ended.set()

    def wait(self, ticket: Ticket) -> tuple[Ticket, Completed | Exception]:
        """Return how a command ended, that it had not by its time, or why it could not be asked for.

        The ticket that comes back is another one where the command had to be looked for again.
        """
        job = ticket.job
        # The runner itself notices the limit and reports what was printed so far: leave it the time.
        job.ended.wait(max(0.0, ticket.until - time.monotonic()) + GRACE)
        if ticket.shared and _found_nowhere(job, ticket.path):
            left = max(0.0, ticket.until - time.monotonic())
            return self.wait(self.start(job.argv, left, ticket.path, job.manner))
        if job.error is not None:
            return ticket, job.error
        waited = time.monotonic() - ticket.asked
        return ticket, job.result or Completed(outcome=Outcome.TIMED_OUT, elapsed_s=waited)

    def unlinked(self) -> dict[str, list[str]]:
        """Return what the dynamic linker said, and of which programs it said so."""
        told: dict[str, list[str]] = {}
        for job in list(self._jobs.values()):
            said = unlinked(job.result) if job.result is not None else None
            if said:
                programs = told.setdefault(said, [])
                programs += [name for name in shown(job.argv)[:1] if name not in programs]
        return told

    def join(self, until: float) -> None:
        """Wait for the threads of commands that ended, until ``until`` (monotonic seconds) at most."""
        for thread in list(self._threads):
            thread.join(max(0.0, until - time.monotonic()))


def _lost_path(host: Host) -> str:
    try:
        path = host.env("PATH")
    except Exception:
        # A recording may not say.
        return ""
    return "" if path else "unset" if path is None else "empty"


def _found_nowhere(job: Job, path: tuple[str, ...]) -> bool:
    """Tell whether a program was not found in the places of who asked first, and there are others now."""
    missing = job.result is not None and job.result.outcome is Outcome.NOT_FOUND
    return missing and not set(path) <= set(job.path)
