"""The other side: the plugin's code, with a context whose questions the first process answers."""

import contextlib
import faulthandler
import importlib
import operator
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from aorta.collect.answer import Answer, CommandAnswer
from aorta.collect.apart import wire
from aorta.collect.context import COMMAND_TIMEOUT_S, Context
from aorta.collect.request import Request
from aorta.collect.tree_digest import TreeDigest, digest_tree
from aorta.host.protocol import READ_LIMIT
from aorta.model.snapshot import DigestCount
from aorta.plugin.declare import place_of
from aorta.plugin.manager import specs_of


def main(told: dict[str, Any]) -> None:
    """Run one collector and send what becomes of it; the process ends here."""
    # A descriptor of its own: the plugin may close the standard ones.
    stacks = os.dup(2)
    _end_late(told["until"] - time.monotonic(), stacks)
    with contextlib.suppress(OSError, TypeError):
        os.chdir(told["folder"])
    connection = socket.socket(fileno=told["wire"])
    connection.set_inheritable(False)
    wire.send(connection, _last_word(told, connection, stacks))
    # A thread or a handler that the plugin left must not keep the process.
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(0)


def _end_late(seconds: float, stacks: int) -> None:
    """Let the process say where it is and end, by a thread that needs no lock of the interpreter."""
    faulthandler.dump_traceback_later(max(0.05, seconds), exit=True, file=stacks)


def _last_word(told: dict[str, Any], connection: socket.socket, stacks: int) -> bytes:
    place = told["module"]
    try:
        module = importlib.import_module(told["module"])
        # What its code may take begins here; the process as a whole has its own end.
        _end_late(min(told["timeout_s"], told["until"] - time.monotonic()), stacks)
        if "function" in told:
            function = operator.attrgetter(told["function"])(module)
            place = place_of(function)
            value = function()
        else:
            spec = next(each for each in specs_of(module) if each.name == told["section"])
            place = spec.place
            wire.send(connection, wire.pack(("began",)))
            value = spec.function(DistantContext(connection, spec.name, *wire.receive(connection)))
    except BaseException as error:
        return wire.pack(("raised", f"{type(error).__name__} at {_raised_at(error, place)}"))
    try:
        return wire.pack(("returned", value))
    except wire.TooLongError as error:
        return wire.pack(("raised", f"returned too much: {error}"))
    except Exception as error:
        text = f"returned {type(value).__name__}, which cannot leave its process: {type(error).__name__}"
        return wire.pack(("raised", text))


def _raised_at(error: BaseException, place: str) -> str:
    """Return ``file:line`` of the innermost frame in the collector's own file, else of the innermost."""
    file, innermost, own = place.rpartition(":")[0], place, None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        innermost = f"{code.co_filename}:{trace.tb_lineno}"
        own = innermost if code.co_filename == file else own
        trace = trace.tb_next
    return own or innermost


class DistantContext(Context):
    """A context whose questions go to another process; what needs no machine is done here."""

    def __init__(
        self, connection: socket.socket, section: str, request: Request, host_kind: str, until: float
    ) -> None:
        self._wire = connection
        self._turn = threading.RLock()
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
        with self._turn:
            wire.send(self._wire, wire.pack((what, words, options)))
            word, value = wire.receive(self._wire)
        if word == "error":
            raise value
        return value

    def observe(self, key: str, function: Callable[[], Any] | None = None) -> Answer[Any]:
        """Ask what the interpreter says of itself; a function of one's own is called in this process."""
        if function is None:
            return self.ask("observe", key)  # type: ignore[no-any-return]
        with self._turn:
            wire.send(self._wire, wire.pack(("observe_own", (key,), {})))
            word, value = wire.receive(self._wire)
            if word == "evaluate":
                wire.send(self._wire, _evaluated(function))
                word, value = wire.receive(self._wire)
        if word == "error":
            raise value
        return value  # type: ignore[no-any-return]

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


def _evaluated(function: Callable[[], Any]) -> bytes:
    try:
        return wire.pack(("ok", function()))
    except Exception as error:
        try:
            return wire.pack(("error", error))
        except Exception:
            return wire.pack(("error", RuntimeError(f"{type(error).__name__}: {error}")))
