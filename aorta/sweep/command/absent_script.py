"""A program that ran and found no script to run: an error of the launch, and nothing about the subject."""

import functools
import os
import re

from aorta.sweep.command.catalogue import fired
from aorta.sweep.command.exits import End
from aorta.sweep.command.waiting import EXITED
from aorta.sweep.outcome import Finding

_ID = "tier1:exec_failed"
#: How much of the begin of the standard error is looked at: these words come first.
_BYTES = 8192


@functools.cache
def _told() -> "re.Pattern[bytes]":
    return re.compile(
        rb"^(?:\S*python[\d.]*: (?:can't open file .*: \[Errno \d+\]|No module named ).*"
        # Line 0 is the shell's own; bash ends with 127.
        rb"|\S*sh: 0: [Cc]an(?:no|')t open .*"
        rb"|Can't open perl script .*)$",
        re.MULTILINE,
    )


def absent_script(end: End, stderr: int) -> Finding | None:
    """Return what an interpreter says of its script, if it says that there is none and ended with that."""
    if end.how != EXITED or not end.status.code:
        return None
    try:
        begin = os.pread(stderr, _BYTES, 0)
    except OSError:
        return None
    found = _told().search(begin)
    if found is None:
        return None
    text = found[0].decode("utf-8", "replace").strip()
    line = begin.count(b"\n", 0, found.start()) + 1
    return fired(_ID, text, f"stderr:{line}")
