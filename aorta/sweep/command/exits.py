"""Tier 1: what the end of a command says."""

import errno
import os
import signal

from aorta.model.frozen import frozen
from aorta.sweep.command.catalogue import fired
from aorta.sweep.command.waiting import EXITED, HUNG, TIMED_OUT, Status
from aorta.sweep.outcome import Finding

#: File times come from a clock that stands still for some milliseconds.
_SLACK_S = 0.02
_CGROUP, _CGROUPS = "/proc/self/cgroup", "/sys/fs/cgroup"
#: Signals by which a program crashes.
CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE")
#: Signals that terminals, schedulers and people end programs with; they are told together.
ASKED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")
#: The signals that a shell's exit status is believed to tell of.
_TOLD_BY_SHELLS = frozenset({*CRASHES, "SIGKILL", "SIGTERM", "SIGINT"})
_EXPLAINED = {
    "SIGSEGV": "segmentation fault",
    "SIGABRT": "aborted",
    "SIGBUS": "bus error",
    "SIGILL": "illegal instruction",
    "SIGFPE": "floating point exception",
    "SIGKILL": "killed from outside",
    **dict.fromkeys(ASKED, "ended from outside"),
}
_BY_OOM = "killed by the kernel for want of memory"
#: What shells say with these exit statuses.
_SHELL_SAYS = {
    126: "exit status 126, by which a shell says that it could not execute a command",
    127: "exit status 127, by which a shell says that it found no such command",
}


@frozen
class End:
    """How a trial's command ended. ``how`` is one of ``waiting``; ``oom_kills``: of its cgroup meanwhile."""

    how: str = EXITED
    status: Status = Status()
    elapsed_s: float = 0.0
    timeout_s: float | None = None
    idle_s: float | None = None
    oom_kills: int = 0

    @property
    def signal(self) -> str | None:
        """Return the name of the signal that ended it."""
        return None if self.status.number is None else signal_name(self.status.number)

    @property
    def shell_signal(self) -> str | None:
        """Return the signal that a shell tells of by its exit status, 128 and the signal's number."""
        code = self.status.code
        if code is None or not 128 < code <= 128 + 64:
            return None
        name = signal_name(code - 128)
        return name if name in _TOLD_BY_SHELLS else None

    @property
    def clean(self) -> bool:
        """Tell whether it ended by itself, and well."""
        return self.how == EXITED and self.status.code == 0

    @property
    def text(self) -> str:
        """Return a few words on the end."""
        if self.how == TIMED_OUT:
            return f"timed out after {self.timeout_s:g} s"
        if self.how == HUNG:
            return f"ended after {self.idle_s or 0:.0f} s without any activity"
        if self.signal is not None:
            return f"ended by {_with_meaning(self.signal, self.oom_kills)}"
        if self.shell_signal is not None:
            return (
                f"exit status {self.status.code}, by which a shell says that its command was ended by "
                f"{_with_meaning(self.shell_signal, self.oom_kills)}"
            )
        if self.status.code is None:
            return "the exit status is not known"
        return _SHELL_SAYS.get(self.status.code, f"exit status {self.status.code}")


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        first = signal.SIGRTMIN
        return f"SIGRTMIN+{number - first}" if number > first else f"signal {number}"


def _with_meaning(name: str, oom_kills: int) -> str:
    meaning = _BY_OOM if oom_kills and name == "SIGKILL" else _EXPLAINED.get(name)
    return f"{name} ({meaning})" if meaning else name


def id_of(end: End) -> str | None:
    """Return the detector that an end belongs to; None for a good one and for hangs, which have their own."""
    if end.how == TIMED_OUT:
        return "tier1:timeout"
    if end.how == HUNG or end.clean or end.status == Status():
        return None
    name = end.signal or end.shell_signal
    if name in ASKED:
        return "tier1:sigterm"
    if name in CRASHES or name == "SIGKILL":
        return f"tier1:{name.lower()}"
    if end.status.code in _SHELL_SAYS:
        return "tier1:exec_failed"
    return "tier1:exit_nonzero"


def finding_of(end: End) -> Finding | None:
    """Return what tier 1 finds."""
    id_ = id_of(end)
    return None if id_ is None else fired(id_, end.text, "exit")


def refusal(error: OSError | ValueError, word: str) -> tuple[int, Finding]:
    """Return the exit code that a shell would give for a command that cannot be executed, and the finding."""
    code = 1
    if isinstance(error, OSError):
        codes = {errno.ENOENT: 127, errno.ENOTDIR: 127, errno.EACCES: 126, errno.ENOEXEC: 126}
        code = codes.get(error.errno or 0, 1)
        why = os.strerror(error.errno or 0)
        if error.errno == errno.ENOEXEC:
            why += ", it is no program and its first line names none (#!)"
    else:
        why = str(error)
    return code, fired("tier1:exec_failed", f"{word!r} could not be executed: {why}")


class OomKills:
    """How often the kernel killed a process of our cgroup for want of memory; 0 where it is not told."""

    def __init__(self) -> None:
        self._path = _counter_path()

    def count(self) -> int:
        """Return the count up to now."""
        if self._path is None:
            return 0
        try:
            with open(self._path, "rb") as file:
                words = next((line.split() for line in file if line.startswith(b"oom_kill ")), [])
            return int(words[1]) if words else 0
        except (OSError, ValueError):
            return 0


def _counter_path() -> str | None:
    """Return the file of the counter, in either version of cgroups."""
    try:
        with open(_CGROUP, encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return None
    for words in lines:
        if len(words) < 3:
            continue
        _, controllers, path = words
        places = []
        if not controllers:
            places = [f"{_CGROUPS}{path}/memory.events", f"{_CGROUPS}/unified{path}/memory.events"]
        elif "memory" in controllers.split(","):
            places = [f"{_CGROUPS}/memory{path}/memory.oom_control"]
        for place in places:
            if os.access(place, os.R_OK):
                return place
    return None


class CoreDumps:
    """Core dumps that appear in some directories; each is told once."""

    def __init__(self) -> None:
        self._known: set[tuple[str, int, int]] = set()

    def new(self, folders: tuple[str, ...], since: float) -> str | None:
        """Return a core dump in one of the directories that was written since a time of the clock."""
        for folder in folders:
            try:
                # A directory that did not change has no new file, but an old one may be new.
                names = (
                    ["core"] if os.stat(folder).st_mtime < since - _SLACK_S else sorted(os.listdir(folder))
                )
            except OSError:
                continue
            for name in names:
                path = os.path.join(folder, name)
                if (name == "core" or name.startswith("core.")) and self._is_new(path, since):
                    return os.path.abspath(path)
        return None

    def _is_new(self, path: str, since: float) -> bool:
        try:
            found = os.lstat(path)
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
                begin = file.read(4)
        except OSError:
            return False
        known = (path, found.st_ino, found.st_mtime_ns)
        if found.st_mtime < since - _SLACK_S or known in self._known or begin != b"\x7fELF":
            return False
        self._known.add(known)
        return True


def core_finding(path: str | None, end: End) -> Finding | None:
    """Return the warning of a core dump: a file that was found, or the kernel's word that it wrote one."""
    id_ = "tier1:coredump"
    if path is not None:
        return fired(id_, f"core dump {path}", path)
    if end.status.dumped:
        return fired(id_, "the kernel dumped a core; /proc/sys/kernel/core_pattern says where to")
    return None
