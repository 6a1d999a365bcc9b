"""The processes of a trial: which they are, what they used, and signals that reach them and nothing else."""

import contextlib
import functools
import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from aorta.model.frozen import frozen
from aorta.sweep.variables import MARKS, RANK


@frozen
class Process:
    """A line of ``/proc/PID/stat``. ``ticks``: of the processor, with those of its children that ended.

    ``started`` in ticks since the machine's start: with the number it is unique.
    """

    pid: int
    state: str
    parent: int
    group: int
    session: int
    ticks: int
    started: int

    @property
    def alive(self) -> bool:
        """Tell whether it is neither ended nor gone."""
        return self.state not in "ZX"


def look_at(pid: int) -> Process | None:
    """Return what ``/proc`` says of a process; None for none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read(4096).rpartition(b")")[2].split()
        state, (parent, group, session) = words[0].decode(), map(int, words[1:4])
        ticks, started = sum(map(int, words[11:15])), int(words[19])
    except (OSError, ValueError, IndexError):
        return None
    return Process(
        pid=pid, state=state, parent=parent, group=group, session=session, ticks=ticks, started=started
    )


def children_of(pid: int) -> set[int] | None:
    """Return the children of a process, the ended ones too; None where this kernel does not list them."""
    found: set[int] = set()
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found.update(map(int, file.read().split()))
        except FileNotFoundError:
            if not os.path.exists("/proc/thread-self/children"):
                return None
        except OSError:
            pass
    return found


def io_of(pid: int) -> int:
    """Return the bytes that a process read and wrote by system calls; 0 where that is not told."""
    try:
        with open(f"/proc/{pid}/io", "rb") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith((b"rchar", b"wchar")))
    except (OSError, ValueError, IndexError):
        return 0


def has_variables(pid: int, wanted: Iterable[bytes]) -> bool:
    """Tell whether a process was started with variables (``NAME=value``); not where that may not be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = set(file.read().split(b"\0"))
    except OSError:
        return False
    return variables.issuperset(wanted)


class Processes(Protocol):
    """Processes that are to be ended, and how they are found."""

    def quick(self) -> dict[int, Process]:
        """Return those alive that can be found cheaply, by their number."""

    def thorough(self) -> dict[int, Process]:
        """Return those alive out of all processes of the machine."""

    def reap(self) -> None:
        """Take note of the end of those that are children of this process."""


class Leavable(Processes, Protocol):
    """Processes that something may have left."""

    def left(self) -> bool:
        """Tell whether any may be alive, as cheaply as can be told."""


class Tree:
    """The processes of one trial: of its session, below its first process, and those it let go.

    Those that were let go become children of this process (``adopting``), so nothing else may start
    processes in sessions of their own while a trial runs. ``root`` is the first process, which must stay
    unreaped for as long as the tree is used; it may be there before the trial.
    """

    def __init__(self, environ: Mapping[str, str], root: int | None = None) -> None:
        self.root = root
        self._own = os.getpid()
        self._session = os.getsid(0)
        before = children_of(self._own)
        self._before = None if before is None else before - {root}
        self._is_marked = all(name in environ for name in MARKS)
        marks = [name for name in (*MARKS, RANK) if name in environ]
        self._marks = [os.fsencode(f"{name}={environ[name]}") for name in marks]

    def left(self) -> bool:
        """Tell whether anything but the first process may be alive, as cheaply as can be told."""
        now = children_of(self._own)
        if now is None or self._before is None or not _is_subreaper():
            return bool(self.thorough())
        return bool(now - self._before - {self.root}) and bool(self.quick())

    def quick(self) -> dict[int, Process]:
        """Return those alive that can be reached from the first process and from what became ours."""
        now = children_of(self._own)
        if now is None or self._before is None:
            return self.thorough()
        todo = [pid for pid in now - self._before if self._is_of_trial(pid)]
        found: dict[int, Process] = {}
        while todo:
            pid = todo.pop()
            process = look_at(pid)
            if process is not None and process.alive and pid not in found:
                found[pid] = process
                todo += children_of(pid) or ()
        return found

    def thorough(self) -> dict[int, Process]:
        """Return those alive out of all processes of the machine."""
        known = {
            int(name): process
            for name in os.listdir("/proc")
            if name.isdigit() and (process := look_at(int(name))) is not None
        }
        seeds = {pid for pid, process in known.items() if self._is_seed(process)}
        below: dict[int, list[int]] = {}
        for pid, process in known.items():
            below.setdefault(process.parent, []).append(pid)
        todo, found = list(seeds), set()
        while todo:
            pid = todo.pop()
            if pid not in found:
                found.add(pid)
                todo += below.get(pid, ())
        return {pid: known[pid] for pid in found if known[pid].alive}

    def _is_of_trial(self, pid: int) -> bool:
        if pid == self.root:
            return True
        process = look_at(pid)
        return process is not None and process.session != self._session

    def _is_seed(self, process: Process) -> bool:
        pid = process.pid
        if pid == self._own or process.session == self._session:
            return False
        if self.root is not None and self.root in (pid, process.session, process.group):
            return True
        if process.parent == self._own:
            return self._before is not None and pid not in self._before
        return self._is_marked and has_variables(pid, self._marks)

    def reap(self) -> None:
        """Take note of the end of those that became ours and ended."""
        for pid in (children_of(self._own) or set()) - (self._before or set()) - {self.root}:
            process = look_at(pid)
            if process is not None and not process.alive and process.session != self._session:
                with contextlib.suppress(OSError):
                    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)


def tell(processes: Iterable[Process], *numbers: signal.Signals) -> None:
    """Send signals to processes, and to no other that may have got the number of one meanwhile."""
    for process in processes:
        with contextlib.suppress(OSError):
            _tell(process, numbers)


def _tell(process: Process, numbers: tuple[signal.Signals, ...]) -> None:
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    except (OSError, AttributeError):
        handle = -1
    try:
        now = look_at(process.pid)
        if now is None or now.started != process.started:
            return
        for number in numbers:
            if handle < 0:
                os.kill(process.pid, number)
            else:
                signal.pidfd_send_signal(handle, number)
    finally:
        if handle >= 0:
            os.close(handle)


@contextlib.contextmanager
def adopting() -> Iterator[None]:
    """Let orphans of the trial become children of this process instead of the machine's first one.

    Where that fails they are found by their session and their variables alone.
    """
    was = _be_subreaper(True)
    try:
        yield
    finally:
        if not was:
            _be_subreaper(False)


@functools.cache
def _library() -> Any:
    import ctypes

    return ctypes, ctypes.CDLL(None).prctl


def _is_subreaper() -> bool:
    """Tell whether orphans come to this process (prctl 37)."""
    ctypes, prctl = _library()
    found = ctypes.c_int(0)
    prctl(37, ctypes.byref(found), 0, 0, 0)
    return bool(found.value)


def _be_subreaper(on: bool) -> bool:
    """Set whether orphans come to this process (prctl 36), and return whether they did."""
    was = _is_subreaper()
    if was != on:
        _library()[1](36, int(on), 0, 0, 0)
    return was
