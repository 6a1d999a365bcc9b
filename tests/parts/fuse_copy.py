"""``fuse_copy.py MOUNT_POINT FOLDER``: the files of a folder, read-only; one whose name holds ``hang`` is never read."""

import os
import sys
import threading
from typing import Any

import mfusepy


class Copy(mfusepy.Operations):
    """The answers of the file system."""

    use_ns = True

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def getattr(self, path: str, fh: Any = None) -> dict[str, int]:
        try:
            found = os.lstat(self.folder + path)
        except OSError as error:
            raise mfusepy.FuseOSError(error.errno) from error
        return {"st_mode": found.st_mode, "st_nlink": found.st_nlink, "st_size": found.st_size}

    def readdir(self, path: str, fh: Any) -> list[str]:
        return [".", "..", *os.listdir(self.folder + path)]

    def readlink(self, path: str) -> str:
        return os.readlink(self.folder + path)

    def read(self, path: str, size: int, offset: int, fh: Any) -> bytes:
        if "hang" in path:
            threading.Event().wait()
        with open(self.folder + path, "rb") as file:
            return os.pread(file.fileno(), size, offset)


if __name__ == "__main__":
    mfusepy.FUSE(
        Copy(sys.argv[2]),
        sys.argv[1],
        foreground=True,
        nothreads=False,
        allow_other=True,
        attr_timeout=0,
        entry_timeout=0,
        fsname="copy",
    )
