"""This side: starts the process, and says what became of it."""

import contextlib
import importlib.util
import socket
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aorta.collect.apart.lost import START_S, LostError, NotApartError
from aorta.collect.apart.service import Service
from aorta.host.double import LAST_S, Ended, NoDoubleError, run_double
from aorta.host.protocol import Host
from aorta.host.slow import interpreter
from aorta.model.redact import redact
from aorta.model.text import printable
from aorta.model.vocabulary import Outcome, ReasonKind
from aorta.plugin.declare import Spec, place_of
from aorta.plugin.manager import specs_of

if TYPE_CHECKING:
    from aorta.collect.context import Context

#: The most characters of what the other process says went wrong.
TOLD_LIMIT = 1000

#: The most characters of what it prints that are passed on.
NOISE_LIMIT = 4000

_CODE = """
from aorta.collect.apart.child import main
main(told)
"""


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
    """Return what a collector returns in a process of its own, which asks this host.

    Its code has ``timeout_s`` seconds, the process with its start what the context has left. Raises
    LostError where there is no value, NotApartError before its code ran.
    """
    what = {"module": spec.function.__module__, "section": spec.name, "timeout_s": timeout_s}
    return _run(what, Service(timeout_s, ctx, host), host, ctx.remaining(), spec.place)


def evaluate_apart(function: Callable[[], Any], host: Host, limit_s: float) -> Any:
    """Return what a function of a module returns, in a process of its own; raises as ``run_apart`` does."""
    what = {"module": function.__module__, "function": function.__qualname__, "timeout_s": limit_s}
    return _run(what, Service(limit_s), host, limit_s, place_of(function))


def _run(what: Mapping[str, Any], service: Service, host: Host, limit_s: float, place: str) -> Any:
    until, ended = time.monotonic() + limit_s, None
    try:
        here, there = socket.socketpair()
    except OSError as error:
        raise LostError(ReasonKind.FAILED, f"no process for it: {error.strerror}") from None
    try:
        service.start(here, what["module"])
        wire = there.fileno()
        ended = run_double(host.workers(), _CODE, {**what, "wire": wire}, limit_s, (wire,))
        over = time.monotonic()
    except NoDoubleError as error:
        raise NotApartError(str(error)) from None
    except RuntimeError:
        raise LostError(ReasonKind.FAILED, "no process for it: no thread can be started") from None
    finally:
        there.close()
        # One that was ended said nothing more, and what it asked last may take long.
        service.end(here, 0.0 if ended is None or ended.hung else until - time.monotonic())
    _pass_on(f"{ended.done.stdout}{ended.done.stderr}")
    # One that writes its stacks while it goes on may crash over that.
    late = service.began is not None and over - service.began >= service.timeout_s
    hung = ended.hung or (late and ended.done.outcome is Outcome.SIGNAL)
    return _outcome(service, ended, str(what.get("section", "it")), place.rpartition(":")[0], hung=hung)


def _pass_on(noise: str) -> None:
    """Print what the process printed, to standard error, for whoever looks at a plugin."""
    if len(noise) > NOISE_LIMIT:
        noise = f"{noise[:NOISE_LIMIT]}\n… {len(noise) - NOISE_LIMIT} characters more\n"
    if noise and sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write("".join(f"{printable(line)}\n" for line in noise.splitlines()))
            sys.stderr.flush()


def _outcome(service: Service, ended: Ended, name: str, file: str, *, hung: bool) -> Any:
    word, value = service.last
    if word in ("returned", "provided"):
        return value
    if word == "raised":
        raise LostError(ReasonKind.FAILED, redact(str(value))[:TOLD_LIMIT])
    if word == "unknown" or not (hung or service.booted):
        raise NotApartError(str(value or ended.how))
    # What was written until a crash is no whole stack.
    place = None if hung and not ended.hung else ended.place(file)
    if not hung:
        at = f" at {place}" if place else ""
        raise LostError(ReasonKind.FAILED, f"its process gave no value: {ended.how}{at}", place)
    kind, who, limit = _limit(service)
    where = f" and {name} was at {place}" if place else ""
    raise LostError(kind, f"{who} had {limit:g} s{where}; its process was ended", place)


def _limit(service: Service) -> tuple[ReasonKind, str, float]:
    """Return the kind of end that a process came to which did not end, who was at its end, and its time."""
    ctx, used = service.ctx, None if service.began is None else time.monotonic() - service.began
    over = used is None or used < service.timeout_s - LAST_S
    if ctx is not None and ctx.last and over:
        return ReasonKind.BUDGET, "the capture", ctx.request.deadline_s
    if used is None:
        return ReasonKind.TIMED_OUT, "its process, to start,", START_S
    return ReasonKind.TIMED_OUT, "it", service.timeout_s
