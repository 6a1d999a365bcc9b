"""The process of one workload trial: started, waited for, asked for its stacks, ended for certain."""

import time
from collections.abc import Callable

from aorta.sweep.command.processes import Tree
from aorta.sweep.command.running import run
from aorta.sweep.command.start import opened
from aorta.sweep.workload.watching import Ended, Watch, Worker, end_of
from aorta.workloads.worker import BOOT


def ended(
    worker: Worker, timeout_s: float | None, grace_s: float, over: Callable[[], bool] | None = None
) -> Ended:
    """Run a worker to its end, and end what is left of it. Raises CannotStartError, and OSError for its logs.

    After ``timeout_s``, or when ``over`` says so, its stacks are taken, and it is ended; the signal that
    stops aorta ends it too, and is raised again.
    """
    watches: list[Watch] = []
    began = time.monotonic()

    def watch(tree: Tree) -> Watch:
        watches.append(Watch(worker, tree, None if timeout_s is None else began + timeout_s, over))
        return watches[0]

    argv = [worker.python, "-c", BOOT, worker.request]
    with opened(worker.stdout, worker.stderr) as logs:
        done = run(argv, worker.environ, (logs[0], logs[1]), timeout_s=None, watch=watch, grace_s=grace_s)
    return end_of(worker, watches[0], began, done)
