"""Where another rank's logs go: beside rank 0's if both hosts see one directory, else their ends are sent."""

import contextlib
import glob
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping

from aorta.model.text import count_of
from aorta.sweep.files import TrialFiles
from aorta.sweep.workload.tail import tail_of

#: The most of a rank's log that goes into the record.
_LINES, _BYTES = 30, 4 << 10
#: The most of a log that is sent, in bytes.
LOG_BYTES = 256 << 10

#: A directory that rank 0 made may show late on a network file system.
_SHOWS_S, _PAUSE_S = 2.0, 0.05


@contextlib.contextmanager
def files_at(stem: str, run_id: str) -> Iterator[tuple[TrialFiles, bool]]:
    """Yield where a trial's files are, and whether rank 0 sees them.

    The directory has the run's time in its name, so that one of this name is rank 0's.
    """
    if _shows(os.path.dirname(stem)):
        yield TrialFiles(stem=stem), True
        return
    with tempfile.TemporaryDirectory(prefix=_own(run_id), ignore_cleanup_errors=True) as folder:
        yield TrialFiles(stem=os.path.join(folder, os.path.basename(stem))), False


def forget(run_id: str) -> None:
    """Remove what a rank of a run that was killed left apart from it."""
    begin = os.path.join(tempfile.gettempdir(), _own(run_id))
    for folder in glob.glob(f"{glob.escape(begin)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _own(run_id: str) -> str:
    return f"aorta-rank-{run_id}-"


def _shows(folder: str) -> bool:
    until = time.monotonic() + (_SHOWS_S if os.path.isdir(os.path.dirname(os.path.dirname(folder))) else 0.0)
    while not os.path.isdir(folder):
        if time.monotonic() >= until:
            return False
        time.sleep(_PAUSE_S)
    return True


def ends_of_logs(files: TrialFiles) -> dict[str, str]:
    """Return the ends of a rank's logs, which rank 0 does not see: ``stdout`` and ``stderr``."""
    return {"stdout": tail_of(files.stdout, LOG_BYTES), "stderr": tail_of(files.stderr, LOG_BYTES)}


def end_of_log(files: TrialFiles) -> str:
    """Return the last lines that a rank wrote, to its standard error if anything."""
    for path in (files.stderr, files.stdout):
        lines = tail_of(path, _BYTES).splitlines()[-_LINES:]
        if any(line.strip() for line in lines):
            return "\n".join(lines)
    return ""


def not_kept(files: TrialFiles) -> tuple[str, ...]:
    """Return a note on files that a rank left where rank 0 does not see them: they end with the trial."""
    count = sum(len(names) for _, _, names in os.walk(files.folder))
    if not count:
        return ()
    return (
        f"{count_of(count, 'file')} in AORTA_ARTIFACT_DIR not kept: rank 0's host does not see its directory",
    )


def keep_logs(files: TrialFiles, logs: Mapping[str, str]) -> None:
    """Write what another rank sent of its logs where they would be if it saw the directory."""
    for name in logs.keys() & {"stdout", "stderr"}:
        with contextlib.suppress(OSError), open(getattr(files, name), "w", encoding="utf-8") as file:
            file.write(logs[name])
