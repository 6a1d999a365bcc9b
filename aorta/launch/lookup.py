"""Looking a host's name up, with an end: the system's own look-up may take as long as its servers let it."""

import contextlib
import socket
import threading
import time

from aorta.launch.tasks import LaunchError

#: Seconds that a name may take: the name of a host that is just starting may not be known yet.
LOOKUP_S = 15.0
_AGAIN_S = 0.5


class _Lookup(threading.Thread):
    """One question; a name service that does not answer holds up this thread alone, no signal and no exit."""

    def __init__(self, name: str) -> None:
        super().__init__(name=f"look up {name}", daemon=True)
        self._host = name
        self.addresses: list[str] = []
        self.why: str | None = None

    def run(self) -> None:
        """Ask."""
        try:
            found = socket.getaddrinfo(self._host, None, type=socket.SOCK_STREAM)
            self.addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        except (OSError, UnicodeError) as error:
            self.why = getattr(error, "strerror", None) or str(error)


def addresses_of(host: str, seconds: float = LOOKUP_S) -> list[str]:
    """Return the numeric addresses of a host, the best first. Raises LaunchError when none is had in time."""
    # One that is a number already needs no thread.
    with contextlib.suppress(OSError, UnicodeError):
        socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        return [host]
    until = time.monotonic() + seconds
    why = None
    while (left := until - time.monotonic()) > 0:
        asked = _Lookup(host)
        asked.start()
        asked.join(left)
        if asked.addresses:
            return asked.addresses
        why = asked.why or why
        time.sleep(min(_AGAIN_S, max(until - time.monotonic(), 0.0)))
    raise LaunchError(
        f"rank 0's host {host!r} cannot be looked up ({why or f'no answer in {seconds:g} s'}): set"
        " MASTER_ADDR to a name or number by which all hosts reach it"
    )
