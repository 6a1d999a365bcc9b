# ruff: noqa: ARG002 - every operation takes what a host's takes, and uses none of it
"""Hosts that give nothing: one that denies everything, one on which everything hangs."""

import errno
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from aorta.host.elf import Elf
from aorta.host.fake import FakeHost
from aorta.host.protocol import (
    PLAIN,
    READ_LIMIT,
    Argv,
    Completed,
    Distribution,
    Entry,
    Limit,
    Manner,
    Module,
    Stat,
)
from aorta.model.vocabulary import Outcome


class RefusingHost(FakeHost):
    """A host on which every question comes to one end, ``_refuse``; ``asked``: there was one."""

    asked = False

    def _refuse(self, what: str) -> NoReturn:
        self.asked = True
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), what)

    def read_bytes(
        self, path: str, limit: int = READ_LIMIT, *, timeout: float | None = None, offset: int = 0
    ) -> bytes:
        """Refuse."""
        self._refuse(path)

    def link(self, path: str, *, timeout: float | None = None) -> str:
        """Refuse."""
        self._refuse(path)

    def stat(self, path: str, *, timeout: float | None = None, follow: bool = True) -> Stat:
        """Refuse."""
        self._refuse(path)

    def scan(self, path: str, *, timeout: float | None = None, details: bool = True) -> list[Entry]:
        """Refuse."""
        self._refuse(path)

    def sha256(self, path: str, *, timeout: float | None = None) -> str:
        """Refuse."""
        self._refuse(path)

    def elf(self, path: str, symbols: str | None = None, *, timeout: float | None = None) -> Elf:
        """Refuse."""
        self._refuse(path)

    def distribution(self, name: str) -> Distribution | None:
        """Refuse."""
        self._refuse(name)

    def module(self, name: str) -> Module | None:
        """Refuse."""
        self._refuse(name)

    def observe(self, key: str, function: Callable[[], Any]) -> Any:
        """Refuse."""
        self._refuse(key)

    def resource(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Refuse."""
        self._refuse(path)

    def find(self, path: str, pattern: str, *, timeout: float | None = None) -> list[str]:
        """Refuse."""
        self._refuse(path)

    def torch(self, how: str, *, timeout: float) -> dict[str, Any]:
        """Refuse."""
        self._refuse("torch")


class DenyingHost(RefusingHost):
    """A host that lets nothing be read, no command be run, and whose environment is empty."""

    def run(
        self,
        argv: Argv,
        *,
        timeout: float | Limit,
        path: Sequence[str] = (),
        manner: Manner = PLAIN,
    ) -> Completed:
        """Refuse."""
        self.asked = True
        return Completed(outcome=Outcome.DENIED, detail=os.strerror(errno.EACCES))


class HangingHost(RefusingHost):
    """A host on which every operation hangs until it is closed, whatever time it was given."""

    def __init__(self) -> None:
        super().__init__()
        self._closed = threading.Event()

    def _refuse(self, what: str) -> NoReturn:
        self.asked = True
        self._closed.wait()
        raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT), what)

    def run(
        self,
        argv: Argv,
        *,
        timeout: float | Limit,
        path: Sequence[str] = (),
        manner: Manner = PLAIN,
    ) -> Completed:
        """Hang."""
        self._closed.wait()
        return Completed(outcome=Outcome.TIMED_OUT)

    def close(self) -> None:
        """Let everything go on."""
        self._closed.set()
