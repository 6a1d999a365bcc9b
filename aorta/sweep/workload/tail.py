"""The end of a log, which tells most of a process that ended without an answer."""

import os

#: The most bytes of it that are looked at.
LOG_BYTES = 16 << 10


def tail_of(path: str, limit: int = LOG_BYTES) -> str:
    """Return the end of a log; an empty text where there is none."""
    try:
        # A workload may have put a pipe in its place.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - limit))
            return file.read().decode("utf-8", "backslashreplace")
    except OSError:
        return ""
