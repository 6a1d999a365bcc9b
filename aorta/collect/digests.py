"""Digests of files, each file read once a capture."""

import threading
import time

from aorta.collect.answer import Answer, asked
from aorta.host.protocol import Host
from aorta.model.vocabulary import ReasonKind


class Digests:
    """Remembers the digests of one capture by path."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = threading.Lock()
        self._done: dict[str, Answer[str]] = {}
        self._being_read: dict[str, threading.Event] = {}

    def file(self, path: str, timeout: float) -> tuple[Answer[str], bool]:
        """Return ``sha256:HEX`` of a file and whether it was read now.

        Who asks for a file that another one reads waits for that one, as long as its own time goes. A
        time that was over is not remembered: the next one may have more.
        """
        until = time.monotonic() + timeout
        while True:
            with self._lock:
                known = self._done.get(path)
                if known is not None:
                    return known, False
                reading = self._being_read.get(path)
                if reading is None:
                    done = self._being_read[path] = threading.Event()
                    break
            if not reading.wait(max(0.0, until - time.monotonic())):
                detail = f"{path}: not read within {timeout:.3g} s"
                return Answer(kind=ReasonKind.TIMED_OUT, subject=path, detail=detail), False
        try:
            left = max(0.0, until - time.monotonic())
            answer = asked(path, lambda: f"sha256:{self._host.sha256(path, timeout=left)}")
            if answer.kind is not ReasonKind.TIMED_OUT:
                self._done[path] = answer
        finally:
            with self._lock:
                del self._being_read[path]
            done.set()
        return answer, answer.ok
