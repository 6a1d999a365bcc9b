"""``Service``: answers the questions of a collector that runs in another process."""

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

from aorta.collect.answer import asked
from aorta.collect.apart import wire
from aorta.collect.packed import Packed
from aorta.host.patterns import tried_by
from aorta.host.protocol import Host

if TYPE_CHECKING:
    from aorta.collect.context import Context

#: What the other process may ask of this one's context.
ASKED = frozenset((*wire.QUESTIONS, "commands"))

#: Seconds in which what was said last is heard in any case.
LATE_S = 0.3

_STEP_S = 0.05

#: Questions whose second argument is the most bytes of the answer.
_SIZED = ("text", "data", "resource", "piece")

#: What the other process says last.
_LAST = ("returned", "provided", "raised", "unknown")


class Service:
    """Answers one process until it has said its last word or is gone.

    ``last`` is that word with its value (two empty ones where there was none), ``booted`` tells that our
    own code ran there, ``began`` when (monotonic) the plugin's did.
    """

    def __init__(self, timeout_s: float, ctx: "Context | None" = None, host: Host | None = None) -> None:
        self.timeout_s = timeout_s
        self.ctx = ctx
        self.last: tuple[str, Any] = ("", None)
        self.booted = False
        self.began: float | None = None
        self._host = host
        self._thread: threading.Thread | None = None

    def start(self, connection: socket.socket, name: str) -> None:
        """Answer from now on. Raises RuntimeError where no thread can be started."""
        thread = threading.Thread(target=self._run, args=(connection,), name=f"answers {name}", daemon=True)
        thread.start()
        self._thread = thread

    def end(self, connection: socket.socket, limit_s: float) -> None:
        """Hear for ``limit_s`` seconds what was said before the process ended, then answer no more."""
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        begun = time.monotonic()
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(_STEP_S)
            waited = time.monotonic() - begun
            if waited > max(limit_s, LATE_S):
                break
        connection.close()

    def _run(self, connection: socket.socket) -> None:
        try:
            with tried_by(lambda what, *words: self._do(connection, what, *words)):
                while not self.last[0]:
                    self._take(connection, *wire.receive_plain(connection))
        except (EOFError, OSError):
            return
        except Exception as error:
            # Such as an instance of a class that is no part of a model.
            text = f"what it returned cannot be read: {type(error).__name__}: {error}"
            self.last = self.last if self.last[0] else ("raised", text)

    def _take(self, connection: socket.socket, word: str, *told: Any) -> None:
        if word == "booted":
            self.booted = True
        elif word == "began":
            self.began = time.monotonic()
            wire.send(connection, wire.pack(self._known()))
        elif word in _LAST:
            (value,) = told
            self.last = word, Packed(value) if word == "provided" else value
        else:
            answer = self._answered(connection, word, *told)
            # Who asked may be gone, and may have said something after that.
            with contextlib.suppress(OSError):
                wire.send(connection, answer)

    def _known(self) -> tuple[Any, ...]:
        if self.ctx is None:
            return ()
        return self.ctx.request, self.ctx.host_kind, self.ctx.begin(self.timeout_s)

    def _answered(
        self, connection: socket.socket, what: str, words: tuple[Any, ...], options: dict[str, Any]
    ) -> bytes:
        try:
            return wire.pack(("ok", self._asked(connection, what, words, options)))
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            try:
                return wire.pack(("error", error))
            except Exception:
                return wire.pack(("error", RuntimeError(f"{type(error).__name__}: {error}")))

    def _asked(
        self, connection: socket.socket, what: str, words: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        ctx, host = self.ctx, self._host
        if ctx is None or host is None:
            raise AttributeError("there is nobody to ask")
        if what in _SIZED:
            _check_size(*words[1:2], *options.values())
        if what == "piece":
            path, size, offset = words
            left = ctx.remaining()
            return asked(path, lambda: host.read_bytes(path, size, timeout=left, offset=offset))
        if what == "need":
            return ctx.need_packed(*words)
        if what == "observe":
            return ctx.observe(words[0])
        if what == "observe_own":
            return ctx.observe(words[0], lambda: self._do(connection, "observe"))
        if what not in ASKED:
            raise AttributeError(f"a collector may not ask for {what}")
        return getattr(ctx, what)(*words, **options)

    def _do(self, connection: socket.socket, what: str, *words: Any) -> Any:
        """Have the plugin's process do something: it may never end, and only that process with it."""
        wire.send(connection, wire.pack(("do", what, *words)))
        word, value = wire.receive_plain(connection)
        if word == "error":
            raise value
        if word != "ok":
            self.last = word, value
            raise EOFError("it went on to something else")
        return value


def _check_size(*sizes: Any) -> None:
    """Raise ValueError for a number of bytes that no answer can have: the file would be read for nothing."""
    for size in sizes:
        if isinstance(size, int) and size > wire.LIMIT:
            raise ValueError(f"{size} is more than the {wire.LIMIT} bytes that one answer can have")
