"""A host made of dictionaries, for tests and for closed recordings."""

import codecs
import errno
import hashlib
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aorta.host.elf import Elf, parse_elf, reader_of
from aorta.host.local_types import LOCAL_TYPES
from aorta.host.patterns import found_in
from aorta.host.protocol import (
    PLAIN,
    READ_LIMIT,
    SYSTEM_DIRECTORIES,
    Argv,
    Completed,
    Distribution,
    Entry,
    FileSystem,
    Limit,
    Manner,
    Module,
    Stat,
    shown,
)
from aorta.host.tree import Node, Tree, refused
from aorta.model.vocabulary import Outcome

Content = str | bytes | int | OSError
Answer = str | bytes | Completed | Mapping[str, Any]
# A mapping's keys are of one type to a type checker.
Commands = Mapping[str, Answer] | Mapping[tuple[str, ...], Answer] | Mapping[str | tuple[str, ...], Answer]

_SUDO = ("sudo", "-n")
_ANSWER = frozenset(("stdout", "stderr", "exit", "outcome", "detail"))
_KINDS = {"c": "char", "b": "block", "p": "fifo", "s": "socket", "f": "file", "d": "dir"}


class FakeHost:
    """A machine with exactly what it is given; everything else is not there.

    ``files`` maps a path to text, bytes, or an errno (or OSError) that opening it raises. ``links``
    maps a path to the text of a link, or an errno. ``dirs`` are directories that may be empty,
    ``nodes`` maps a device path to ``c``, ``b``, ``p`` or ``s``. ``commands`` maps a command line (a
    text split at blanks, or a tuple) to its stdout, or to a mapping with ``stdout``, ``stderr``,
    ``exit``, ``outcome``, ``detail``, or to a ``Completed``; a command that is not listed is not
    found. ``env`` is the whole environment. ``filesystems`` maps a directory to the kind of file
    system that is mounted there. ``distributions`` maps a name to a version or a
    ``Distribution``; ``modules`` maps a name to its origin or a ``Module``. ``observed`` overrides
    what the interpreter says of itself, by key; its ``torch`` is a report (``aorta.testing.torch_report``).
    """

    kind = "replay"
    remembers = False

    def __init__(
        self,
        files: Mapping[str, Content] | None = None,
        *,
        links: Mapping[str, str | int | OSError] | None = None,
        dirs: Sequence[str] = (),
        nodes: Mapping[str, str] | None = None,
        commands: Commands | None = None,
        env: Mapping[str, str] | None = None,
        filesystems: Mapping[str, str] | None = None,
        distributions: Mapping[str, str | Distribution] | None = None,
        modules: Mapping[str, str | Module] | None = None,
        observed: Mapping[str, Any] | None = None,
        now: str = "2026-01-01T00:00:00Z",
        tree: Tree | None = None,
    ) -> None:
        self.tree = tree or Tree(_nodes(files or {}, links or {}, dirs, nodes or {}))
        self.commands = {_argv(key): _completed(answer) for key, answer in (commands or {}).items()}
        self._programs: dict[str, set[str]] = {}
        for program in {argv[0] for argv in self.commands if "/" in argv[0]}:
            self._programs.setdefault(posixpath.basename(program), set()).add(program)
        self._env = dict(env or {})
        self._filesystems = dict(filesystems or {})
        self._distributions = {
            _normal(name): _distribution(name, what) for name, what in (distributions or {}).items()
        }
        self._modules = {name: _module(name, what) for name, what in (modules or {}).items()}
        self.observed = {**_OBSERVED, **(observed or {})}
        self._now = now
        self._clock = 0.0

    def read_text(self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None) -> str:
        """Return the first ``limit`` bytes of a file as text; a character cut by it is left out."""
        data = self.read_bytes(path, limit)
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=len(data) < limit)

    def read_bytes(
        self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None, offset: int = 0
    ) -> bytes:
        return self.tree.bytes(path, offset + limit)[offset:]

    def link(self, path: str, *, timeout: float | None = None) -> str:
        return self.tree.link(path)

    def stat(self, path: str, *, timeout: float | None = None, follow: bool = True) -> Stat:
        return self.tree.stat(path, follow=follow)

    def scan(self, path: str, *, timeout: float | None = None, details: bool = True) -> list[Entry]:
        return named(self.tree.scan(path), details=details)

    def sha256(self, path: str, *, timeout: float | None = None) -> str:
        return hashlib.sha256(self.tree.bytes(path, 1 << 40)).hexdigest()

    def elf(self, path: str, symbols: str | None = None, *, timeout: float | None = None) -> Elf:
        content = self.tree.bytes(path, 1 << 40)
        return parse_elf(reader_of(content), len(content), symbols)

    def filesystem(self, path: str, *, timeout: float | None = None) -> FileSystem:
        place = self._real(path)
        while place not in self._filesystems and place != "/":
            place = posixpath.dirname(place)
        kind = self._filesystems.get(place, "")
        return FileSystem(kind=kind, may_hang=bool(kind) and kind not in LOCAL_TYPES)

    def find(self, path: str, pattern: str, *, timeout: float | None = None) -> list[str]:
        return found_in(self.read_bytes(path), pattern)

    def run(
        self,
        argv: Argv,
        *,
        timeout: float | Limit,
        path: Sequence[str] = (),
        manner: Manner = PLAIN,
    ) -> Completed:
        """Answer a command by its line.

        A program asked for by name is also found on PATH and in the directories of ``path``, and one
        asked for by its path under another path of the same file, or by its name. A line recorded as
        ``sudo -n -E`` answers ``sudo -n`` too.
        """
        words = shown(argv)
        found = self._command(words, path)
        if found is None and words[:2] == _SUDO:
            found = self._command((*_SUDO, "-E", *words[2:]), path)
        return found or Completed(outcome=Outcome.NOT_FOUND, detail=f"{words[0]} is not on PATH")

    def _command(self, words: tuple[str, ...], path: Sequence[str]) -> Completed | None:
        program, rest = words[0], words[1:]
        if words in self.commands:
            return self.commands[words]
        name = posixpath.basename(program)
        where = [*self._env.get("PATH", "").split(":"), *path, *SYSTEM_DIRECTORIES]
        places = [program] if "/" in program else [posixpath.join(place, program) for place in where]
        for place in places:
            for known in self._programs.get(name, ()):
                found = self.commands.get((known, *rest))
                if found is not None and self._real(known) == self._real(place):
                    return found
        return self.commands.get((name, *rest)) if "/" in program else None

    def _real(self, path: str) -> str:
        try:
            return self.tree.locate(path)[0]
        except OSError:
            return posixpath.normpath(path)

    def workers(self) -> Any:
        return None

    def env(self, name: str) -> str | None:
        return self._env.get(name)

    def env_names(self, prefix: str = "") -> list[str]:
        return sorted(name for name in self._env if name.startswith(prefix))

    def distribution(self, name: str) -> Distribution | None:
        return self._distributions.get(_normal(name))

    def module(self, name: str) -> Module | None:
        return self._modules.get(name)

    def resource(self, path: str, limit: int = READ_LIMIT) -> bytes:
        return self.tree.bytes(path, limit)

    def torch(self, how: str, *, timeout: float) -> dict[str, Any]:
        """Return ``observed["torch"]``, a report; a host without one has nobody who could be asked."""
        if "torch" not in self.observed:
            raise OSError(errno.ENOTSUP, "nothing was told of torch")
        report: dict[str, Any] = self.observed["torch"]
        return report

    def now(self) -> str:
        return self._now

    def monotonic(self) -> float:
        """Return a clock that goes a microsecond forward at each look, so that runs are repeatable."""
        self._clock += 1e-6
        return self._clock

    def observe(self, key: str, function: Callable[[], Any]) -> Any:
        """Return the given observation; a key that was not given is unknown (None)."""
        return self.observed.get(key)

    def dead_mounts(self) -> list[str]:
        return []

    def close(self) -> None:
        pass


