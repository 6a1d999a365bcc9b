"""This side: starts the process, answers its questions, and says what became of it."""

import contextlib
import importlib.util
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aorta.collect.answer import asked
from aorta.collect.apart import wire
from aorta.host.interpreter import ending, place_in
from aorta.host.protocol import Completed, Host
from aorta.host.slow import interpreter
from aorta.model.vocabulary import Outcome, ReasonKind
from aorta.plugin.declare import Spec
from aorta.plugin.manager import specs_of

if TYPE_CHECKING:
    from aorta.collect.context import Context

#: Seconds that a process may take to start and import, beside what its collector may take.
START_S = 5.0

#: The last seconds of a run, in which a process that hangs says where, and is ended.
LAST_S = 0.3

#: What the other process may ask of this one's context.
ASKED = frozenset((*wire.QUESTIONS, "commands"))

_BOOT = """
import json, sys
told = json.loads(sys.stdin.buffer.read())
sys.path[:] = told["path"]
from aorta.collect.apart.child import main
main(told)
"""


class LostError(Exception):
    """The process gave no value; ``kind`` and ``place`` (file:line) say why and where."""

    def __init__(self, kind: ReasonKind, text: str, place: str | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.place = place


def may_run_apart(spec: Spec) -> bool:
    """Tell whether another process would find a collector: by its module, in a file that it can import."""
    name = spec.function.__module__
    return is_importable(name) and spec in specs_of(sys.modules[name])


def is_importable(name: str) -> bool:
    """Tell whether another process can import a module of this one by its name."""
    if name == "__main__" or name not in sys.modules or interpreter() is None:
        return False
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    return found is not None and found.origin not in (None, "built-in", "frozen")


def run_apart(spec: Spec, ctx: "Context", host: Host, timeout_s: float) -> Any:
    """Return what a collector returns in a process of its own, which asks this host. Raises LostError.

    Its code has ``timeout_s`` seconds, the process with its start what the context has left.
    """
    what = {"module": spec.function.__module__, "section": spec.name, "timeout_s": timeout_s}
    return _run(what, host, ctx.remaining(), lambda here: _Service(here, ctx, host))


def evaluate_apart(function: Callable[[], Any], host: Host, limit_s: float) -> Any:
    """Return what a function of a module returns, in a process of its own. Raises LostError."""
    what = {"module": function.__module__, "function": function.__qualname__, "timeout_s": limit_s}
    return _run(what, host, START_S + limit_s, _Service)


def _run(
    what: Mapping[str, Any], host: Host, limit: float, serve: "Callable[[socket.socket], _Service]"
) -> Any:
    here, there = socket.socketpair()
    service = serve(here)
    thread = threading.Thread(target=service.run, name=f"answers {what['module']}", daemon=True)
    told = {
        **what,
        "wire": there.fileno(),
        "path": [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)],
        "folder": _working_directory(),
        "until": time.monotonic() + limit - LAST_S,
    }
    program = interpreter() or sys.executable
    try:
        thread.start()
        done = host.workers().run(
            [program, "-c", _BOOT],
            timeout=limit,
            stdin=json.dumps(told).encode(),
            pass_fds=(there.fileno(),),
        )
    finally:
        there.close()
        with contextlib.suppress(OSError):
            here.shutdown(socket.SHUT_RDWR)
        thread.join(LAST_S)
        here.close()
    return _outcome(service, done, what["timeout_s"])


class _Service:
    """Answers the questions of one process until it is gone; keeps the last word it said."""

    def __init__(
        self, connection: socket.socket, ctx: "Context | None" = None, host: Host | None = None
    ) -> None:
        self._wire = connection
        self._ctx = ctx
        self._host = host
        self.returned: tuple[Any] | None = None
        self.failed: LostError | None = None

    def run(self) -> None:
        """Serve; ends with the connection."""
        try:
            while True:
                self._take(*wire.receive(self._wire))
        except (EOFError, OSError):
            return
        except Exception as error:
            # What it returned cannot be read here, such as an instance of a class that is not importable.
            text = f"what it returned cannot be read: {type(error).__name__}"
            self.failed = self.failed or LostError(ReasonKind.FAILED, text)

    def _take(self, what: str, *told: Any) -> None:
        if what == "began" and self._ctx is not None:
            until = time.monotonic() + self._ctx.remaining()
            wire.send(self._wire, wire.pack((self._ctx.request, self._ctx.host_kind, until)))
        elif what == "returned":
            self.returned = told
        elif what == "raised":
            self.failed = LostError(ReasonKind.FAILED, *told)
        else:
            wire.send(self._wire, self._answered(what, *told))

    def _answered(self, what: str, words: tuple[Any, ...], options: dict[str, Any]) -> bytes:
        try:
            return wire.pack(("ok", self._asked(what, words, options)))
        except Exception as error:
            try:
                return wire.pack(("error", error))
            except Exception:
                return wire.pack(("error", RuntimeError(f"{type(error).__name__}: {error}")))

    def _asked(self, what: str, words: tuple[Any, ...], options: dict[str, Any]) -> Any:
        ctx, host = self._ctx, self._host
        if ctx is None or host is None:
            raise AttributeError("there is nobody to ask")
        if what == "piece":
            path, size, offset = words
            left = ctx.remaining()
            return asked(path, lambda: host.read_bytes(path, size, timeout=left, offset=offset))
        if what == "observe":
            return ctx.observe(words[0])
        if what == "observe_own":
            return ctx.observe(words[0], self._evaluated)
        if what not in ASKED:
            raise AttributeError(f"a collector may not ask for {what}")
        return getattr(ctx, what)(*words, **options)

    def _evaluated(self) -> Any:
        """Have the other process ask its own interpreter, where the host wants to know."""
        wire.send(self._wire, wire.pack(("evaluate", None)))
        word, value = wire.receive(self._wire)
        if word == "error":
            raise value
        return value


def _working_directory() -> str | None:
    with contextlib.suppress(OSError):
        return os.getcwd()
    return None


def _outcome(service: _Service, done: Completed, timeout_s: float) -> Any:
    if service.failed is not None:
        raise service.failed
    if service.returned is not None:
        return service.returned[0]
    place = place_in(done.stderr).rpartition(" at ")[2] or None
    if done.outcome in (Outcome.TIMED_OUT, Outcome.ABANDONED) or place is not None:
        where = f" and was at {place}" if place else ""
        raise LostError(ReasonKind.TIMED_OUT, f"it had {timeout_s:g} s{where}; its process was ended", place)
    raise LostError(ReasonKind.FAILED, f"its process told no value: {ending(done)}")
