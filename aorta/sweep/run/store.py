"""``RunDirectory``: where a run's files are, written so that there is never half of one.

    triage_results/<ticket>/<workload>/<time>/
        matrix.md  matrix.json  recipe.resolved.yaml  host_env.json
        [host_env.after.json  nodes/<node>/host_env.json  nodes/<node>/host_env.after.json]
        environments/<name>/env.json  [environments/<name>/nodes/<node>.json]
        cells/<cell>/trial_000.json  trial_000.stdout.log  trial_000.stderr.log  [trial_000.files/]

Files are renamed into place without waiting for the disk: a process that is killed loses nothing, and after
a loss of power a record that is not whole counts as a trial that was not run.
"""

import contextlib
import fcntl
import os
import time

from aorta.sweep.files import TrialFiles, trial_stem
from aorta.sweep.run.rewritten import rewrite
from aorta.sweep.slug import slug

#: Where results go unless the user says otherwise.
DEFAULT_OUTPUT = "triage_results"
MATRIX_MD, MATRIX_JSON = "matrix.md", "matrix.json"
RECIPE, HOST_ENV = "recipe.resolved.yaml", "host_env.json"
#: Only where a host was another at the end of a run; the others' beside rank 0's are in folders of their own.
HOST_AFTER, NODES = "host_env.after.json", "nodes"
CELLS, ENVIRONMENTS, LATEST = "cells", "environments", "latest"
NO_TICKET = "_no_ticket_"
LOCK = ".lock"


class StoreError(Exception):
    """A run's directory cannot be made, read or had; the text says why and what to do."""


def place_of(output: str, ticket: str | None, workload: str) -> str:
    """Return the directory of all runs of one ticket and workload."""
    return os.path.join(output, slug(ticket) if ticket else NO_TICKET, slug(workload))


def write(path: str, text: str, mode: int = 0o666, *, passing: bool = False) -> None:
    """Write a file's text in place of what it held, all of it or nothing. Raises OSError.

    What is ``passing`` will soon be written again.
    """
    temporary = f"{path}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        try:
            data = memoryview(text.encode())
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)
        if passing:
            rewrite(path, temporary)
        else:
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


class RunDirectory:
    """The directory of one run, which no other process writes to as long as this one does."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._lock = _locked(self.path)
        self._cells: set[str] = set()

    @property
    def name(self) -> str:
        """Return the run's own part of the path, its time."""
        return os.path.basename(self.path)

    @property
    def begun(self) -> bool:
        """Tell whether there is a run to go on with."""
        return os.path.exists(os.path.join(self.path, MATRIX_JSON))

    def close(self) -> None:
        """Let others write to the directory."""
        os.close(self._lock)

    def files(self, cell: str, trial: int) -> TrialFiles:
        """Return where a trial's files are; its directory is made."""
        cells = os.path.join(self.path, CELLS)
        if cell not in self._cells:
            os.makedirs(os.path.join(cells, slug(cell)), exist_ok=True)
            self._cells.add(cell)
        return TrialFiles(stem=trial_stem(cells, slug(cell), trial))

    def relative(self, path: str) -> str:
        """Return a path as it stands in the run's files."""
        return os.path.relpath(path, self.path)

    def write(self, name: str, text: str, mode: int = 0o666, *, passing: bool = False) -> None:
        """Write one of the run's own files, named relative to it."""
        path = os.path.join(self.path, name)
        if os.sep in name:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, text, mode, passing=passing)


def new_run(output: str, ticket: str | None, workload: str) -> RunDirectory:
    """Make the directory of a new run, named by the time; ``latest`` leads to it. Raises StoreError."""
    place = place_of(output, ticket, workload)
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime())
    try:
        os.makedirs(place, exist_ok=True)
        path = _fresh(os.path.join(place, stamp))
    except OSError as error:
        raise StoreError(f"cannot make a run's directory in {place}: {error.strerror}") from None
    run = RunDirectory(path)
    point_at(place, run.name)
    return run


def _fresh(path: str) -> str:
    """Make a directory that was not there; of two runs of one second the second gets another name."""
    for number in range(1, 10_000):
        named = path if number == 1 else f"{path}-{number}"
        with contextlib.suppress(FileExistsError):
            os.mkdir(named)
            return named
    raise FileExistsError(17, "thousands of runs began in this second", path)


def point_at(place: str, name: str) -> None:
    """Let ``latest`` lead to a run; a file system without links goes without."""
    link = os.path.join(place, LATEST)
    temporary = f"{link}.{os.getpid()}.tmp"
    with contextlib.suppress(OSError):
        os.symlink(name, temporary)
        os.replace(temporary, link)


def _locked(path: str) -> int:
    """Return the descriptor of a lock that ends with this process. Raises StoreError."""
    try:
        descriptor = os.open(os.path.join(path, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise StoreError(f"cannot write to the run {path}: {error.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise StoreError(f"another aorta is at work on the run {path}; wait for it or end it") from None
    except OSError:
        # Some network file systems have no locks; there the run's own directory must do.
        pass
    return descriptor
