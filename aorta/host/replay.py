"""Recordings as hosts: ``open_recording`` gives a host that answers what was recorded, and nothing else."""

import gzip
import json
import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from aorta.host.elf import Elf
from aorta.host.fake import FakeHost, named
from aorta.host.lines import Failed, Key, answer, field, question
from aorta.host.protocol import (
    PLAIN,
    READ_LIMIT,
    Argv,
    Completed,
    DeadMountError,
    Distribution,
    Entry,
    FileSystem,
    Host,
    Limit,
    Manner,
    Module,
    NotRecordedError,
    Stat,
)
from aorta.host.recording import RECORDING, WORLDS
from aorta.host.redaction import Redaction
from aorta.host.tree import Node, Tree
from aorta.model.frozen import evolve

Answers = Mapping[Key, Any]

_REDACTION = Redaction()
_TREE_OPS = ("read", "bytes", "link", "scan", "stat")


class RecordingError(ValueError):
    """A file that is no recording, or a line of it that can not be used; the text names both."""


def open_recording(source: str | os.PathLike[str]) -> Host:
    """Return the host of a recording: the path of a file (also gzipped), or its whole text.

    A text is told from a path by its first character ``{``. In a ``closed`` recording what is missing
    was not there; in one of ``accesses`` it raises ``NotRecordedError``. Raises RecordingError, and
    OSError when the file can not be read.
    """
    if isinstance(source, str) and source.lstrip().startswith("{"):
        where, text = "recording", source
    else:
        where, text = os.fspath(source), _text_of(os.fspath(source))
    lines = _parsed_lines(where, text)
    _, first = next(lines, (0, None))
    if first is None:
        raise RecordingError(f"{where}: empty, not a recording")
    _check_header(where, first)
    answers: dict[Key, Any] = {}
    for number, line in lines:
        try:
            key = question(line)
            answers[key] = answer(line)
        except ValueError as error:
            raise RecordingError(f"{where}, line {number}: {error}") from error
    created = first.get("created", "")
    if first["world"] == "closed":
        return ClosedHost(answers, created)
    return StrictHost(answers, created)


