"""Commands: found without a shell, run in a bounded time, told as ``Completed``."""

import contextlib
import errno
import os
import re
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from aorta.host import child_environ
from aorta.host.child import Child, Start
from aorta.host.protocol import (
    PLAIN,
    READ_LIMIT,
    SYSTEM_DIRECTORIES,
    Argv,
    Completed,
    DeadMountError,
    Limit,
    Manner,
    Masked,
)
from aorta.host.scrub import Scrub
from aorta.host.slow import interpreter
from aorta.model.vocabulary import Outcome

_HEAD_BYTES = 4096
_MAX_INTERPRETERS = 5
_ANY_EXECUTE = 0o111
#: What other commands give back when they end: descriptors, processes, memory.
_SHORTAGES = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM}
_SHORTAGE_S = 2.0
_SHORTAGE_STEP_S = 0.02
_PRELOAD_ERROR = re.compile(r"^ERROR: ld\.so: object .* cannot be preloaded.*: ignored\.\n?", re.MULTILINE)


class Files(child_environ.Places, Protocol):
    """What of a host finds programs."""

    def read_bytes(self, path: str, limit: int) -> bytes:
        """Return the first bytes of a file."""


class _NotStarted(Exception):  # noqa: N818 - it ends no more than a search
    """No program was started; carries the outcome and why."""

    def __init__(self, outcome: Outcome, detail: str) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail


class Runner:
    """Runs the commands of one host."""

    def __init__(self, files: Files, environ: Mapping[str, str]) -> None:
        self._files = files
        self._path = environ.get("PATH") or os.defpath
        self._environ = child_environ.ChildEnviron(files, environ)
        self._lock = threading.Lock()
        self._children: set[Child] = set()
        self._closed = False

    def run(
        self,
        argv: Argv,
        *,
        timeout: float | Limit,
        path: Sequence[str] = (),
        stdin: bytes = b"",
        pass_fds: tuple[int, ...] = (),
        sweeps: bool = False,
        manner: Manner = PLAIN,
    ) -> Completed:
        """Run a command until it ends or ``timeout`` (seconds, or a movable point in time) comes.

        Seconds count from when the places in the environment have been looked at, once a host.
        ``stdin`` is what the command reads; without it there is nothing to be read. ``pass_fds`` are
        descriptors that it gets. ``sweeps``: nothing of its session outlives it.
        """
        words = [word.value if isinstance(word, Masked) else word for word in argv]
        environ = self._environ.of("" if manner.as_caller or not words else words[0])
        begun = time.monotonic()
        limit = timeout if isinstance(timeout, Limit) else Limit(begun + timeout)
        try:
            program = self._find(words[0] if words else "", path)
            folder = _working_directory() if manner.as_caller else "/"
            start = Start(
                program=program,
                argv=words,
                environ=environ,
                indirect=self._may_hang_in_exec(program) or self._is_slow(folder),
                stdin=stdin,
                pass_fds=pass_fds,
                sweeps=sweeps,
                folder=folder,
                spares=manner.as_caller,
                output_limit=manner.output_limit,
            )
            child = self._start(start, limit)
        except _NotStarted as failure:
            return Completed(
                outcome=failure.outcome,
                detail=failure.detail,
                elapsed_s=time.monotonic() - begun,
            )
        return self._complete(child, limit, begun, Scrub(argv, self._texts(manner.hides)))

    def close(self) -> None:
        """End all commands. Their ``run`` returns within a moment; later ones do not start."""
        with self._lock:
            self._closed = True
            children = list(self._children)
        for child in children:
            child.cancel()

    def _start(self, start: Start, limit: Limit) -> Child:
        if self._closed:
            raise _NotStarted(Outcome.TIMED_OUT, "the host was closed")
        if time.monotonic() >= limit.until:
            raise _NotStarted(Outcome.TIMED_OUT, "its time was over before it was started")
        child = self._child(start, min(limit.until, time.monotonic() + _SHORTAGE_S))
        with self._lock:
            self._children.add(child)
            if self._closed:
                child.cancelled = True
        return child

    @staticmethod
    def _child(start: Start, until: float) -> Child:
        """Start a child, again until a point in time where only this process's own limits are in the way."""
        while True:
            try:
                return Child(start)
            except (OSError, ValueError) as error:
                short = isinstance(error, OSError) and error.errno in _SHORTAGES
                if not short or time.monotonic() >= until:
                    raise _NotStarted(*_start_failure(error)) from None
            time.sleep(_SHORTAGE_STEP_S)

    def _complete(self, child: Child, limit: Limit, begun: float, scrub: Scrub) -> Completed:
        try:
            settled = child.follow(limit)
        finally:
            with self._lock:
                self._children.discard(child)
        outcome, detail = _outcome(child, settled=settled)
        stdout, stderr = (
            scrub.cut(text) if stream.truncated else text
            for stream in (child.stdout, child.stderr)
            for text in [stream.data.decode("utf-8", "replace")]
        )
        stderr = scrub.diagnostics(stderr)
        return Completed(
            outcome=outcome,
            exit_code=child.exit_code if child.ended_by_itself and not child.exec_errno else None,
            stdout=scrub.output(stdout, good=outcome is Outcome.OK),
            stderr=_PRELOAD_ERROR.sub("", stderr) if "ld.so" in stderr else stderr,
            elapsed_s=time.monotonic() - begun,
            truncated=child.stdout.truncated or child.stderr.truncated,
            detail=detail,
        )

    def _find(self, name: str, path: Sequence[str]) -> str:
        """Return the path of the program that ``name`` means. Raises _NotStarted."""
        denied, silent = "", dict[str, None]()
        for candidate in self._candidates(name, path):
            try:
                found = self._files.stat(candidate)
            except DeadMountError as error:
                silent.setdefault(str(error))
                continue
            except PermissionError:
                # A directory that may not be searched tells nothing of what is in it.
                if "/" in name:
                    denied = denied or candidate
                silent.setdefault(f"{candidate}: Permission denied")
                continue
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                silent.setdefault(f"{candidate}: {error.strerror}")
                continue
            if found.kind == "file" and found.mode & _ANY_EXECUTE:
                return candidate if candidate.startswith("/") else f"{os.getcwd()}/{candidate}"
            denied = denied or candidate
        if denied:
            raise _NotStarted(Outcome.DENIED, f"{denied} can not be executed")
        where = "" if "/" in name else "not on PATH"
        raise _NotStarted(Outcome.NOT_FOUND, "; ".join(filter(None, [where, *silent])))

    def _candidates(self, name: str, path: Sequence[str]) -> Iterator[str]:
        if not name or "\0" in name:
            return
        if "/" in name:
            yield name
            return
        entries = [*self._path.split(":"), *path, *SYSTEM_DIRECTORIES]
        for entry in dict.fromkeys(filter(None, entries)):
            yield f"{entry.rstrip('/')}/{name}"

    def _texts(self, paths: Sequence[str]) -> list[str]:
        """Return the files that a command read, as far as they can be read."""
        texts = []
        for path in paths:
            with contextlib.suppress(OSError):
                texts.append(self._files.read_bytes(path, READ_LIMIT).decode("utf-8", "replace"))
        return texts

    def _is_slow(self, folder: str) -> bool:
        return interpreter() is not None and self._files.slow_mount(folder) is not None

    def _may_hang_in_exec(self, program: str) -> bool:
        """Tell whether the kernel would touch a slow mount to execute a program.

        Then the thread that starts it, and with it the whole process, would wait for that.
        """
        if interpreter() is None or not self._files.slow_points():
            return False
        for _ in range(_MAX_INTERPRETERS):
            if self._files.slow_mount(program) is not None:
                return True
            try:
                program = loader_of(self._files.read_bytes(program, _HEAD_BYTES))
            except OSError:
                return False
            if not program.startswith("/"):
                return False
        return False


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise _NotStarted(Outcome.DENIED, f"the working directory is gone: {error.strerror}") from None


