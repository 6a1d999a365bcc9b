"""Which log of a rank says something: its standard error, or its standard output where that is empty."""

import os
from collections.abc import Mapping
from typing import Any

from aorta.sweep.files import TrialFiles

_STDERR = ".stderr.log"


def telling_log(folder: str, stderr: str) -> str | None:
    """Return which log of a rank holds anything, relative to the run in ``folder``; null for none.

    ``stderr`` is the path of its standard error, relative to the run.
    """
    paths = (stderr, TrialFiles(stem=stderr.removesuffix(_STDERR)).stdout)
    return next((path for path in paths if _size(os.path.join(folder, path))), None)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def log_of(trial: Mapping[str, Any]) -> str | None:
    """Return the log to look at for a trial of several ranks, as the document lists trials.

    Where nobody looked which one holds anything, it is the standard error.
    """
    found: str | None = trial.get("log", trial.get("stderr"))
    return found
