"""One child process of a command: started in a session of its own, read, and ended for certain."""

import contextlib
import errno
import math
import os
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

from aorta.host.protocol import OUTPUT_LIMIT, Limit
from aorta.host.slow import GRAVEYARD, interpreter, kill_group
from aorta.model.frozen import frozen

#: After the child ended, how long others may keep its output open before they are ended too.
_GRACE_S = 0.2
#: After SIGKILL, how long an end is waited for.
_KILL_WAIT_S = 0.5
_STEP_S = 0.05
_SHORT_STEP_S = 0.001
_READ_BYTES = 1 << 16
#: How long ``end_all`` waits for those that are just starting a process, and then kills at most.
_START_WAIT_S = 0.5

#: Runs ``argv[4]`` in ``argv[3]`` as the words after it. Tells ``R`` through the pipe before that,
#: ``E<errno>`` when it can not be executed and, when it supervises, ``S<exit code>`` when it ended.
_TRAMPOLINE = """
import os, signal, sys
fd, supervise, folder, program, argv = int(sys.argv[1]), sys.argv[2] == "1", *sys.argv[3:5], sys.argv[5:]
os.set_inheritable(fd, False)
os.write(fd, b"R")
for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
    signal.signal(number, signal.SIG_DFL)
if pid := os.fork() if supervise else 0:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(fd, b"S%d" % status)
else:
    try:
        os.chdir(folder)
        os.execve(program, argv, os.environ)
    except OSError as error:
        os.write(fd, b"E%d" % error.errno)
os._exit(0)
"""


_REPORT = re.compile(rb"R(?:E(?P<errno>\d+))?(?:S(?P<status>-?\d+))?")


class _Starts:
    """Which threads are just starting a process, and whether no more may; of atomic steps only."""

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self.over = False


_STARTS = _Starts()


class Stream:
    """One pipe from a child: what it said so far, up to ``limit`` bytes."""

    def __init__(self, fd: int, limit: int = OUTPUT_LIMIT) -> None:
        self.fd = fd
        self.limit = limit
        self.open = True
        self.data = bytearray()
        self.truncated = False

    def read(self) -> None:
        """Take what is there, which must be something or the end."""
        data = os.read(self.fd, _READ_BYTES)
        room = self.limit - len(self.data)
        self.open = bool(data)
        self.data += data[:room]
        self.truncated = self.truncated or len(data) > room


@frozen
class Start:
    """What to start. ``indirect``: by an interpreter, so that this process never waits for exec.

    ``stdin`` is what it reads there; without it there is nothing to be read. ``folder`` is its working
    directory. ``pass_fds`` are further descriptors that it gets. ``spares``: once it has ended by
    itself, what it left running in its session stays; ``sweeps``: nothing of it stays, in whatever
    process group. ``output_limit``: see ``Stream``.
    """

    program: str
    argv: Sequence[str]
    environ: Mapping[str, str]
    indirect: bool = False
    stdin: bytes = b""
    folder: str = "/"
    spares: bool = False
    sweeps: bool = False
    output_limit: int = OUTPUT_LIMIT
    pass_fds: tuple[int, ...] = ()


