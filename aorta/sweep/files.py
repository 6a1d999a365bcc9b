"""``TrialFiles``: where the files of one trial are."""

import contextlib
import os

from aorta.model.frozen import frozen

#: What serves the process of a workload's trial while it runs: its request, what it found
#: before it cleaned up, its answer, its trace.
WORKING = ("request.json", "early.json", "response.json", "trace")


@frozen
class TrialFiles:
    """The files of one trial, as absolute paths: what the trial writes, beside its record.

    ``folder`` is for the files of the trial's own (``AORTA_ARTIFACT_DIR``); it need not exist before the
    trial, and is taken away when nothing was put in.
    """

    stem: str

    @property
    def record(self) -> str:
        """Return the path of the trial's record."""
        return f"{self.stem}.json"

    @property
    def stdout(self) -> str:
        """Return the path of what the trial wrote to its standard output."""
        return f"{self.stem}.stdout.log"

    @property
    def stderr(self) -> str:
        """Return the path of what the trial wrote to its standard error."""
        return f"{self.stem}.stderr.log"

    @property
    def stacks(self) -> str:
        """Return the path of the stacks of a trial's process that had to be ended."""
        return f"{self.stem}.stacks.log"

    @property
    def folder(self) -> str:
        """Return the directory for files of the trial's own."""
        return f"{self.stem}.files"

    def of_rank(self, rank: int) -> "TrialFiles":
        """Return the files of one of several ranks: ``trial_000.rank1.stdout.log``."""
        return TrialFiles(stem=f"{self.stem}.rank{rank}")

    def working(self) -> dict[str, str]:
        """Return the paths of what serves the trial's process alone, by the names in WORKING."""
        return {name: f"{self.stem}.{name}" for name in WORKING}

    def clear(self) -> None:
        """Take away what served the trial's process: its request may hold secrets."""
        parts = [f"{self.stem}.{name}.part" for name in ("early.json", "response.json")]
        for path in (*self.working().values(), *parts):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    @property
    def environ(self) -> str:
        """Return the path of the file of variables that a command may be given."""
        return f"{self.stem}.env"


def trial_stem(cells: str, cell: str, trial: int) -> str:
    """Return the common part of the paths of a trial's files."""
    return os.path.join(cells, cell, f"trial_{trial:03d}")
