"""A mounted file system that hangs on demand, for as long as a ``with`` block lasts."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.parts.needs import need

#: A mount ends by itself after this time, so that nothing can hang for longer.
LIFETIME_S = 60
_START_S = 10


@contextlib.contextmanager
def hanging_mount(program: str = "fuse_hang.py", *words: str) -> Iterator[str]:
    """Mount ``fuse_hang.py`` or another one with further words; yield the mount point, a path without links."""
    need(os.geteuid() == 0 and os.path.exists("/dev/fuse"), "needs root and /dev/fuse")
    need("fusermount", "needs libfuse")
    need(importlib.util.find_spec("mfusepy") is not None, "needs mfusepy")
    point = os.path.realpath(tempfile.mkdtemp(prefix="hanging-"))
    command = [sys.executable, str(Path(__file__).with_name(program)), point, *words]
    daemon = subprocess.Popen(
        ["timeout", "-s", "KILL", str(LIFETIME_S), *command],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    try:
        _wait_for(point, daemon)
        yield point
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()
        subprocess.run(["umount", "-l", point], check=False, stderr=subprocess.DEVNULL)
        os.rmdir(point)


def _wait_for(point: str, daemon: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _START_S
    while f" {point} " not in Path("/proc/self/mountinfo").read_text():
        assert daemon.poll() is None, "the FUSE daemon ended"
        assert time.monotonic() < until, "the FUSE daemon did not mount"
        time.sleep(0.02)
