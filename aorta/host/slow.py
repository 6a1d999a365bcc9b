"""Files on file systems that may hang: asked for through one helper process a mount point.

A thread that waits for a dead file system can not be ended, and its process not either. So the
waiting is left to a process that may be lost: it is killed and forgotten when it stays silent.
"""

import errno
import functools
import json
import math
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import IO, Any, cast

from aorta.host import slow_helper
from aorta.host.protocol import DeadMountError

#: Silence shorter than this is no evidence against a file system, only against the asker's patience.
_EVIDENCE_S = 0.25
_READ_BYTES = 1 << 16
_STILL_MS = 5
_CLOSE_S = 0.5
_START_S = 3.0


class NotAskedError(OSError):
    """A path lies on a file system that may hang, and no helper process can be started to ask it."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(errno.ENOTSUP, f"not asked, since its file system may hang and {why}", path)


def interpreter() -> str | None:
    """Return the program that runs Python code given with ``-c``, or None where there is none."""
    # A frozen application is its own "interpreter" and would start itself once more.
    return None if getattr(sys, "frozen", False) else sys.executable or None


def timed_out(path: str) -> TimeoutError:
    """Return the error for an answer that did not come in the time that its asker had."""
    return TimeoutError(errno.ETIMEDOUT, "no answer came in time", path)


def kill_group(pid: int) -> bool:
    """Kill a process group that has not been reaped; False where that is not allowed."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


