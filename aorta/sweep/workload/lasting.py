"""The interpreter of a rank that lasts for all its trials, one after another, and starts anew when lost."""

import contextlib
import fcntl
import functools
import os
import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence

from aorta.instrumentation.process import enders
from aorta.model.frozen import frozen
from aorta.sweep.command.ending import (
    STOPPED_GRACE_S,
    STOPPED_KILL_S,
    end,
    end_left,
    kill_at_once,
    left_text,
    reap,
)
from aorta.sweep.command.processes import Process, Tree, adopting
from aorta.sweep.command.running import SEARCH_S, CannotStartError, Ran
from aorta.sweep.command.start import ends_are_told, opened, signals_later, start
from aorta.sweep.command.waiting import EXITED, Status, Waiter, status_of
from aorta.sweep.workload.in_process import is_stopping
from aorta.sweep.workload.watching import LINGER_S, Ended, Watch, Worker, end_of
from aorta.workloads.lasting import READY
from aorta.workloads.worker import BOOT

#: How a trial ended whose interpreter is ready for the next one.
_READY = "ready"
_LINE_BYTES = 4096
#: Descriptors from here on are not one that the interpreter gets.
_ABOVE = 10


class _Bell:
    """Waits for what tells that the next trial may come, and looks with the trial's own watch.

    ``kept`` are then the numbers of processes that stay with the interpreter.
    """

    def __init__(self, channel: socket.socket, watch: Watch) -> None:
        self._channel = channel
        self._watch = watch
        self._is_deaf = False
        self.rang = False
        self.kept: frozenset[int] = frozenset()
        self.next_at = 0.0

    def look(self, now: float) -> bool:
        """Tell whether to wait no longer: it rang, or the process is to be ended."""
        if not self._is_deaf:
            self.rang = self._hears(max(self._watch.next_at - now, 0.0))
        if self._is_deaf:
            self.next_at = self._watch.next_at
        now = time.monotonic()
        return self.rang or (now >= self._watch.next_at and self._watch.look(now))

    def _hears(self, wait_s: float) -> bool:
        if not select.select([self._channel], (), (), wait_s)[0]:
            return False
        try:
            heard = self._channel.recv(_LINE_BYTES).split()
        except OSError:
            heard = []
        self.kept = frozenset(int(word) for word in heard[1:] if word.isdigit())
        # Else the other end is closed: by the end of the process, or by the workload.
        self._is_deaf = heard[:1] != [READY]
        return not self._is_deaf


class _Others:
    """The processes of a trial but the first, which goes on, and those that stay with it."""

    def __init__(self, tree: Tree, kept: frozenset[int]) -> None:
        self._tree = tree
        self._kept = kept | {tree.root}
        self.reap = tree.reap

    def left(self) -> bool:
        """Tell whether any is alive."""
        return bool(self.quick())

    def quick(self) -> dict[int, Process]:
        """Return those alive that can be found cheaply."""
        return self._without(self._tree.quick())

    def thorough(self) -> dict[int, Process]:
        """Return those alive out of all processes of the machine."""
        return self._without(self._tree.thorough())

    def _without(self, found: dict[int, Process]) -> dict[int, Process]:
        return {pid: process for pid, process in found.items() if pid not in self._kept}


@frozen
class _Interpreter:
    """One that has been started: its process, and where it is asked."""

    pid: int
    channel: socket.socket

    def has_ended(self) -> bool:
        """Tell whether it is known to have ended."""
        return status_of(self.pid) != Status()

    def ask(self, request: str, logs: Sequence[int]) -> None:
        """Ask for a trial; one that cannot be asked has ended or is about to."""
        with contextlib.suppress(OSError):
            socket.send_fds(self.channel, [os.fsencode(request)], list(logs))


class Lasting:
    """Runs workers' trials in one interpreter. ``grace_s`` is between SIGTERM and SIGKILL."""

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._here: _Interpreter | None = None
        self._told = contextlib.ExitStack()

    def ended(self, worker: Worker, timeout_s: float | None, over: Callable[[], bool] | None) -> Ended:
        """Run a trial to its end. Raises CannotStartError, and OSError for its logs.

        What it left is ended then, and the interpreter too where the trial did not answer in time or ``over``
        says so; the signal that stops aorta ends it too, and is raised again.
        """
        if self._here is not None and self._here.has_ended():
            self._forget()
        tree = Tree(worker.environ, None if self._here is None else self._here.pid)
        began = time.monotonic()
        with opened(worker.stdout, worker.stderr) as logs, self._ending(tree):
            with signals_later():
                here = self._asked(worker, logs)
                tree.root = here.pid
            watch = Watch(worker, tree, None if timeout_s is None else began + timeout_s, over)
            done = self._follow(here, tree, watch, began)
        return end_of(worker, watch, began, done)

    @contextlib.contextmanager
    def _ending(self, tree: Tree) -> Iterator[None]:
        """End all of the trial's processes when something is raised."""
        ender = functools.partial(kill_at_once, tree)
        enders.add(ender)
        try:
            with adopting():
                try:
                    yield
                except BaseException:
                    if tree.root is not None:
                        end(tree, STOPPED_GRACE_S, STOPPED_KILL_S)
                    self._forget()
                    raise
                finally:
                    tree.reap()
        finally:
            enders.discard(ender)

    def _asked(self, worker: Worker, logs: tuple[int, ...]) -> _Interpreter:
        """Ask for a trial; the first one is that which an interpreter is started with."""
        if self._here is not None:
            self._here.ask(worker.request, logs)
            return self._here
        self._told.enter_context(ends_are_told())
        # Each request is one packet.
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            above = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
            try:
                argv = [worker.python, "-c", BOOT, worker.request]
                pid = start(argv, worker.environ, (logs[0], logs[1]), above)
            except (OSError, ValueError) as error:
                ours.close()
                raise CannotStartError(error) from error
            finally:
                os.close(above)
        self._here = _Interpreter(pid=pid, channel=ours)
        return self._here

    def _follow(self, here: _Interpreter, tree: Tree, watch: Watch, began: float) -> Ran:
        bell = _Bell(here.channel, watch)
        waiter = Waiter(here.pid)
        try:
            how = waiter.wait(None, bell)
        finally:
            waiter.close()
        elapsed_s = time.monotonic() - began
        search = elapsed_s > SEARCH_S
        if bell.rang:
            notes = left_text(*end_left(_Others(tree, bell.kept), search=search))
            return Ran(how=_READY, status=Status(), elapsed_s=elapsed_s, notes=notes)
        if how == EXITED:
            notes = left_text(*end_left(tree, search=search))
        else:
            notes = left_text(0, end(tree, self._grace_s))
            elapsed_s = time.monotonic() - began
        status = status_of(here.pid)
        self._forget()
        return Ran(how=how, status=status, elapsed_s=elapsed_s, notes=notes)

    def _forget(self) -> None:
        """Give back what was held of an interpreter that has ended."""
        if self._here is not None:
            self._here.channel.close()
            reap(self._here.pid)
            self._here = None
        self._told.close()

    def close(self) -> None:
        """Let the interpreter end, and make it end when it does not."""
        here = self._here
        if here is None:
            return
        tree = Tree({}, here.pid)
        with self._ending(tree):
            here.channel.close()
            waiter = Waiter(here.pid)
            try:
                wait_s = STOPPED_GRACE_S if is_stopping() else LINGER_S
                waiter.wait(time.monotonic() + wait_s, None)
            finally:
                waiter.close()
            if here.has_ended():
                end_left(tree, search=False)
            else:
                end(tree, self._grace_s)
            self._forget()
