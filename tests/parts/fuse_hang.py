"""``fuse_hang.py MOUNT_POINT``: a real file system, some of whose files never answer.

``ok`` and ``bin/tool`` answer at once, ``hang`` never answers a stat, ``hangread`` answers a stat but
never a read, ``slow-N`` answers a stat after N seconds. Links: ``out`` leads to /etc/hostname,
``inner`` to ``ok``. Only SIGKILL ends the daemon: libfuse waits for its threads at SIGTERM.
"""

import errno
import stat
import sys
import threading
import time
from typing import Any

import mfusepy

SCRIPT = b"#!/bin/sh\necho from the mount; exit 7\n"
FILES = {"/ok": 0o644, "/bin/tool": 0o755, "/bin/plain": 0o644, "/hangread": 0o755}
LINKS = {"/out": "/etc/hostname", "/inner": "ok"}
DIRECTORIES = {
    "/": ["ok", "bin", "hang", "hangread", *(name[1:] for name in LINKS)],
    "/bin": ["tool", "plain"],
}


class Hanging(mfusepy.Operations):
    """The answers of the file system."""

    use_ns = True

    def getattr(self, path: str, fh: Any = None) -> dict[str, int]:
        if path == "/hang":
            threading.Event().wait()
        if path.startswith("/slow-"):
            time.sleep(float(path.removeprefix("/slow-")))
        if path in DIRECTORIES:
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path in LINKS:
            return {"st_mode": stat.S_IFLNK | 0o777, "st_nlink": 1, "st_size": len(LINKS[path])}
        if path in FILES or path.startswith("/slow-"):
            mode = FILES.get(path, 0o644)
            return {"st_mode": stat.S_IFREG | mode, "st_nlink": 1, "st_size": len(SCRIPT)}
        raise mfusepy.FuseOSError(errno.ENOENT)

    def readdir(self, path: str, fh: Any) -> list[str]:
        return [".", "..", *DIRECTORIES[path]]

    def readlink(self, path: str) -> str:
        return LINKS[path]

    def read(self, path: str, size: int, offset: int, fh: Any) -> bytes:
        if path == "/hangread":
            threading.Event().wait()
        return SCRIPT[offset : offset + size]


if __name__ == "__main__":
    mfusepy.FUSE(
        Hanging(),
        sys.argv[1],
        foreground=True,
        nothreads=False,
        allow_other=True,
        attr_timeout=0,
        entry_timeout=0,
        fsname="hanging",
    )
