"""``RecordingHost``: writes down what a host was asked and what it answered, each access once.

A recording is a JSON-Lines file. The first line says what it is, every other line is one access:
its question (``op`` and ``path``, ``argv`` or ``name``) and its answer, or ``errno`` or ``error``
where it failed. Secrets are taken out before anything is written.
"""

import base64
import errno
import json
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TextIO, TypeVar

import attrs

from aorta import __version__
from aorta.host.elf import Elf, told
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
    Masked,
    Module,
    NotRecordedError,
    Stat,
)
from aorta.host.redaction import Redaction, secrets_of

T = TypeVar("T")

#: The number of the format. A reader refuses a higher one.
RECORDING = 1

#: What is missing was never asked (``accesses``), or was not there (``closed``).
WORLDS = ("accesses", "closed")


class Sink(Protocol):
    """Where lines go: an open text file."""

    def write(self, text: str, /) -> object:
        """Take one line."""

    def flush(self) -> object:
        """Hand on what was taken."""


def header(world: str, created: str) -> dict[str, Any]:
    """Return the first line of a recording; ``created`` is UTC, ``YYYY-MM-DDTHH:MM:SSZ``."""
    return {
        "recording": RECORDING,
        "aorta": __version__,
        "created": created,
        "world": world,
        "redacted": True,
    }


def failure(error: BaseException) -> dict[str, Any]:
    """Return how an access failed, as its line says it."""
    told: dict[str, Any] = {}
    if isinstance(error, OSError) and error.errno is not None:
        told["errno"] = errno.errorcode.get(error.errno, str(error.errno))
        if error.strerror and error.strerror != os.strerror(error.errno):
            told["error"] = error.strerror
    else:
        reason = error.reason if isinstance(error, UnicodeError) and hasattr(error, "reason") else str(error)
        told |= {"error": reason, "type": type(error).__name__}
    if isinstance(error, DeadMountError):
        told |= {"type": "DeadMountError", "mount": error.mount}
    if getattr(error, "not_asked", False):
        told["not_asked"] = True
    return told


def filled(value: Stat | Entry | FileSystem | Distribution | Module) -> dict[str, Any]:
    """Return the fields of an attrs object that are not at their defaults."""
    kind: Any = type(value)
    fields = {field.name: field.default for field in attrs.fields(kind)}
    return {name: item for name, default in fields.items() if (item := getattr(value, name)) != default}


