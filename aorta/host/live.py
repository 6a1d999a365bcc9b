"""``LiveHost``: this machine, as it answers now."""

import binascii
import codecs
import errno
import hashlib  # noqa: F401 - now, since importing it later looks at all of sys.path, which may have died
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from aorta.host import packages, slow_helper
from aorta.host.elf import Elf, parse_elf
from aorta.host.interpreter import FACTS_S, Interpreters, shown
from aorta.host.local_types import MOUNTINFO_LIMIT
from aorta.host.mountinfo import MountTable, parse_mountinfo
from aorta.host.observe import package_libraries
from aorta.host.patterns import found_in
from aorta.host.protocol import (
    CHILD,
    IMPORT,
    PLAIN,
    READ_LIMIT,
    Argv,
    Completed,
    Distribution,
    Entry,
    FileSystem,
    Limit,
    Manner,
    Module,
    Stat,
)
from aorta.host.redaction import Redaction, secrets_of
from aorta.host.runner import Runner
from aorta.host.slow import SlowFiles, timed_out

_MAX_MOVES = 40

#: Large directories as they were listed last in this process: one that has not changed is the same object.
LARGE, LISTINGS = 200, 32
_LISTINGS: dict[tuple[str, bool], tuple[list[Any], list[Entry]]] = {}
_UTF8_MAX = 4


