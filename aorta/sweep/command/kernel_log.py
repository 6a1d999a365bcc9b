"""What the kernel logs while a trial runs, by the cheapest way that this user may go."""

import os
import re
import time
from collections.abc import Sequence
from typing import Protocol

_DEVICE = "/dev/kmsg"
_COMMAND_S = 5.0
#: A log that was flooded is read up to here.
_MOST_MESSAGES = 20_000
_TIME = re.compile(r"^(?:<\d+>)?\[\s*(\d+\.\d+)\]\s?")


class KernelLog(Protocol):
    """A way to the kernel log."""

    def begin(self) -> None:
        """Take what is logged from now on."""

    def messages(self) -> list[str]:
        """Return what was logged since the beginning."""


class Device:
    """``/dev/kmsg``, which costs two system calls a trial when nothing is logged."""

    def __init__(self) -> None:
        self._handle = os.open(_DEVICE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def begin(self) -> None:
        """Go to the end."""
        os.lseek(self._handle, 0, os.SEEK_END)

    def messages(self) -> list[str]:
        """Read up to the end; one record at a time is what the device gives."""
        found: list[str] = []
        while len(found) < _MOST_MESSAGES:
            try:
                record = os.read(self._handle, 8192)
            except BrokenPipeError:
                # Records were overwritten before they were read; the next read goes on after them.
                continue
            except OSError:
                break
            if not record:
                break
            text = record.decode("utf-8", "replace").partition(";")[2]
            found.append(text.partition("\n")[0])
        return found


class Dmesg:
    """The command ``dmesg``, run before and after. Raises OSError when it tells nothing."""

    def __init__(self) -> None:
        self._last = 0.0
        self._argv: Sequence[str] = ("dmesg", "--nopager")
        if _said(self._argv) is None:
            self._argv = ("dmesg",)
            if _said(self._argv) is None:
                raise OSError("dmesg does not show the kernel log")

    def _timed(self) -> list[tuple[float, str]]:
        lines = (_said(self._argv) or "").splitlines()
        return [(float(found[1]), line[found.end() :]) for line in lines if (found := _TIME.match(line))]

    def begin(self) -> None:
        """Note the time of the last message, by the clock of the kernel log."""
        self._last = max((when for when, _ in self._timed()), default=0.0)

    def messages(self) -> list[str]:
        """Return the later ones."""
        return [text for when, text in self._timed() if when > self._last][:_MOST_MESSAGES]


class Journal:
    """The journal of systemd, which may be readable where the kernel's own log is not."""

    _ARGV = ("journalctl", "--dmesg", "--quiet", "--no-pager", "--output=cat")

    def __init__(self) -> None:
        self._since = time.time()
        if not _said((*self._ARGV, "--lines=1")):
            raise OSError("journalctl does not show the kernel log")

    def begin(self) -> None:
        """Note the time."""
        self._since = time.time()

    def messages(self) -> list[str]:
        """Return those since then."""
        said = _said((*self._ARGV, f"--since=@{self._since:.6f}")) or ""
        return said.splitlines()[:_MOST_MESSAGES]


def open_kernel_log(*, has_gpu: bool) -> KernelLog | None:
    """Return a way to the kernel log; None for none.

    Commands, which cost some milliseconds a trial, are only used where there is a GPU to be told of.
    """
    for kind in (Device, Dmesg, Journal) if has_gpu else (Device,):
        try:
            way: KernelLog = kind()
            way.begin()
        except OSError:
            continue
        return way
    return None


def _said(argv: Sequence[str]) -> str | None:
    """Return what a command says; None when it fails."""
    import subprocess

    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_COMMAND_S,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
