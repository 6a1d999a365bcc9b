"""Looks through the logs of a trial for all that is looked for in them, in one pass over each."""

import os
from collections.abc import Sequence

from aorta.sweep.command.catalogue import Enabled
from aorta.sweep.command.custom import CustomScan
from aorta.sweep.command.steps import StepScan
from aorta.sweep.files import TrialFiles
from aorta.sweep.outcome import Finding


def read_logs(
    files: TrialFiles, enabled: Enabled, custom: Sequence[CustomScan], steps: StepScan | None
) -> tuple[list[Finding], list[str]]:
    """Return what the built-in patterns found, and notes; the other scans keep what they found."""
    found: list[Finding] = []
    notes: list[str] = []
    for stream, path in (("stdout", files.stdout), ("stderr", files.stderr)):
        try:
            if os.stat(path).st_size:
                found += _read_log(stream, path, enabled, custom, steps)
        except OSError as error:
            notes.append(f"the log of {stream} could not be read: {error.strerror}")
    if not found:
        return found, notes
    from aorta.sweep.command.scan import strongest

    return strongest(found), notes


def _read_log(
    stream: str, path: str, enabled: Enabled, custom: Sequence[CustomScan], steps: StepScan | None
) -> list[Finding]:
    from aorta.sweep.command.blocks import blocks
    from aorta.sweep.command.lines import lines_of
    from aorta.sweep.command.scan import Scan

    scan = Scan(stream, enabled) if enabled.tier("tier4") else None
    for block in blocks(path):
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
