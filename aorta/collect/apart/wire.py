"""Messages between the two processes: pickles, each with its length before it."""

import pickle
import socket
import struct
from typing import Any

#: The longest message; a value that does not fit is no fact for a document.
LIMIT = 64 << 20

#: The questions of a context that one process asks of the other as they are.
# fmt: off
QUESTIONS = (
    "text", "data", "link", "stat", "scan", "digests", "digest_method", "elf", "find", "env", "env_names",
    "distribution", "module", "resource", "torch", "need", "note", "cover", "allowance",
)
# fmt: on

_LENGTH = struct.Struct("!Q")
_PIECE = 1 << 20


class TooLongError(ValueError):
    """A message beyond the limit."""


def pack(message: Any) -> bytes:
    """Return a message as it is sent. Raises TooLongError, and what pickling raises."""
    data = pickle.dumps(message, protocol=4)
    if len(data) > LIMIT:
        raise TooLongError(f"{len(data)} bytes, {LIMIT} at most")
    return data


def send(wire: socket.socket, data: bytes) -> None:
    """Send what was packed. Raises OSError where nobody reads."""
    wire.sendall(_LENGTH.pack(len(data)))
    wire.sendall(data)


def receive(wire: socket.socket) -> Any:
    """Return the next message. Raises EOFError at the end, and what loading it raises."""
    (length,) = _LENGTH.unpack(_exactly(wire, _LENGTH.size))
    if length > LIMIT:
        raise TooLongError(f"{length} bytes, {LIMIT} at most")
    return pickle.loads(_exactly(wire, length))  # noqa: S301 - the plugin's code ran in this process before


def _exactly(wire: socket.socket, number: int) -> bytes:
    parts = bytearray()
    while len(parts) < number:
        part = wire.recv(min(_PIECE, number - len(parts)))
        if not part:
            raise EOFError("the other process closed the connection")
        parts += part
    return bytes(parts)
