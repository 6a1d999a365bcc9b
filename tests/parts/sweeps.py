"""Real sweeps in a folder of their own: ``aorta sweep`` as a process, and what it leaves."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.parts.pages import ROOT
from tests.parts.uncovered import UNCOVERED

#: A recipe of a command in cells of one mitigation each.
PROBE = """
schema_version: 1
mode: probe
ticket: {ticket}
trials: {trials}
mitigation_axis: [{axis}]
diagnostic_axis: [none]
{more}
"""


class Sweeps:
    """Runs ``aorta sweep`` in a folder. A PATH without tools keeps each snapshot short."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "programs"
        self.programs.mkdir()
        (folder / "home").mkdir()
        self.started: list[subprocess.Popen] = []
        for name in ("sh", "true", "false", "sleep", "cat", "env"):
            (self.programs / name).symlink_to(f"/bin/{name}" if name != "env" else "/usr/bin/env")

    def environ(self, *, covered: bool = False, **env) -> dict[str, str]:
        """Return the whole environment of a run."""
        kept = os.environ if covered else UNCOVERED
        measured = {name: value for name, value in kept.items() if name.startswith("COVERAGE")}
        return {
            **measured,
            "PATH": str(self.programs),
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": f"{ROOT}:{ROOT}/collectors",
            **env,
        }

    def recipe(self, axis="none", *, trials=2, more="", ticket="T-1", name="r.yaml") -> str:
        """Write a recipe of a command."""
        (self.folder / name).write_text(PROBE.format(axis=axis, trials=trials, more=more, ticket=ticket))
        return name

    def write(self, name: str, text: str) -> str:
        """Write a file into the folder."""
        (self.folder / name).write_text(text)
        return name

    def call(self, *words, timeout=100, **env) -> subprocess.CompletedProcess:
        """Run ``aorta sweep WORDS`` to its end."""
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "aorta", "sweep", *words],
            cwd=self.folder,
            env=self.environ(covered=True, **env),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def run(self, *words, command=(), recipe="r.yaml", timeout=100, **env) -> subprocess.CompletedProcess:
        """Run ``aorta sweep run`` with a recipe and a command to its end."""
        tail = ("--", *command) if command else ()
        named = ("--recipe", recipe) if recipe else ()
        return self.call("run", *named, *words, *tail, timeout=timeout, **env)

    def start(self, *words, command=(), recipe="r.yaml", **env) -> subprocess.Popen:
        """Start ``aorta sweep run``."""
        tail = ("--", *command) if command else ()
        named = ("--recipe", recipe) if recipe else ()
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "aorta", "sweep", "run", *named, *words, *tail],
            cwd=self.folder,
            env=self.environ(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """End what was started."""
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()

    @property
    def runs(self) -> list[Path]:
        """Return the directories of all runs, oldest first."""
        return sorted(path.parent for path in self.folder.glob("triage_results/*/*/2*/matrix.json"))

    @property
    def only_run(self) -> Path:
        """Return the directory of the one run."""
        [run] = self.runs
        return run

    def matrix(self) -> dict:
        """Return the matrix of the one run."""
        return json.loads((self.only_run / "matrix.json").read_text())

    def records(self, run: Path | None = None) -> dict[tuple[str, int], dict]:
        """Return the records of the one run, by cell and trial."""
        found = {}
        for path in sorted((run or self.only_run).glob("cells/*/trial_*.json")):
            record = json.loads(path.read_text())
            found[record["cell"], record["trial"]] = record
        return found

    def lines(self, name: str) -> list[str]:
        """Return the lines of a file that trials write to."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []


def wait_for(condition, seconds=20):
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.01)


def processes_with(mark: str) -> list[int]:
    """Return the living processes that have a text among their words or variables."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            told = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if state not in "ZX" and mark.encode() in told:
            found.append(int(pid))
    return found