_OBSERVED: dict[str, Any] = {
    "interpreter": {
        "version": "3.11.7",
        "implementation": "CPython",
        "executable": "/usr/bin/python3",
        "prefix": "/usr",
        "base_prefix": "/usr",
        "path": [],
    },
    "uname": {"release": "6.8.0-1-generic", "version": "#1 SMP", "machine": "x86_64"},
    "glibc": "glibc 2.39",
}


def named(entries: Sequence[Entry], *, details: bool) -> list[Entry]:
    """Return members of a directory, without ``details`` by name and kind only, as a live host does."""
    return list(entries) if details else [Entry(name=entry.name, kind=entry.kind) for entry in entries]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _argv(key: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key.split()) if isinstance(key, str) else tuple(key)


def _completed(answer: Answer) -> Completed:
    if isinstance(answer, Completed):
        return answer
    if isinstance(answer, (str, bytes)):
        return Completed(outcome=Outcome.OK, exit_code=0, stdout=_decoded(answer))
    if not isinstance(answer, Mapping) or set(answer) - _ANSWER:
        given = sorted(set(answer) - _ANSWER) if isinstance(answer, Mapping) else type(answer).__name__
        raise ValueError(f"{given}: a command answers a text or a mapping of {', '.join(sorted(_ANSWER))}")
    code = answer.get("exit", 0)
    outcome = answer.get("outcome") or (
        Outcome.OK if code == 0 else Outcome.SIGNAL if code < 0 else Outcome.EXIT
    )
    words = [each.value for each in Outcome]
    if outcome not in words:
        raise ValueError(f"outcome {outcome!r}: one of {', '.join(words)}")
    return Completed(
        outcome=Outcome(outcome),
        exit_code=code if outcome in (Outcome.OK, Outcome.EXIT, Outcome.SIGNAL) else None,
        stdout=_decoded(answer.get("stdout", "")),
        stderr=_decoded(answer.get("stderr", "")),
        detail=answer.get("detail", ""),
    )


def _decoded(text: str | bytes) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def _distribution(name: str, what: str | Distribution) -> Distribution:
    return what if isinstance(what, Distribution) else Distribution(name=name, version=what)


def _module(name: str, what: str | Module) -> Module:
    if isinstance(what, Module):
        return what
    package = posixpath.basename(what) == "__init__.py"
    return Module(name=name, origin=what, locations=(posixpath.dirname(what),) if package else ())


def _nodes(
    files: Mapping[str, Content],
    links: Mapping[str, str | int | OSError],
    dirs: Sequence[str],
    nodes: Mapping[str, str],
) -> dict[str, Node]:
    made = {path: Node(kind="dir", mode=0o755) for path in dirs}
    made |= {path: Node(kind=_KINDS.get(kind, kind)) for path, kind in nodes.items()}
    made |= {path: _link(path, target) for path, target in links.items()}
    return made | {path: _file(path, content) for path, content in files.items()}


def _file(path: str, content: Content) -> Node:
    if isinstance(content, (str, bytes)):
        return Node(kind="file", content=_encoded(content))
    return _refusing("file", path, content)


def _link(path: str, target: str | int | OSError) -> Node:
    return Node(kind="link", target=target) if isinstance(target, str) else _refusing("link", path, target)


def _refusing(kind: str, path: str, why: int | OSError) -> Node:
    error = why if isinstance(why, OSError) else refused(why, path)
    return Node(kind="missing" if error.errno in (errno.EIO, errno.ESTALE) else kind, refusal=error)


def _encoded(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
