"""The threads that hash files, the largest file first."""

import heapq
import itertools
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

#: hashlib lets other threads run, so as many files are hashed at once as there are processors.
MOST_WORKERS = 16


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class HashPool:
    """A queue of jobs by size and the threads that do them; these end when nothing is left."""

    def __init__(self, work: Callable[[Any], None], workers: int) -> None:
        self._work = work
        self._workers = workers
        self._queue: list[tuple[int, int, Any]] = []
        self._numbers = itertools.count()
        self._running = 0
        self._lock = threading.Lock()

    def submit(self, jobs: Iterable[tuple[int, Any]]) -> None:
        """Add jobs, each with its size in bytes."""
        with self._lock:
            for size, job in jobs:
                heapq.heappush(self._queue, (-size, next(self._numbers), job))
            wanted = min(self._workers, self._running + len(self._queue)) - self._running
            self._running += wanted
        for started in range(wanted):
            try:
                threading.Thread(target=self._run, name="hash", daemon=True).start()
            except RuntimeError:
                # No more threads for this user: who asks does the work, if nobody else is there to.
                with self._lock:
                    self._running -= wanted - started
                    alone = not self._running
                    self._running += alone
                if alone:
                    self._run()
                return

    def clear(self) -> None:
        """Drop what is not begun."""
        with self._lock:
            self._queue.clear()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._running -= 1
                    return
                job = heapq.heappop(self._queue)[2]
            self._work(job)
