"""One run of a command, from its start until nothing of it is left."""

import functools
import time
from collections.abc import Callable, Mapping, Sequence

from aorta.instrumentation.process import enders
from aorta.model.frozen import frozen
from aorta.sweep.command.ending import (
    GRACE_S,
    STOPPED_GRACE_S,
    STOPPED_KILL_S,
    end,
    end_left,
    kill_at_once,
    left_text,
    reap,
)
from aorta.sweep.command.processes import Tree, adopting
from aorta.sweep.command.start import ends_are_told, signals_later, start
from aorta.sweep.command.waiting import EXITED, Status, Waiter, Watch, status_of


class CannotStartError(Exception):
    """A command was not started; ``error`` says why."""

    def __init__(self, error: OSError | ValueError) -> None:
        super().__init__(str(error))
        self.error = error


#: After a trial of more seconds a look at all processes of the machine costs little.
SEARCH_S = 1.0

#: Makes what looks at the processes of a trial while it is waited for.
WatchMaker = Callable[[Tree], "Watch | None"]


@frozen
class Ran:
    """How a command ended, and notes on what it left."""

    how: str
    status: Status
    elapsed_s: float
    notes: tuple[str, ...] = ()


def run(
    argv: Sequence[str],
    environ: Mapping[str, str],
    logs: tuple[int, int],
    *,
    timeout_s: float | None,
    watch: WatchMaker,
    grace_s: float = GRACE_S,
) -> Ran:
    """Run a command to its end, or to that of its time. Nothing of it is left then, whatever is raised.

    ``grace_s`` is between SIGTERM and SIGKILL for one that has to be ended.

    Raises CannotStartError, and what signals raise.
    """
    tree = Tree(environ)
    ender = functools.partial(kill_at_once, tree)
    with ends_are_told(), adopting():
        try:
            with signals_later():
                enders.add(ender)
                began = time.monotonic()
                tree.root = _started(argv, environ, logs)
            return _follow(tree, tree.root, began, timeout_s, watch, grace_s)
        except BaseException:
            if tree.root is not None:
                end(tree, STOPPED_GRACE_S, STOPPED_KILL_S)
            raise
        finally:
            if tree.root is not None:
                tree.reap()
                reap(tree.root)
            enders.discard(ender)


def _started(argv: Sequence[str], environ: Mapping[str, str], logs: tuple[int, int]) -> int:
    try:
        return start(argv, environ, logs)
    except (OSError, ValueError) as error:
        raise CannotStartError(error) from error


def _follow(
    tree: Tree, root: int, began: float, timeout_s: float | None, watch: WatchMaker, grace_s: float
) -> Ran:
    waiter = Waiter(root)
    try:
        how = waiter.wait(None if timeout_s is None else began + timeout_s, watch(tree))
    finally:
        waiter.close()
    elapsed_s = time.monotonic() - began
    if how == EXITED:
        left, stuck = end_left(tree, search=elapsed_s > SEARCH_S)
    else:
        left, stuck = 0, end(tree, grace_s)
        elapsed_s = time.monotonic() - began
    return Ran(how=how, status=status_of(root), elapsed_s=elapsed_s, notes=left_text(left, stuck))