def _text_of(path: str) -> str:
    with open(path, "rb") as file:
        data = file.read()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return data.decode("utf-8")
    except (EOFError, OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: neither UTF-8 text nor such text gzipped ({error})") from error


def _parsed_lines(where: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise RecordingError(f"{where}, line {number}: not a JSON object ({error})") from error
        if not isinstance(value, dict):
            raise RecordingError(f"{where}, line {number}: not a JSON object")
        yield number, value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_header(where: str, first: Mapping[str, Any]) -> None:
    try:
        if "recording" not in first:
            raise ValueError('not a recording: the first line has no "recording"')
        number = field(first, "recording", int)
        if number > RECORDING:
            raise ValueError(
                f"recording format {number} is newer than this aorta, which reads up to {RECORDING}"
            )
        if number < 1:
            raise ValueError(f"there is no recording format {number}")
        if field(first, "world", str) not in WORLDS:
            raise ValueError(f"unknown world {first['world']!r}")
        field(first, "created", str, "")
    except ValueError as error:
        raise RecordingError(f"{where}, line 1: {error}") from error


class StrictHost:
    """A host that was asked these questions; any other raises ``NotRecordedError``."""

    kind = "replay"
    remembers = False

    def __init__(self, answers: Answers, created: str) -> None:
        self._answers = answers
        self._created = created
        self._clock = 0.0
        self._dead: list[str] = []

    def read_text(self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None) -> str:
        text: str = self._recorded("read", path)
        return text if len(text) * 4 <= limit else text.encode("utf-8")[:limit].decode("utf-8", "ignore")

    def read_bytes(
        self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None, offset: int = 0
    ) -> bytes:
        data: bytes = self._recorded("bytes", path, *([str(offset)] if offset else []))
        return data[:limit]

    def link(self, path: str, *, timeout: float | None = None) -> str:
        target: str = self._recorded("link", path)
        return target

    def stat(self, path: str, *, timeout: float | None = None, follow: bool = True) -> Stat:
        found: Stat = self._recorded("stat", path, "follow" if follow else "itself")
        return found

    def scan(self, path: str, *, timeout: float | None = None, details: bool = True) -> list[Entry]:
        # Who asks for less is answered by more, never the other way round.
        asked = "details" if details or not self._has("scan", path, "names") else "names"
        return named(self._recorded("scan", path, asked), details=details)

    def sha256(self, path: str, *, timeout: float | None = None) -> str:
        digest: str = self._recorded("sha256", path)
        return digest

    def elf(self, path: str, symbols: str | None = None, *, timeout: float | None = None) -> Elf:
        found: Elf = self._recorded("elf", path, *([symbols] if symbols is not None else []))
        return found

    def filesystem(self, path: str, *, timeout: float | None = None) -> FileSystem:
        found: FileSystem = self._recorded("filesystem", path)
        return found

    def find(self, path: str, pattern: str, *, timeout: float | None = None) -> list[str]:
        return list(self._recorded("find", path, pattern))

    def run(
        self,
        argv: Argv,
        *,
        timeout: float | Limit,
        path: Sequence[str] = (),
        manner: Manner = PLAIN,
    ) -> Completed:
        done: Completed = self._answer(("run", _REDACTION.words(argv)))
        return done

    def workers(self) -> Any:
        return None

    def env(self, name: str) -> str | None:
        value: str | None = self._recorded("env", name)
        return value

    def env_names(self, prefix: str = "") -> list[str]:
        return list(self._recorded("env_names", prefix))

    def distribution(self, name: str) -> Distribution | None:
        found: Distribution | None = self._recorded("dist", name)
        return found

    def module(self, name: str) -> Module | None:
        found: Module | None = self._recorded("module", name)
        return found

    def resource(self, path: str, limit: int = READ_LIMIT) -> bytes:
        return self.read_bytes(path, limit)

    def torch(self, how: str, *, timeout: float) -> dict[str, Any]:
        report: dict[str, Any] = self._recorded("observe", "torch")
        return report

    def now(self) -> str:
        now: str = self._answers.get(("clock",), self._created)
        return now

    def monotonic(self) -> float:
        """Return a clock that goes a microsecond forward at each look, so that replays are repeatable."""
        self._clock += 1e-6
        return self._clock

    def observe(self, key: str, function: Callable[[], Any]) -> Any:
        return self._recorded("observe", key)

    def dead_mounts(self) -> list[str]:
        return list(self._dead)

    def close(self) -> None:
        pass

    def _has(self, op: str, what: str, *more: str) -> bool:
        return (op, _REDACTION.text(what), *more) in self._answers

    def _recorded(self, op: str, what: str, *more: str) -> Any:
        return self._answer((op, _REDACTION.text(what), *more))

    def _answer(self, key: Key) -> Any:
        if key not in self._answers:
            words = " ".join(word if isinstance(word, str) else " ".join(word) for word in key)
            raise NotRecordedError(f"the recording does not say: {words}")
        found = self._answers[key]
        if not isinstance(found, Failed):
            return found
        error = found.error(str(key[1]))
        if isinstance(error, DeadMountError) and error.mount not in self._dead:
            self._dead.append(error.mount)
        raise error


class ClosedHost(FakeHost):
    """A whole machine from a recording: what the recording does not hold is not there."""

    def __init__(self, answers: Answers, created: str) -> None:
        self._told = {key: value for key, value in answers.items() if key[0] in ("sha256", "elf")}
        self._filesystem_of: dict[str, FileSystem] = dict(_of(answers, "filesystem"))
        super().__init__(
            tree=Tree(_nodes(answers)),
            commands=dict(_of(answers, "run")),
            env={name: value for name, value in _of(answers, "env") if value is not None},
            distributions={name: found for name, found in _of(answers, "dist") if found is not None},
            modules={name: found for name, found in _of(answers, "module") if found is not None},
            now=answers.get(("clock",), created),
        )
        self.observed = dict(_of(answers, "observe"))

    def sha256(self, path: str, *, timeout: float | None = None) -> str:
        digest: str = self._recorded(("sha256", path)) or super().sha256(path)
        return digest

    def elf(self, path: str, symbols: str | None = None, *, timeout: float | None = None) -> Elf:
        key = ("elf", path) if symbols is None else ("elf", path, symbols)
        return self._recorded(key) or super().elf(path, symbols)

    def filesystem(self, path: str, *, timeout: float | None = None) -> FileSystem:
        found: FileSystem = self._filesystem_of.get(path) or FileSystem()
        return found

    def _recorded(self, key: Key) -> Any:
        found = self._told.get(key)
        if isinstance(found, Failed):
            raise found.error(str(key[1]))
        return found


def _of(answers: Answers, op: str) -> Iterator[tuple[Any, Any]]:
    for key, value in answers.items():
        # Only the tree can say why something failed; elsewhere a failed answer is none.
        if key[0] == op and (op in _TREE_OPS or not isinstance(value, Failed)):
            yield key[1], value


def _nodes(answers: Answers) -> dict[str, Node]:
    """Return the tree of a closed recording: ``stat`` gives a node, the other operations its content."""
    nodes: dict[str, Node] = {}
    for path, entries in _of(answers, "scan"):
        nodes[path] = _node(entries, path, "dir")
        for entry in () if isinstance(entries, Failed) else entries:
            nodes[posixpath.join(path, entry.name)] = Node(kind=entry.kind)
    for path, found in _of(answers, "stat"):
        old = nodes.get(path)
        made = _node(found, path, "missing")
        if not isinstance(found, Failed):
            made = Node(kind=found.kind, mode=found.mode, uid=found.uid, gid=found.gid)
        nodes[path] = evolve(made, refusal=old.refusal) if old and not made.refusal else made
    for op, kind in (("link", "link"), ("read", "file"), ("bytes", "file")):
        for path, found in _of(answers, op):
            made, old = _node(found, path, kind), nodes.get(path)
            nodes[path] = (
                made
                if old is None
                else evolve(old, kind=kind, content=made.content, target=made.target, refusal=made.refusal)
            )
    return nodes


def _node(found: Any, path: str, kind: str) -> Node:
    if isinstance(found, Failed):
        error = found.error(path)
        return Node(kind=kind, refusal=error if isinstance(error, OSError) else OSError(str(error)))
    if kind == "link":
        return Node(kind=kind, target=found)
    if kind == "file":
        return Node(kind=kind, content=found if isinstance(found, bytes) else found.encode("utf-8"))
    return Node(kind=kind, mode=0o755)
