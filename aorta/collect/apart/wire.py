"""Messages between the two processes: pickles, each with its length before it.

This process loads what the other one sends by ``Plain``: data, and instances of classes that are known
here already. Loading never imports a module and calls no function that the other process names.
"""

import enum
import io
import pickle
import socket
import struct
import sys
from typing import Any

from aorta.collect.packed import dumps
from aorta.model.frozen import is_model

#: The longest message; a value that does not fit is no fact for a document.
LIMIT = 64 << 20

#: The questions of a context that one process asks of the other as they are.
# fmt: off
QUESTIONS = (
    "text", "data", "link", "stat", "scan", "digests", "digest_method", "elf", "find", "env", "env_names",
    "distribution", "module", "resource", "torch", "note", "cover", "allowance",
)
# fmt: on

#: Classes that are data wherever they come from, by their modules.
_DATA = {
    "builtins": {"set", "frozenset", "bytearray", "complex", "dict", "range", "slice", "object"},
    "collections": {"OrderedDict", "Counter", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "pathlib": {"Path", "PosixPath", "PurePath", "PurePosixPath"},
    "pathlib._local": {"Path", "PosixPath", "PurePath", "PurePosixPath"},
    "uuid": {"UUID"},
}

_LENGTH = struct.Struct("!Q")
_PIECE = 1 << 20


class TooLongError(ValueError):
    """A message beyond the limit."""


class ForeignError(pickle.UnpicklingError):
    """A message with an instance of a class that is no part of a model."""


class Plain(pickle.Unpickler):
    """Loads data, models and words, of classes that this process has imported."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class. Raises ForeignError for what is none, or none of these."""
        if name in _DATA.get(module, ()):
            return super().find_class(module, name)
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = vars(found).get(part) if hasattr(found, "__dict__") else None
        if isinstance(found, type):
            ours = module == "builtins" or module.partition(".")[0] == "aorta"
            if is_model(found) or issubclass(found, enum.Enum) or (ours and issubclass(found, Exception)):
                return found
        raise ForeignError(f"{module}.{name} is no part of a model")


def pack(message: Any) -> bytes:
    """Return a message as it is sent. Raises TooLongError, and what pickling raises."""
    data = dumps(message)
    if len(data) > LIMIT:
        raise TooLongError(f"{len(data)} bytes, {LIMIT} at most")
    return data


def send(wire: socket.socket, data: bytes) -> None:
    """Send what was packed. Raises OSError where nobody reads."""
    wire.sendall(_LENGTH.pack(len(data)) + data)


def receive(wire: socket.socket) -> Any:
    """Return the next message. Raises EOFError at the end, and what loading it raises."""
    return pickle.loads(_message(wire))  # noqa: S301 - what this process's own parent says


def receive_plain(wire: socket.socket) -> Any:
    """Return the next message of a plugin's process, as ``receive`` does, or raise ForeignError."""
    return plain(_message(wire))


def plain(data: bytes) -> Any:
    """Return what was pickled, if it is data. Raises ForeignError."""
    return Plain(io.BytesIO(data)).load()


def _message(wire: socket.socket) -> bytes:
    (length,) = _LENGTH.unpack(_exactly(wire, _LENGTH.size))
    if length > LIMIT:
        raise TooLongError(f"{length} bytes, {LIMIT} at most")
    return _exactly(wire, length)


def _exactly(wire: socket.socket, number: int) -> bytes:
    parts = bytearray()
    while len(parts) < number:
        part = wire.recv(min(_PIECE, number - len(parts)))
        if not part:
            raise EOFError("the other process closed the connection")
        parts += part
    return bytes(parts)
