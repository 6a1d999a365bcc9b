"""Whether the results can be written."""

import os
from collections.abc import Iterator

from aorta.model.text import printable
from aorta.sweep.planning.checking.problem import Problem, error, warning

#: Fewer free bytes than this are few for a sweep.
LEAST_FREE = 100_000_000


def check_output(output: str) -> Iterator[Problem]:
    """Yield what keeps a directory for results from being made and filled; it is not made here."""
    nearest = os.path.abspath(output)
    while not os.path.lexists(nearest) and nearest != "/":
        nearest = os.path.dirname(nearest)
    shown, about = printable(nearest), f"results cannot be written to {printable(output)}"
    if not os.path.isdir(nearest):
        # A link to nowhere is there too.
        yield error(f"{about}: {shown} is no directory")
    elif not os.access(nearest, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        yield error(f"{about}: {shown} is not writable; choose another with --output")
    else:
        yield from _free(nearest, shown)


def _free(path: str, shown: str) -> Iterator[Problem]:
    try:
        found = os.statvfs(path)
    except OSError:
        return
    free = found.f_bavail * found.f_frsize
    if free < LEAST_FREE:
        yield warning(f"only {free / 1e6:.0f} MB are free in {shown}, where the results go")
