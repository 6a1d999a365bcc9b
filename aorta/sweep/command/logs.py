"""Looks through the logs of a trial for all that is looked for in them, in one pass over each."""

import contextlib
import os
from collections.abc import Iterator, Sequence

from aorta.sweep.command.catalogue import Enabled
from aorta.sweep.command.custom import CustomScan
from aorta.sweep.command.steps import StepScan
from aorta.sweep.files import TrialFiles
from aorta.sweep.outcome import Finding


@contextlib.contextmanager
def to_read(files: TrialFiles) -> Iterator[tuple[int, int]]:
    """Open the logs of a trial to be read, while no command can have put other files in their place."""
    with contextlib.ExitStack() as stack:
        handles = []
        for path in (files.stdout, files.stderr):
            handles.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            stack.callback(os.close, handles[-1])
        yield handles[0], handles[1]


def read_logs(
    logs: tuple[int, int], enabled: Enabled, custom: Sequence[CustomScan], steps: StepScan | None
) -> tuple[list[Finding], list[str]]:
    """Return what the built-in patterns found, and notes; the other scans keep what they found."""
    found: list[Finding] = []
    notes: list[str] = []
    for stream, log in zip(("stdout", "stderr"), logs, strict=True):
        try:
            if os.fstat(log).st_size:
                found += _read_log(stream, log, enabled, custom, steps)
        except OSError as error:
            notes.append(f"the log of {stream} could not be read: {error.strerror}")
    if not found:
        return found, notes
    from aorta.sweep.command.scan import strongest

    return strongest(found), notes


def _read_log(
    stream: str, log: int, enabled: Enabled, custom: Sequence[CustomScan], steps: StepScan | None
) -> list[Finding]:
    from aorta.sweep.command.blocks import blocks
    from aorta.sweep.command.lines import lines_of
    from aorta.sweep.command.scan import Scan

    scan = Scan(stream, enabled) if enabled.tier("tier4") else None
    for block in blocks(log):
        if scan is not None:
            scan.scan(block)
        wanted = [one for one in custom if one.open]
        if not wanted and (steps is None or steps.gave_up):
            continue
        lines = lines_of(block)
        for one in wanted:
            one.scan(stream, lines)
        if steps is not None:
            steps.scan(lines)
    return [] if scan is None else scan.findings()


def replaced(logs: tuple[int, int], files: TrialFiles) -> list[str]:
    """Return notes on logs that are not in their places any more: they were judged, and are not kept."""
    notes = []
    for log, stream, path in zip(logs, ("stdout", "stderr"), (files.stdout, files.stderr), strict=True):
        try:
            is_there = os.path.samestat(os.fstat(log), os.lstat(path))
        except OSError:
            is_there = False
        if not is_there:
            notes.append(f"the log of {stream} was taken away or replaced: it was judged, and is not kept")
    return notes
