"""A store of texts that the ranks of a trial share over TCP: the standard library alone, rank 0 serves it."""

import contextlib
import json
import socket
import socketserver
import threading
import time
from typing import Any

#: The longest line of the protocol, in bytes.
LINE_BYTES = 64 << 20
_RETRY_S = 0.05


class StoreError(OSError):
    """The store cannot be reached, or a key did not come in time; the text says which."""


def address_of(store: str | None) -> tuple[str, int]:
    """Return the host and port of a trial's store. Raises ValueError where there is none."""
    if store is None:
        raise ValueError("there are several ranks, but no store for them: MASTER_ADDR and MASTER_PORT")
    host, _, port = store.rpartition(":")
    return host, int(port)


class Server:
    """Serves a store at a host and port (0: any free one, see ``port``). Raises OSError when it is taken.

    An empty host is all addresses of this one, IPv6 among them where the kernel has both.
    """

    def __init__(self, host: str, port: int) -> None:
        values: dict[str, str] = {}
        changed = threading.Condition()

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while line := self.rfile.readline(LINE_BYTES):
                    answer = _answered(json.loads(line), values, changed)
                    self.wfile.write(json.dumps(answer).encode() + b"\n")

        class Threads(socketserver.ThreadingTCPServer):
            address_family = _family(host)
            daemon_threads = True
            block_on_close = False
            allow_reuse_address = True
            request_queue_size = 1024

            def server_bind(self) -> None:
                if self.address_family == socket.AF_INET6:
                    self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                super().server_bind()

            def handle_error(self, *_: Any) -> None:
                """Say nothing: a client that is gone tells its own trouble."""

        self._server = Threads((host, port), Handler)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(2.0)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if not host and socket.has_dualstack_ipv6() else socket.AF_INET


def _answered(wish: dict[str, Any], values: dict[str, str], changed: threading.Condition) -> dict[str, Any]:
    with changed:
        if "value" in wish:
            values[wish["key"]] = wish["value"]
            changed.notify_all()
            return {}
        if changed.wait_for(lambda: wish["key"] in values, wish["wait_s"]):
            return {"value": values.pop(wish["key"]) if wish["last"] else values[wish["key"]]}
        return {"missing": True}


class Client:
    """One rank's connection. All waiting ends after ``timeout_s``. Raises StoreError."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._where = f"{host}:{port}"
        until = time.monotonic() + timeout_s
        while True:
            try:
                self._socket = socket.create_connection((host, port), timeout=max(timeout_s, 0.1))
                break
            except OSError as error:
                if time.monotonic() >= until:
                    why = error.strerror or error
                    raise StoreError(
                        f"no store of rank 0 at {self._where} within {timeout_s:g} s: {why}"
                    ) from None
                time.sleep(_RETRY_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(timeout_s + 5.0)
        self._file = self._socket.makefile("rb")

    def set(self, key: str, value: str) -> None:
        """Put a value under a key."""
        self._asked({"key": key, "value": value})

    def get(self, key: str, *, last: bool = False) -> str:
        """Return the value of a key, which is waited for; ``last`` takes it out of the store."""
        answer = self._asked({"key": key, "wait_s": self._timeout_s, "last": last})
        if "value" not in answer:
            raise StoreError(f"{key} did not come to the store at {self._where} within {self._timeout_s:g} s")
        return str(answer["value"])

    def _asked(self, wish: dict[str, Any]) -> dict[str, Any]:
        try:
            self._socket.sendall(json.dumps(wish).encode() + b"\n")
            line = self._file.readline(LINE_BYTES)
        except OSError as error:
            raise StoreError(f"the store at {self._where} is lost: {error.strerror or error}") from None
        if not line:
            raise StoreError(f"the store at {self._where} is gone: rank 0 has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self._file.close()
            self._socket.close()
