"""``DistantContext``: the context of a collector that runs in a process of its own."""

import os
import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from aorta.collect.answer import Answer, CommandAnswer
from aorta.collect.apart import wire
from aorta.collect.context import COMMAND_TIMEOUT_S, Context
from aorta.collect.request import Request
from aorta.collect.tree_digest import TreeDigest, digest_tree
from aorta.host.patterns import TRIES
from aorta.host.protocol import READ_LIMIT
from aorta.model.snapshot import DigestCount


class DistantError(RuntimeError):
    """A question that cannot be asked from here."""


class DistantContext(Context):
    """A context whose questions go to another process; what needs no machine is done here."""

    def __init__(
        self,
        connection: socket.socket,
        turn: "threading.RLock",
        section: str,
        request: Request,
        host_kind: str,
        until: float,
    ) -> None:
        self._wire = connection
        self._turn = turn
        self._process = os.getpid()
        self._interrupted = False
        self._asked_for = request
        self._kind = host_kind
        self._section = section
        self._deadline = until
        self.digest_count = DigestCount()

    @property
    def request(self) -> Request:
        """Return what the caller asked for and claimed."""
        return self._asked_for

    @property
    def host_kind(self) -> str:
        """Return ``live`` or ``replay``."""
        return self._kind

    def ask(self, what: str, *words: Any, **options: Any) -> Any:
        """Return the other process's answer, or raise what the question raises there."""
        return self._exchange(wire.pack((what, words, options)), dict(TRIES))

    def _exchange(self, question: bytes, doing: dict[str, Callable[..., Any]]) -> Any:
        """Send a question; do here what the other process wants done for its answer."""
        if os.getpid() != self._process:
            raise DistantError("a collector's context cannot be asked from a process that it started")
        with self._turn:
            if self._interrupted:
                # The answer to another question may be what comes next.
                raise DistantError("an earlier question was interrupted, so nothing more can be asked")
            self._interrupted = True
            wire.send(self._wire, question)
            word, *value = wire.receive(self._wire)
            while word == "do":
                wire.send(self._wire, _done(doing, *value))
                word, *value = wire.receive(self._wire)
            self._interrupted = False
        if word == "error":
            raise value[0]
        return value[0]

    def observe(self, key: str, function: Callable[[], Any] | None = None) -> Answer[Any]:
        """Ask what the interpreter says of itself; a function of one's own is called in this process."""
        if function is None:
            return self.ask("observe", key)  # type: ignore[no-any-return]
        question = wire.pack(("observe_own", (key,), {}))
        return self._exchange(question, {"observe": function})  # type: ignore[no-any-return]

    def need(self, model: type[Any]) -> Any:
        """Return the value of a declared need."""
        return pickle.loads(self.ask("need", model))  # noqa: S301 - this process's parent says it

    def pieces(self, path: str, size: int = READ_LIMIT) -> Iterator[Answer[bytes]]:
        """Read a file of any size piece by piece; an answer that failed is the last."""
        offset = 0
        while True:
            piece: Answer[bytes] = self.ask("piece", path, size, offset)
            if not piece.ok or piece.value:
                yield piece
            if len(piece.value or b"") < size:
                return
            offset += size

    def digest_tree(
        self, path: str, *, members: Callable[[str], bool], descend: Callable[[str], bool] = lambda _: False
    ) -> Answer[TreeDigest]:
        """Return the digests of a directory's files; the two functions are called in this process."""
        return digest_tree(self, _NoMemory(), path, members, descend)  # type: ignore[arg-type]

    def commands(self, *argvs: Any, **options: Any) -> list[CommandAnswer]:
        """Run commands side by side and answer in order."""
        return self.ask("commands", *argvs, **options)  # type: ignore[no-any-return]

    def command(self, argv: Any, **options: Any) -> CommandAnswer:
        """Run one command."""
        return self.commands(argv, **{"timeout": COMMAND_TIMEOUT_S, **options})[0]


def _done(doing: dict[str, Callable[..., Any]], what: str, *words: Any) -> bytes:
    try:
        return wire.pack(("ok", doing[what](*words)))
    except Exception as error:
        plain = type(error).__module__ == "builtins"
        try:
            return wire.pack(("error", error if plain else RuntimeError(f"{type(error).__name__}: {error}")))
        except Exception:
            return wire.pack(("error", RuntimeError(type(error).__name__)))


def _forwarded(name: str) -> Callable[..., Any]:
    def ask(self: DistantContext, *words: Any, **options: Any) -> Any:
        return self.ask(name, *words, **options)

    ask.__doc__ = getattr(Context, name).__doc__
    return ask


for _name in wire.QUESTIONS:
    setattr(DistantContext, _name, _forwarded(_name))


class _NoMemory:
    """Stands for what remembers whole trees: that is the other process's."""

    def known_tree(self, *_: Any) -> None:
        """Know none."""

    def remember_tree(self, *_: Any) -> None:
        """Remember none."""