def _start_failure(error: OSError | ValueError) -> tuple[Outcome, str]:
    code = error.errno if isinstance(error, OSError) else None
    missing = code in {errno.ENOENT, errno.ENOTDIR, None}
    text = os.strerror(code) if code else str(error)
    return (Outcome.NOT_FOUND if missing else Outcome.DENIED), text


def _outcome(child: Child, *, settled: bool) -> tuple[Outcome, str]:
    if child.exec_errno is not None:
        return _start_failure(OSError(child.exec_errno, ""))
    if not child.ended_by_itself:
        detail = "the host was closed" if child.cancelled else ""
        if settled:
            return Outcome.TIMED_OUT, detail
        return Outcome.ABANDONED, detail or "it did not end when it was killed"
    if child.exit_code is None:
        return (
            Outcome.EXIT,
            "its exit status was lost, since this process ignores SIGCHLD or reaps all children",
        )
    if child.exit_code < 0:
        return Outcome.SIGNAL, ""
    return (Outcome.EXIT if child.exit_code else Outcome.OK), ""


_PT_INTERP = 3


def loader_of(head: bytes) -> str:
    """Return the program that executes a program, from its first bytes; empty when there is none."""
    if head.startswith(b"#!"):
        words = head[2:].split(b"\n", 1)[0].split(maxsplit=1)
        return os.fsdecode(words[0]) if words else ""
    if head[:6] != b"\x7fELF\x02\x01":
        return ""
    try:
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        for index in range(count):
            (kind,) = struct.unpack_from("<I", head, offset + index * size)
            if kind == _PT_INTERP:
                begin, length = struct.unpack_from("<Q16xQ", head, offset + index * size + 8)
                return os.fsdecode(head[begin : begin + length].rstrip(b"\0"))
    except struct.error:
        return ""
    return ""
