"""The end of a log, which tells most of a process that ended without an answer."""

import os

#: The most bytes of it that are looked at.
LOG_BYTES = 16 << 10


def tail_of(path: str, limit: int = LOG_BYTES) -> str:
    """Return the end of a log; an empty text where there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - limit))
            return file.read().decode("utf-8", "backslashreplace")
    except OSError:
        return ""
