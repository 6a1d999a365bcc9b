"""``Channel``: a connection of two ranks; JSON objects, one a line, each with its ``kind``."""

import contextlib
import json
import socket
import struct
import threading
from typing import Any

Message = dict[str, Any]

#: Seconds between two signs of life, and after how many without one the other side is lost.
SIGN_S, SILENCE_S = 1.0, 8.0
#: A thread that did not come to look for so many seconds stood still itself, with its process or machine.
STILL_S = 2.0
#: The longest message, in bytes: a snapshot is a hundredth of it.
LIMIT = 64 << 20

#: Seconds after which one is lost that takes nothing of what it is sent.
SENDING_S = 20
_PIECE = 1 << 16


class ChannelClosedError(Exception):
    """The other side is gone; the text says how that was seen."""


class Channel:
    """One end of a connection. Any thread may send; one receives."""

    def __init__(self, connection: socket.socket, limit: int = LIMIT, sending_s: int = SENDING_S) -> None:
        self._socket = connection
        #: The longest message that is taken, in bytes.
        self.limit = limit
        self._sending = threading.Lock()
        self._received = bytearray()
        self._unread: list[Message] = []
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            patience = struct.pack("ll", sending_s, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
        connection.setblocking(True)

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._socket.fileno()

    def send(self, kind: str, **members: Any) -> None:
        """Send a message. Raises ChannelClosedError."""
        line = json.dumps({"kind": kind, **members}, allow_nan=False).encode() + b"\n"
        with self._sending:
            try:
                self._socket.sendall(line)
            except OSError as error:
                raise ChannelClosedError(error.strerror or str(error)) from None

    def received(self) -> list[Message]:
        """Return the messages that have come, without waiting. Raises ChannelClosedError."""
        try:
            piece = self._socket.recv(_PIECE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError as error:
            raise ChannelClosedError(error.strerror or str(error)) from None
        if not piece:
            raise ChannelClosedError("its connection was closed")
        self._received += piece
        if len(self._received) > self.limit:
            raise ChannelClosedError("it sent more than a message may hold")
        if b"\n" not in piece:
            return []
        *lines, rest = self._received.split(b"\n")
        self._received = rest
        return [_message(line) for line in lines]

    def put_back(self, messages: list[Message]) -> None:
        """Keep messages for whoever takes this connection over."""
        self._unread = messages

    def unread(self) -> list[Message]:
        """Return what was put back, once."""
        unread, self._unread = self._unread, []
        return unread

    def finish(self) -> None:
        """Say no more: the other side hears so after all that was said."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def hang_up(self) -> None:
        """End the connection for both sides; threads that wait on it see so."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the connection, once no thread uses it any longer."""
        self.hang_up()
        self._socket.close()


def _message(line: bytes | bytearray) -> Message:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise ChannelClosedError("it does not speak aorta's protocol")
    return message