class Graveyard:
    """Processes that were killed and may not have ended; they are reaped when they have."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pids: set[int] = set()

    def add(self, process: subprocess.Popen[bytes]) -> None:
        """Take over a killed process, and reap those that have ended."""
        with self._lock:
            if process.poll() is None:
                self._pids.add(process.pid)
                # Its object would otherwise complain, at its own end, of a process still there.
                process.returncode = -signal.SIGKILL
        self.settle(frozenset(), 0)

    def settle(self, pids: Collection[int], seconds: float) -> None:
        """Wait until the processes ``pids`` have ended, ``seconds`` at most."""
        until = time.monotonic() + seconds
        while True:
            with self._lock:
                self._pids = {pid for pid in self._pids if not _reap(pid)}
                left = self._pids.intersection(pids)
            if not left or time.monotonic() >= until:
                return
            time.sleep(_STILL_MS / 1000)


def _reap(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


GRAVEYARD = Graveyard()


class SilenceError(Exception):
    """A helper said nothing for so long that its file system counts as dead."""


class _NoHelperError(Exception):
    """No helper can be started, whatever it is asked."""


class Helper:
    """One helper process. Not for use by two threads at once."""

    def __init__(self, argv: list[str], environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=environ,
            start_new_session=True,
            bufsize=0,
        )
        self.pid = self._process.pid
        self._requests = cast("IO[bytes]", self._process.stdin)
        self._replies = cast("IO[bytes]", self._process.stdout)
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)
        self._buffer = b""

    def send(self, request: dict[str, Any]) -> None:
        """Send a request. Raises BrokenPipeError when the process has ended."""
        self._requests.write(json.dumps(request).encode() + b"\n")

    def reply(self, patience: float, deadline: float) -> dict[str, Any]:
        """Return the next reply.

        Raises SilenceError when no byte came for ``patience`` seconds; TimeoutError at ``deadline``
        (monotonic) when that came first; EOFError when the process has ended.
        """
        heard = time.monotonic()
        parts = [self._buffer]
        while b"\n" not in parts[-1]:
            until = min(heard + patience, deadline)
            self._poll.poll(max(0.0, until - time.monotonic()) * 1000)
            # Asked again without waiting: a stopped and continued process sees its time gone at once.
            if not self._poll.poll(_STILL_MS):
                if time.monotonic() - heard >= patience:
                    raise SilenceError
                raise TimeoutError
            data = os.read(self._replies.fileno(), _READ_BYTES)
            if not data:
                raise EOFError
            heard = time.monotonic()
            parts.append(data)
        line, _, self._buffer = b"".join(parts).partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def signal(self) -> None:
        """Kill the process, so that whoever waits for a reply sees the end."""
        kill_group(self.pid)

    def kill(self) -> None:
        """End the process without waiting for it."""
        self.signal()
        self._requests.close()
        self._replies.close()
        GRAVEYARD.add(self._process)


class Lane:
    """The helper for one mount point and one kind of work, and the queue of those who ask it."""

    def __init__(self, start: Callable[[float], Helper]) -> None:
        self._start = start
        self.queue = threading.Lock()
        self.helper: Helper | None = None

    def exchange(self, request: dict[str, Any], silence_s: float, deadline: float) -> dict[str, Any]:
        """Send a request and return its reply; any failure costs the helper. Needs ``queue``."""
        if self.helper is None:
            self.helper = self._start(deadline)
        # All of a short wait in silence counts too, if it is long enough to mean anything.
        patience = max(min(silence_s, deadline - time.monotonic()), _EVIDENCE_S)
        try:
            self.helper.send(request)
            while (reply := self.helper.reply(patience, deadline)).get("alive"):
                if time.monotonic() >= deadline:
                    raise TimeoutError
        except BaseException:
            self.kill()
            raise
        return reply

    def kill(self) -> None:
        """End the helper, if there is one."""
        helper, self.helper = self.helper, None
        if helper is not None:
            helper.kill()


class SlowFiles:
    """Every helper of a host, and which mount points did not answer.

    ``nested`` are all mount points that may hang. ``limit_s`` is the silence that makes one dead.
    """

    def __init__(self, nested: Iterable[str], environ: Mapping[str, str], limit_s: float) -> None:
        self._points = sorted(nested)
        self._environ = dict(environ)
        self._limit_s = limit_s
        self._lock = threading.Lock()
        self._lanes: dict[tuple[str, bool], Lane] = {}
        self._dead: dict[str, None] = {}
        self._broken = ""
        self._closed = False

    def dead(self) -> list[str]:
        """Return the mount points that did not answer, in the order in which that was found."""
        return list(self._dead)

    def ask(self, mount: str, request: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        """Return the reply to a request about a path at or below ``mount``.

        Raises DeadMountError for silence, now or before; TimeoutError when ``timeout`` seconds
        were too few to tell; NotAskedError; OSError when the helper ended without an answer.
        """
        path = request["path"]
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        # Hashing has a lane of its own, so that nobody waits for a large file to learn a name.
        lane = self._lane(mount, hashing=request["op"] == "sha256")
        wait = -1.0 if timeout is None else min(max(timeout, 0.0), threading.TIMEOUT_MAX)
        if mount in self._dead:
            raise DeadMountError(mount, path)
        if not lane.queue.acquire(timeout=wait):
            raise DeadMountError(mount, path) if mount in self._dead else timed_out(path)
        try:
            return self._exchange(lane, mount, request, deadline)
        finally:
            lane.queue.release()

    def _exchange(self, lane: Lane, mount: str, request: dict[str, Any], deadline: float) -> dict[str, Any]:
        path = request["path"]
        if self._broken:
            raise NotAskedError(path, self._broken)
        if mount in self._dead:
            raise DeadMountError(mount, path)
        if self._closed or time.monotonic() >= deadline:
            raise timed_out(path)
        try:
            reply = lane.exchange(request, self._limit_s, deadline)
        except SilenceError:
            self._dead.setdefault(mount)
            raise DeadMountError(mount, path) from None
        except TimeoutError:
            raise timed_out(path) from None
        except (EOFError, BrokenPipeError, ValueError):
            if self._closed:
                raise timed_out(path) from None
            text = f"the process that reads {mount} ended without an answer"
            raise OSError(errno.EIO, text, path) from None
        except _NoHelperError as error:
            self._broken = str(error)
            raise NotAskedError(path, self._broken) from None
        if "errno" in reply:
            raise OSError(reply["errno"], reply["text"], path)
        return reply

    def _lane(self, mount: str, *, hashing: bool) -> Lane:
        with self._lock:
            key = (mount, hashing)
            if key not in self._lanes:
                self._lanes[key] = Lane(functools.partial(self._start, mount))
            return self._lanes[key]

    def _start(self, mount: str, deadline: float) -> Helper:
        program, source = interpreter(), helper_source()
        if program is None or source is None:
            raise _NoHelperError("no Python interpreter can be started")
        inner = [point for point in self._points if point.startswith(mount + "/")]
        try:
            helper = Helper([program, "-I", "-S", "-c", source, mount, *inner], self._environ)
        except OSError as error:
            why = f"{program} can not be started: {error.strerror}"
            raise _NoHelperError(why) from None
        try:
            helper.reply(max(self._limit_s, _START_S), max(deadline, time.monotonic() + _START_S))
        except SilenceError:
            helper.kill()
            raise TimeoutError from None
        except (EOFError, ValueError):
            helper.kill()
            raise _NoHelperError(f"{program} runs no Python code") from None
        return helper

    def close(self) -> None:
        """End every helper, waiting a moment at most."""
        self._closed = True
        with self._lock:
            lanes = list(self._lanes.values())
        killed = [helper for lane in lanes if (helper := lane.helper) is not None]
        for lane in lanes:
            if lane.queue.acquire(blocking=False):
                lane.kill()
                lane.queue.release()
            elif (helper := lane.helper) is not None:
                # Its asker sees the end of the replies and cleans up.
                helper.signal()
        GRAVEYARD.settle([helper.pid for helper in killed], _CLOSE_S)


def helper_source() -> str | None:
    """Return the text of the helper, also from a zip file; None where only its byte code is there."""
    loader = slow_helper.__loader__
    get_source = getattr(loader, "get_source", None)
    source = get_source(slow_helper.__name__) if get_source else None
    return source if isinstance(source, str) else None
