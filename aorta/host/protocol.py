"""``Host``: the one door through which anything of the machine is seen.

A host has no policy and knows no ROCm. File operations raise ``OSError`` as the system calls
do, so that each caller can tell "not there" from "not allowed" from "did not answer"
(``TimeoutError``). ``NotRecordedError`` comes from a replayed recording only.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import attrs

from aorta.host.elf import Elf
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Outcome

#: The most bytes that one read takes when the caller names no limit.
READ_LIMIT = 1 << 20

#: The most bytes kept of each of a command's two streams.
OUTPUT_LIMIT = 8 << 20


#: Where programs are looked for last: the PATH of a user may lack them.
SYSTEM_DIRECTORIES = ("/usr/sbin", "/sbin", "/usr/local/sbin")


#: How torch is asked: in a process of its own; here, importing it where need be; here, if it is loaded.
CHILD, IMPORT, LOADED = "child", "import", "loaded"


class NotRecordedError(Exception):
    """A replayed recording holds no answer to this question."""


class DeadMountError(TimeoutError):
    """A file system did not answer; ``mount`` is its mount point."""

    def __init__(self, mount: str, path: str) -> None:
        super().__init__(f"the file system at {mount} did not answer")
        self.mount = mount
        self.path = path


@attrs.frozen
class Masked:
    """A word of a command line that is secret: ``shown`` stands for it wherever it is written.

    ``secret`` is the part of it that must not be told (by default all), wherever the command prints it.
    ``ordinary`` says that this part is a common word, as names have them: it stays in what a command
    prints when all goes well, and is taken out of what it complains about.
    """

    value: str = attrs.field(repr=False)
    shown: str
    secret: str = attrs.field(default="", repr=False)
    ordinary: bool = False


Argv = Sequence[str | Masked]


def shown(argv: Argv) -> tuple[str, ...]:
    """Return a command line as it may be written down."""
    return tuple(word.shown if isinstance(word, Masked) else word for word in argv)


@frozen
class Stat:
    """What ``stat`` says of a path. ``kind`` is file, dir, link, char, block, fifo, socket or other."""

    kind: str
    size: int = 0
    mode: int = 0
    uid: int = 0
    gid: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0
    dev: int = 0


@frozen
class Entry:
    """One member of a directory, itself, not what a link leads to."""

    name: str
    kind: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0
    dev: int = 0


@frozen
class FileSystem:
    """What holds a file: ``kind`` as mountinfo says it (empty: not known); ``may_hang``: it is not local."""

    kind: str = ""
    may_hang: bool = False


@frozen
class Completed:
    """How a command ended. Text is decoded as UTF-8, what is not becomes U+FFFD."""

    outcome: Outcome
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    elapsed_s: float = 0.0
    truncated: bool = False
    detail: str = ""


@frozen
class Distribution:
    """An installed Python distribution, from its metadata on ``sys.path``.

    ``name`` and ``version`` are the metadata's texts (``version`` null when it has none), ``path``
    the ``*.dist-info`` directory, ``direct_url`` the text of ``direct_url.json``. ``others`` are the
    ``*.dist-info`` directories of the same name further down ``sys.path``.
    """

    name: str
    version: str | None = None
    path: str = ""
    direct_url: str | None = None
    others: tuple[str, ...] = ()


@frozen
class Module:
    """Where a top-level module would be imported from; it is never executed.

    ``origin`` is its file, null for a namespace package; ``locations`` are the directories of a
    package, empty for a plain module.
    """

    name: str
    origin: str | None = None
    locations: tuple[str, ...] = ()


@frozen
class Manner:
    """How a command runs beside its words.

    Plainly it runs in ``/``, and what it leaves in its session is ended after it; ``as_caller`` runs it in
    the working directory of this process, and what it leaves running (a daemon) stays. ``hides`` are
    files of options that it reads: what stands there after an = is taken out of what it prints. Of
    each of its two streams the first ``output_limit`` bytes are kept.
    """

    as_caller: bool = False
    hides: tuple[str, ...] = ()
    output_limit: int = OUTPUT_LIMIT


PLAIN = Manner()


class Limit:
    """A point in time that can be moved further away while a command runs."""

    def __init__(self, until: float) -> None:
        self.until = until

    def extend(self, until: float) -> None:
        """Move the limit to ``until`` (monotonic seconds) if that is later."""
        self.until = max(self.until, until)


class Host(Protocol):
    """The machine. ``kind`` is ``live`` or ``replay``; ``timeout`` is in seconds throughout.

    ``remembers`` tells whether what is in its files may be known from before, without a question.
    """

    kind: str
    remembers: bool

    def read_text(self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None) -> str:
        """Return the first ``limit`` bytes of a file as text. Raises UnicodeDecodeError, OSError."""

    def read_bytes(
        self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None, offset: int = 0
    ) -> bytes:
        """Return up to ``limit`` bytes of a file, from ``offset`` on."""

    def link(self, path: str, *, timeout: float | None = None) -> str:
        """Return the text of a symbolic link."""

    def stat(self, path: str, *, timeout: float | None = None, follow: bool = True) -> Stat:
        """Return what the path (with ``follow``: what it leads to) is."""

    def scan(self, path: str, *, timeout: float | None = None, details: bool = True) -> list[Entry]:
        """Return the members of a directory, sorted by name; without ``details`` name and kind only."""

    def sha256(self, path: str, *, timeout: float | None = None) -> str:
        """Return the hexadecimal digest of a file's content."""

    def elf(self, path: str, symbols: str | None = None, *, timeout: float | None = None) -> Elf:
        """Return what an ELF file says to the dynamic linker; ``symbols``: see ``aorta.host.elf``.

        Raises ElfError, a ValueError, for a file that is none or is malformed.
        """

    def filesystem(self, path: str, *, timeout: float | None = None) -> FileSystem:
        """Return what kind of file system holds what the path leads to; it is not touched for that."""

    def find(self, path: str, pattern: str, *, timeout: float | None = None) -> list[str]:
        """Return what group 1 of a pattern matches in a file's first bytes; nothing else of it is told.

        For files that may hold secrets: the first ``READ_LIMIT`` bytes are looked at, lines begin with
        ``^`` and end with ``$``; a group that took no part is left out.
        """

    def run(
        self,
        argv: Argv,
        *,
        timeout: float | Limit,
        path: Sequence[str] = (),
        manner: Manner = PLAIN,
    ) -> Completed:
        """Run a command without a shell and return how it ended; never raises for the command's sake.

        ``path`` are directories to look in after PATH.
        """

    def workers(self) -> Any:
        """Return what starts processes of aorta itself, a ``Runner``; they are no access to the machine."""

    def env(self, name: str) -> str | None:
        """Return a variable of the process's environment; bytes that are not UTF-8 are surrogates."""

    def env_names(self, prefix: str = "") -> list[str]:
        """Return the names of the set variables that begin with ``prefix``, sorted."""

    def distribution(self, name: str) -> Distribution | None:
        """Return the installed distribution of that (normalised) name that would be found first."""

    def module(self, name: str) -> Module | None:
        """Return where a top-level module would be imported from, or None."""

    def resource(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return the first ``limit`` bytes of a file of a Python package, also of one inside a zip file."""

    def torch(self, how: str, *, timeout: float) -> dict[str, Any]:
        """Return what torch says of itself, a ``report`` of ``aorta.host.interpreter``.

        ``how`` is CHILD, IMPORT or LOADED; a recording has one answer to all.
        """

    def now(self) -> str:
        """Return the time, UTC, as ``YYYY-MM-DDTHH:MM:SSZ``."""

    def monotonic(self) -> float:
        """Return seconds of a clock that only goes forward."""

    def observe(self, key: str, function: Callable[[], Any]) -> Any:
        """Return what ``function`` says of this process, a JSON value, known by ``key``."""

    def dead_mounts(self) -> list[str]:
        """Return the mount points that did not answer so far."""

    def close(self) -> None:
        """End what the host still runs; never waits long."""