class LiveHost:
    """The machine that this process runs on.

    ``env`` overlays the environment of the process as it was when the host was made; None unsets a
    variable. ``slow_limit_s`` is how long a file system that may hang can stay silent before it
    counts as dead. ``python`` is the program of another interpreter: what is asked about Python is
    asked of that one then, which has ``python_limit_s`` seconds to say what it is. All operations may
    be used by many threads at once.
    """

    kind = "live"
    remembers = True

    def __init__(
        self,
        *,
        env: Mapping[str, str | None] | None = None,
        slow_limit_s: float = 3.0,
        python: str | None = None,
        python_limit_s: float = FACTS_S,
    ) -> None:
        merged = {**os.environ, **(env or {})}
        self._environ = {name: value for name, value in merged.items() if value is not None}
        self._slow_limit_s = slow_limit_s
        self._lock = threading.Lock()
        self._seen: tuple[MountTable, SlowFiles] | None = None
        self._directories: dict[str, str] = {}
        self._runner = self._asker = Runner(self, self._environ)
        libraries = package_libraries() if python is None else None
        if libraries is not None:
            # This process's double is to find the libraries that this process finds.
            self._asker = Runner(self, {**self._environ, "LD_LIBRARY_PATH": libraries})
        self.interpreters = Interpreters(
            self._ask_program,
            python,
            limit_s=python_limit_s,
            may_search=lambda: not self.slow_points(),
        )
        self._packages = packages.Packages(self, self.interpreters.facts if python else None)

    def read_text(self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None) -> str:
        """Return the first ``limit`` bytes of a file as text; a character cut by it is left out."""
        data = self.read_bytes(path, limit, timeout=timeout)
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=len(data) < limit)

    def read_bytes(
        self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None, offset: int = 0
    ) -> bytes:
        """Return up to ``limit`` bytes of a regular file, from ``offset`` on."""
        data: bytes = self._ask("read", path, timeout, limit=limit, offset=offset)
        return data

    def link(self, path: str, *, timeout: float | None = None) -> str:
        """Return the text of a symbolic link."""
        text: str = self._ask("link", path, timeout, follow=False)
        return text

    def stat(self, path: str, *, timeout: float | None = None, follow: bool = True) -> Stat:
        """Return what the path (with ``follow``: what it leads to) is."""
        return Stat(**self._ask("stat", path, timeout, follow=follow))

    def scan(self, path: str, *, timeout: float | None = None, details: bool = True) -> list[Entry]:
        """Return the members of a directory, sorted; of a slow mount point only that it is there."""
        members = self._ask("scan", path, timeout, details=details)
        before, entries = _LISTINGS.get((path, details), ([], []))
        if members and members == before:
            return entries
        entries = [_entry(*member) for member in members]
        if len(members) >= LARGE:
            while len(_LISTINGS) >= LISTINGS:
                _LISTINGS.pop(next(iter(_LISTINGS)), None)
            _LISTINGS[path, details] = members, entries
        return entries

    def sha256(self, path: str, *, timeout: float | None = None) -> str:
        """Return the hexadecimal digest of a regular file's content."""
        digest: str = self._ask("sha256", path, timeout)
        return digest

    def elf(self, path: str, symbols: str | None = None, *, timeout: float | None = None) -> Elf:
        """Return what an ELF file says to the dynamic linker."""
        until = None if timeout is None else time.monotonic() + timeout

        def read(offset: int, size: int) -> bytes:
            left = None if until is None else max(0.0, until - time.monotonic())
            return self.read_bytes(path, size, timeout=left, offset=offset)

        return parse_elf(read, self.stat(path, timeout=timeout).size, symbols)

    def filesystem(self, path: str, *, timeout: float | None = None) -> FileSystem:
        """Return what kind of file system holds what the path leads to."""
        real, point = self._route(_absolute(path), follow=True)
        holder = self._mounts.slow.get(point) if point is not None else self._mounts.holder(real)
        return FileSystem(kind=holder.fs_type if holder else "", may_hang=point is not None)

    def find(self, path: str, pattern: str, *, timeout: float | None = None) -> list[str]:
        """Return what group 1 of a pattern matches in a file's first bytes."""
        return found_in(self.read_bytes(path, timeout=timeout), pattern)

    def run(
        self,
        argv: Argv,
        *,
        timeout: float | Limit,
        path: Sequence[str] = (),
        manner: Manner = PLAIN,
    ) -> Completed:
        """Run a command without a shell and return how it ended."""
        return self._runner.run(argv, timeout=timeout, path=path, manner=manner)

    def workers(self) -> Runner:
        """Return what starts processes of aorta itself, which find the libraries that this process finds."""
        return self._asker

    def env(self, name: str) -> str | None:
        """Return a variable of the environment."""
        return self._environ.get(name)

    def env_names(self, prefix: str = "") -> list[str]:
        """Return the names of the set variables that begin with ``prefix``, sorted."""
        return sorted(name for name in self._environ if name.startswith(prefix))

    def distribution(self, name: str) -> Distribution | None:
        """Return the installed distribution of that name that would be found first."""
        return self._packages.distribution(name)

    def module(self, name: str) -> Module | None:
        """Return where a top-level module would be imported from, or None."""
        return self._packages.module(name)

    def resource(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return the first ``limit`` bytes of a file of a Python package, also of one inside a zip file."""
        try:
            return self.read_bytes(path, limit)
        except NotADirectoryError:
            return packages.zipped(self, path, limit)

    def torch(self, how: str, *, timeout: float) -> dict[str, Any]:
        """Return what torch says of itself; another interpreter's is asked in a process, or not at all."""
        # What a program prints and raises may be any text, and the values of its own environment.
        return shown(self._torch(how, timeout), Redaction(secrets_of(self._environ)).text)

    def _torch(self, how: str, timeout: float) -> dict[str, Any]:
        foreign = self.interpreters.program is not None
        if how == CHILD or (foreign and how == IMPORT):
            return self.interpreters.torch(timeout)
        from aorta.host.own_torch import UNASKED, own_torch

        if foreign:
            return UNASKED
        return own_torch(may_import=how == IMPORT, timeout=timeout, rehearse=self.interpreters.torch)

    def _ask_program(self, argv: list[str], stdin: bytes, timeout: float) -> Completed:
        return self._asker.run(argv, timeout=timeout, stdin=stdin)

    def now(self) -> str:
        """Return the time, UTC, as ``YYYY-MM-DDTHH:MM:SSZ``."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def monotonic(self) -> float:
        """Return seconds of a clock that only goes forward."""
        return time.monotonic()

    def observe(self, key: str, function: Callable[[], Any]) -> Any:
        """Return what ``function`` says of this process; of another interpreter what that one says."""
        if key == "interpreter" and self.interpreters.program is not None:
            return self.interpreters.facts()
        return function()

    def dead_mounts(self) -> list[str]:
        """Return the mount points that did not answer so far."""
        return self._seen[1].dead() if self._seen else []

    def close(self) -> None:
        """End every command and helper process that is still there, in a second or so."""
        self._runner.close()
        self._asker.close()
        self.interpreters.clean()
        if self._seen:
            self._seen[1].close()

    def slow_points(self) -> list[str]:
        """Return the mount points that may hang."""
        return list(self._mounts.slow)

    def slow_mount(self, path: str) -> str | None:
        """Return the mount point that a path would have to be asked of a helper for, or None."""
        if not self._mounts.slow:
            return None
        return self._route(_absolute(path), follow=True)[1]

    def _ask(self, op: str, path: str, timeout: float | None, **extra: Any) -> Any:
        where = _absolute(path)
        request = {"op": op, "path": where, "follow": True, **extra}
        table, slow_files = self._seen or self._look()
        if not table.slow:
            return slow_helper.perform(request, where, slow_helper.nowhere, _ticker(path, timeout))
        until = None if timeout is None else time.monotonic() + timeout
        for _ in range(_MAX_MOVES):
            real, mount = self._route(where, follow=request["follow"])
            if mount is None:
                request["path"] = where
                return slow_helper.perform(request, real, self._is_slow, _ticker(path, timeout))
            request["path"] = real
            left = None if until is None else until - time.monotonic()
            reply = slow_files.ask(mount, request, left)
            if "moved" not in reply:
                return binascii.a2b_base64(reply["base64"]) if op == "read" else reply["value"]
            where = reply["moved"]
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)

    def _route(self, path: str, *, follow: bool) -> tuple[str, str | None]:
        """Return a path with its local links resolved, and the slow mount point it then lies on."""
        head, _, tail = path.rpartition("/")
        if tail in ("", ".", ".."):
            head, tail = path, ""
        real = self._directories.get(head)
        if real is None:
            real, state = slow_helper.walk("/", head, self._is_slow)
            if state == slow_helper.AWAY:
                return self._slow_part(f"{real}/{tail}" if tail else real)
            if state == slow_helper.GONE:
                return path, None
            self._directories[head] = real
        real, state = slow_helper.walk(real, tail, self._is_slow, follow=follow)
        return self._slow_part(real) if state == slow_helper.AWAY else (real, None)

    def _slow_part(self, path: str) -> tuple[str, str | None]:
        # Only without ".." does the longest mount point in the text hold the path.
        parts = path.split("/")
        prefix = "/".join(parts[: parts.index("..")]) if ".." in parts else path
        return path, self._mounts.slow_holder(os.path.normpath(prefix))

    def _is_slow(self, path: str) -> bool:
        return path in self._mounts.slow

    @property
    def _mounts(self) -> MountTable:
        return (self._seen or self._look())[0]

    def _look(self) -> tuple[MountTable, SlowFiles]:
        with self._lock:
            if self._seen is None:
                table = _read_mounts()
                environ = self._helper_environ(table)
                self._seen = table, SlowFiles(table.slow, environ, self._slow_limit_s)
        return self._seen

    def _helper_environ(self, table: MountTable) -> dict[str, str]:
        """Return an environment in which an interpreter starts without touching a slow mount."""
        environ = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}
        entries = [
            entry
            for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":")
            if entry.startswith("/")
            and slow_helper.walk("/", entry, table.slow.__contains__)[1] != slow_helper.AWAY
        ]
        return {**environ, "LD_LIBRARY_PATH": ":".join(entries)} if entries else environ


def _entry(
    name: str,
    kind: str,
    size: int = 0,
    mtime_ns: int = 0,
    ctime_ns: int = 0,
    inode: int = 0,
    dev: int = 0,
) -> Entry:
    return Entry(name=name, kind=kind, size=size, mtime_ns=mtime_ns, ctime_ns=ctime_ns, inode=inode, dev=dev)


def _absolute(path: str) -> str:
    if "\0" in path:
        raise OSError(errno.EINVAL, "a NUL byte in the path", path)
    return path if path.startswith("/") else f"{os.getcwd()}/{path}"


def _ticker(path: str, timeout: float | None) -> Callable[[], None]:
    """Return what ends a long local operation once ``timeout`` seconds have passed."""
    if timeout is None:
        return _no_tick
    until = time.monotonic() + timeout

    def tick() -> None:
        if time.monotonic() > until:
            raise timed_out(path)

    return tick


def _no_tick() -> None:
    pass


def _read_mounts() -> MountTable:
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            text = file.read(MOUNTINFO_LIMIT).decode(errors="surrogateescape")
    except OSError:
        return MountTable([])
    mounts = parse_mountinfo(text)
    trusted: set[str] = set()
    table = MountTable(mounts)
    for path in _interpreter_paths():
        # The process depends on these already, so their mounts are as good as local.
        while table.slow:
            place, state = slow_helper.walk("/", path, table.slow.__contains__)
            holder = table.slow_holder(os.path.normpath(place))
            if state != slow_helper.AWAY or holder is None:
                break
            trusted.add(table.slow[holder].major_minor)
            table = MountTable(mounts, trusted)
    return table


def _interpreter_paths() -> Iterator[str]:
    paths = [sys.prefix, sys.base_prefix, sys.executable, os.__file__, __file__]
    yield from dict.fromkeys(path for path in paths if path and path.startswith("/"))