class Child:
    """A started child process. Raises OSError and ValueError as ``subprocess.Popen`` does.

    After ``follow`` returned, ``ended_by_itself`` tells whether it ended before it was killed;
    ``exit_code`` is negative for a signal and None where it is unknown; ``exec_errno`` tells why an
    indirect program did not start.
    """

    def __init__(self, start: Start) -> None:
        self.exit_code: int | None = None
        self.exec_errno: int | None = None
        self.ended_by_itself = False
        self.cancelled = False
        self._lock = threading.Lock()
        self._reaped = False
        self._spares = start.spares
        self._sweeps = start.sweeps
        self._ended = False
        self._ended_at = math.inf
        # With SIGCHLD ignored the kernel throws every exit status away, and only an own child can tell.
        self._supervised = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
        launcher = interpreter()
        self._report: Stream | None = None
        if launcher is not None and (self._supervised or start.indirect):
            self._process = self._start_indirect(start, launcher)
        else:
            self._process = _popen(
                start.argv,
                start.environ,
                program=start.program,
                pass_fds=start.pass_fds,
                stdin=start.stdin,
                folder=start.folder,
            )
        pipes = [pipe for pipe in (self._process.stdout, self._process.stderr) if pipe is not None]
        self.stdout, self.stderr = (Stream(pipe.fileno(), start.output_limit) for pipe in pipes)
        self._streams = [self.stdout, self.stderr, *([self._report] if self._report else [])]
        self._poll = select.poll()
        for stream in self._streams:
            self._poll.register(stream.fd, select.POLLIN)

    def _start_indirect(self, start: Start, launcher: str) -> "subprocess.Popen[bytes]":
        reader, writer = os.pipe()
        words = [str(writer), str(int(self._supervised)), start.folder, start.program, *start.argv]
        argv = [launcher, "-I", "-S", "-c", _TRAMPOLINE, *words]
        try:
            process = _popen(argv, start.environ, pass_fds=(writer, *start.pass_fds), stdin=start.stdin)
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        self._report = Stream(reader)
        return process

    def follow(self, limit: Limit) -> bool:
        """Read until the child ends or the limit comes; then end what is left of its session.

        Returns False when something of it could not be ended in a bounded time.
        """
        try:
            while not self._done(limit):
                self._pump(min(_STEP_S, max(limit.until - time.monotonic(), 0.0)))
        finally:
            allowed = self._kill()
            settled = self._settle(_KILL_WAIT_S if allowed and not self._ended else _STEP_S)
            self._finish()
        return settled

    def _done(self, limit: Limit) -> bool:
        now = time.monotonic()
        if not self.ended_by_itself:
            if self.cancelled:
                return True
            if not self._has_ended():
                return now >= limit.until
            self.ended_by_itself, self._ended_at = True, now
        return not self._is_open() or now > self._ended_at + _GRACE_S

    def _is_open(self) -> bool:
        """Tell whether anything may still come."""
        return any(stream.open for stream in self._streams)

    def _has_ended(self) -> bool:
        """Look whether the child has ended, and leave it unreaped so that its number stays ours."""
        if self._ended:
            return True
        try:
            found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            self._ended = True
            return True
        if found is None:
            return False
        killed = found.si_code != os.CLD_EXITED
        self.exit_code = -found.si_status if killed else found.si_status
        self._ended = True
        return True

    def _pump(self, wait_s: float) -> None:
        """Take what comes within ``wait_s``, or wait a moment where nothing more can come."""
        if not self._is_open():
            time.sleep(_SHORT_STEP_S)
            return
        for fd, _ in self._poll.poll(wait_s * 1000):
            stream = next(one for one in self._streams if one.fd == fd)
            stream.read()
            if not stream.open:
                self._poll.unregister(fd)

    def _kill(self) -> bool:
        with self._lock:
            if self._reaped:
                return True
            if self._spares and self.ended_by_itself:
                return True
            # A child that ended may have left a daemon on purpose; one that hangs leaves nothing.
            strays = [] if self._ended else descendants(self._process.pid)
            if self._sweeps:
                strays += members(self._process.pid)
            allowed = kill_group(self._process.pid)
            for stray in strays:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(stray, signal.SIGKILL)
            return allowed

    def _settle(self, wait_s: float) -> bool:
        until = time.monotonic() + wait_s
        while True:
            if self._has_ended() and not self._is_open():
                return True
            if time.monotonic() >= until:
                return False
            self._pump(_SHORT_STEP_S)

    def _finish(self) -> None:
        """Close the pipes, reap the child or leave that for later, and read the report."""
        with self._lock:
            self._reaped = True
            with contextlib.suppress(OSError):
                for pipe in (self._process.stdout, self._process.stderr):
                    if pipe is not None:
                        pipe.close()
            GRAVEYARD.add(self._process)
        if self._report is None:
            return
        os.close(self._report.fd)
        report = _REPORT.match(self._report.data)
        if report is not None and report["errno"]:
            self.exec_errno = int(report["errno"])
        elif report is None and self.ended_by_itself:
            self.exec_errno = errno.EIO
        elif self._supervised:
            self.exit_code = int(report["status"]) if report and report["status"] else None

    def cancel(self) -> None:
        """End the child from another thread; ``follow`` then returns soon."""
        self.cancelled = True
        self._kill()


def descendants(pid: int) -> list[int]:
    """Return the living children of a process and theirs, in whatever session they are."""
    found: list[int] = []
    todo = [pid]
    while todo:
        parent = todo.pop()
        found.append(parent)
        for task in _tasks(parent):
            # It ended, or this kernel does not tell.
            with contextlib.suppress(OSError), open(f"{task}/children", encoding="ascii") as file:
                todo += map(int, file.read().split())
    return found[1:]


def members(session: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            state, _, _, number = file.read(4096).rpartition(b")")[2].split()[:4]
            if int(number) == session and state not in b"ZX":
                found.append(int(name))
    return found


def _tasks(pid: int) -> list[str]:
    folder = f"/proc/{pid}/task"
    try:
        return [f"{folder}/{task}" for task in os.listdir(folder)]
    except OSError:
        return []


def end_all() -> None:
    """Kill every process below this one and let no command start any more; for a process about to end.

    Takes no lock, so that a signal handler may call it at any moment.
    """
    _STARTS.over = True
    until = time.monotonic() + _START_WAIT_S
    while _STARTS.under_way - {threading.get_ident()} and time.monotonic() < until:
        time.sleep(_SHORT_STEP_S)
    killed: set[int] = set()
    until = time.monotonic() + _START_WAIT_S
    while time.monotonic() < until and (found := {*descendants(os.getpid())} - killed):
        for pid in found:
            kill_group(pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed |= found


def _popen(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    program: str | None = None,
    pass_fds: tuple[int, ...] = (),
    stdin: bytes = b"",
    folder: str = "/",
) -> "subprocess.Popen[bytes]":
    thread = threading.get_ident()
    source = _file_with(stdin) if stdin else subprocess.DEVNULL
    _STARTS.under_way.add(thread)
    try:
        if _STARTS.over:
            raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
        return subprocess.Popen(
            list(argv),
            executable=program,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environ,
            start_new_session=True,
            pass_fds=pass_fds,
            bufsize=0,
        )
    finally:
        _STARTS.under_way.discard(thread)
        if stdin:
            os.close(source)


def _file_with(data: bytes) -> int:
    """Return the descriptor of a nameless file that holds ``data``; a pipe would not take all at once."""
    descriptor = os.memfd_create("aorta")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(descriptor, 0, os.SEEK_SET)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