class RecordingHost:
    """A host that passes every question on to ``host`` and writes the answer to ``sink``.

    A later answer replaces an earlier one of the same question only when it tells more: a success
    after a failure, or more of a file. ``broken`` is the error that ended the writing, if any; the
    questions are still answered then. ``sink`` is an open text file, which stays the caller's to
    close, or the path of a file to make.
    """

    #: What is remembered would be missing in the recording.
    remembers = False

    def __init__(self, host: Host, sink: Sink | str | os.PathLike[str]) -> None:
        self.kind = host.kind
        self.broken: Exception | None = None
        self._host = host
        self._file: TextIO | None = None
        if isinstance(sink, (str, os.PathLike)):
            self._file = sink = open(sink, "w", encoding="utf-8")  # noqa: SIM115 - open until close()
        self._sink: Sink = sink
        self._lock = threading.RLock()
        self._told: dict[str, int] = {}
        self._redaction = Redaction(secrets_of(_environ(host)))
        self._write(header("accesses", host.now()))

    def read_text(self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None) -> str:
        return self._asked(
            {"op": "read", "path": path},
            lambda: self._host.read_text(path, limit, timeout=timeout),
            lambda text: {"text": text},
            len,
        )

    def read_bytes(
        self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None, offset: int = 0
    ) -> bytes:
        return self._asked(
            {"op": "bytes", "path": path} | ({"offset": offset} if offset else {}),
            lambda: self._host.read_bytes(path, limit, timeout=timeout, offset=offset),
            lambda data: {"b64": base64.b64encode(self._redaction.data(data)).decode("ascii")},
            len,
        )

    def link(self, path: str, *, timeout: float | None = None) -> str:
        return self._asked(
            {"op": "link", "path": path},
            lambda: self._host.link(path, timeout=timeout),
            lambda target: {"target": target},
        )

    def stat(self, path: str, *, timeout: float | None = None, follow: bool = True) -> Stat:
        question = {"op": "stat", "path": path} | ({} if follow else {"follow": False})
        return self._asked(
            question,
            lambda: self._host.stat(path, timeout=timeout, follow=follow),
            filled,
        )

    def scan(self, path: str, *, timeout: float | None = None, details: bool = True) -> list[Entry]:
        question = {"op": "scan", "path": path} | ({} if details else {"details": False})
        return self._asked(
            question,
            lambda: self._host.scan(path, timeout=timeout, details=details),
            lambda entries: {"entries": [filled(entry) for entry in entries]},
        )

    def sha256(self, path: str, *, timeout: float | None = None) -> str:
        return self._asked(
            {"op": "sha256", "path": path},
            lambda: self._host.sha256(path, timeout=timeout),
            lambda digest: {"hex": digest},
        )

    def elf(self, path: str, symbols: str | None = None, *, timeout: float | None = None) -> Elf:
        return self._asked(
            {"op": "elf", "path": path} | ({} if symbols is None else {"symbols": symbols}),
            lambda: self._host.elf(path, symbols, timeout=timeout),
            lambda found: {"value": told(found)},
        )

    def filesystem(self, path: str, *, timeout: float | None = None) -> FileSystem:
        return self._asked(
            {"op": "filesystem", "path": path},
            lambda: self._host.filesystem(path, timeout=timeout),
            filled,
        )

    def find(self, path: str, pattern: str, *, timeout: float | None = None) -> list[str]:
        return self._asked(
            {"op": "find", "path": path, "pattern": pattern},
            lambda: self._host.find(path, pattern, timeout=timeout),
            lambda found: {"value": found},
        )

    def run(
        self,
        argv: Argv,
        *,
        timeout: float | Limit,
        path: Sequence[str] = (),
        manner: Manner = PLAIN,
    ) -> Completed:
        for word in argv:
            if isinstance(word, Masked):
                # A tool may well print what it was given.
                self._redaction.learn(word.value)
        return self._asked(
            {"op": "run", "argv": list(self._redaction.words(argv))},
            lambda: self._host.run(argv, timeout=timeout, path=path, manner=manner),
            _completed,
        )

    def workers(self) -> Any:
        return self._host.workers()

    def env(self, name: str) -> str | None:
        return self._asked(
            {"op": "env", "name": name},
            lambda: self._host.env(name),
            lambda value: {"value": self._redaction.value(value, name)},
        )

    def env_names(self, prefix: str = "") -> list[str]:
        return self._asked(
            {"op": "env", "prefix": prefix},
            lambda: self._host.env_names(prefix),
            lambda names: {"names": names},
        )

    def distribution(self, name: str) -> Distribution | None:
        return self._asked({"op": "dist", "name": name}, lambda: self._host.distribution(name), _found)

    def module(self, name: str) -> Module | None:
        return self._asked({"op": "module", "name": name}, lambda: self._host.module(name), _found)

    def resource(self, path: str, limit: int = READ_LIMIT) -> bytes:
        return self._asked(
            {"op": "bytes", "path": path},
            lambda: self._host.resource(path, limit),
            lambda data: {"b64": base64.b64encode(self._redaction.data(data)).decode("ascii")},
            len,
        )

    def torch(self, how: str, *, timeout: float) -> dict[str, Any]:
        return self._asked(
            {"op": "observe", "name": "torch"},
            lambda: self._host.torch(how, timeout=timeout),
            lambda report: {"value": report},
        )

    def now(self) -> str:
        return self._asked({"op": "clock"}, self._host.now, lambda now: {"now": now})

    def monotonic(self) -> float:
        return self._host.monotonic()

    def observe(self, key: str, function: Callable[[], Any]) -> Any:
        return self._asked(
            {"op": "observe", "name": key},
            lambda: self._host.observe(key, function),
            lambda value: {"value": value},
        )

    def dead_mounts(self) -> list[str]:
        return self._host.dead_mounts()

    def close(self) -> None:
        self._host.close()
        if self._file is not None:
            self._file.close()

    def _asked(
        self,
        question: dict[str, Any],
        ask: Callable[[], T],
        told: Callable[[T], dict[str, Any]],
        weight: Callable[[T], int] = lambda _: 0,
    ) -> T:
        try:
            answer = ask()
        except NotRecordedError:
            raise
        except Exception as error:
            self._note(question, failure(error), -1)
            raise
        self._note(question, told(answer), weight(answer))
        return answer

    def _note(self, question: dict[str, Any], answer: dict[str, Any], weight: int) -> None:
        key = json.dumps(question)
        with self._lock:
            if weight <= self._told.get(key, -2):
                return
            self._told[key] = weight
            try:
                self._write(clean({**question, **answer}, self._redaction))
            except (TypeError, ValueError) as error:
                # Not a JSON value: the question was asked, its answer can not be written.
                self._write(clean({**question, **failure(error)}, self._redaction))

    def _write(self, line: dict[str, Any]) -> None:
        text = json.dumps(line, allow_nan=False) + "\n"
        with self._lock:
            if self.broken is not None:
                return
            try:
                self._sink.write(text)
                self._sink.flush()
            except (OSError, ValueError) as error:
                self.broken = error


def clean(access: dict[str, Any], redaction: Redaction) -> dict[str, Any]:
    """Return an access as it may be written down; bytes and variables are redacted by their makers."""
    kept = {"op", "b64", "argv"}
    return {key: item if key in kept else redaction.value(item) for key, item in access.items()}


def _environ(host: Host) -> dict[str, str]:
    try:
        return {name: host.env(name) or "" for name in host.env_names()}
    except NotRecordedError:
        return {}


def _completed(done: Completed) -> dict[str, Any]:
    told: dict[str, Any] = {
        "outcome": str(done.outcome),
        "exit": done.exit_code,
        "out": done.stdout,
        "err": done.stderr,
        "elapsed_s": round(done.elapsed_s, 4),
        "truncated": done.truncated,
        "detail": done.detail,
    }
    always = ("outcome", "exit", "out", "err")
    return {name: value for name, value in told.items() if name in always or value}


def _found(found: Distribution | Module | None) -> dict[str, Any]:
    return {"found": None if found is None else filled(found)}
