"""Digests of files, each file read once a capture."""

import threading

from aorta.collect.answer import Answer, asked
from aorta.host.protocol import Host


class Digests:
    """Remembers the digests of one capture by path."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._done: dict[str, Answer[str]] = {}

    def file(self, path: str, timeout: float) -> tuple[Answer[str], bool]:
        """Return ``sha256:HEX`` of a file and whether it was read now."""
        with self._lock:
            known = self._done.get(path)
        if known is not None:
            return known, False
        answer = asked(path, lambda: f"sha256:{self._host.sha256(path, timeout=timeout)}")
        with self._lock:
            self._done[path] = answer
        return answer, answer.ok
