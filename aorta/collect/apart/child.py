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
from typing import Any

from aorta.collect.apart import wire
from aorta.collect.apart.distant import DistantContext
from aorta.collect.packed import dumps
from aorta.plugin.declare import CollectorSpec, Spec, place_of
from aorta.plugin.manager import specs_of


def main(told: dict[str, Any]) -> None:
    """Run one collector and send what becomes of it; the process ends here."""
    own = os.getpid()
    # A descriptor of its own: the plugin may close the standard ones.
    stacks = os.dup(told["stacks"])
    faulthandler.enable(file=stacks, all_threads=False)
    _end_late(told["until"] - time.monotonic(), stacks)
    connection = socket.socket(fileno=told["wire"])
    connection.set_inheritable(False)
    turn = threading.RLock()
    wire.send(connection, wire.pack(("booted",)))
    last = _last_word(told, connection, turn, stacks)
    # A copy that the plugin's code made of this process gets here too.
    if os.getpid() == own:
        with turn:
            wire.send(connection, last)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
    # A thread or a handler that the plugin left must not keep the process.
    os._exit(0)


def _end_late(seconds: float, stacks: int) -> None:
    """Let the process say where it is and end, by a thread that needs no lock of the interpreter."""
    faulthandler.dump_traceback_later(max(0.05, seconds), exit=True, file=stacks)


def _last_word(
    told: dict[str, Any], connection: socket.socket, turn: "threading.RLock", stacks: int
) -> bytes:
    place = told["module"]
    try:
        module = importlib.import_module(told["module"])
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and f"{told['module']}.".startswith(f"{error.name}."):
            return wire.pack(("unknown", str(error)))
        return _raised(error, getattr(sys.modules.get(told["module"]), "__file__", None) or "", place)
    try:
        with turn:
            wire.send(connection, wire.pack(("began",)))
            known = wire.receive(connection)
        # What its code may take begins here; the process as a whole has its own end.
        _end_late(min(told["timeout_s"], told["until"] - time.monotonic()), stacks)
        if "function" in told:
            function = operator.attrgetter(told["function"])(module)
            place = place_of(function)
            return _returned(function(), None)
        spec = next(each for each in specs_of(module) if each.name == told["section"])
        place = spec.place
        return _returned(spec.function(DistantContext(connection, turn, spec.name, *known)), spec)
    except BaseException as error:
        return _raised(error, place.rpartition(":")[0], place)


def _returned(value: Any, spec: Spec | None) -> bytes:
    """Return the message of a value; what is no section stays packed for those that need it."""
    try:
        if spec is None or isinstance(spec, CollectorSpec):
            return wire.pack(("returned", value))
        if not isinstance(value, spec.model):
            text = f"returned {type(value).__name__}, declared is {spec.model.__name__}"
            return wire.pack(("raised", text))
        return wire.pack(("provided", dumps(value)))
    except wire.TooLongError as error:
        return wire.pack(("raised", f"returned too much: {error}"))
    except Exception as error:
        text = f"returned {type(value).__name__}, which cannot leave its process: {type(error).__name__}"
        return wire.pack(("raised", text))


def _raised(error: BaseException, file: str, place: str) -> bytes:
    return wire.pack(("raised", f"{type(error).__name__} at {_raised_at(error, file, place)}"))


def _raised_at(error: BaseException, file: str, place: str) -> str:
    """Return ``file:line`` of the innermost frame in the collector's own file, else of the innermost."""
    innermost, own = place, None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        innermost = f"{code.co_filename}:{trace.tb_lineno}"
        own = innermost if code.co_filename == file else own
        trace = trace.tb_next
    return own or innermost
