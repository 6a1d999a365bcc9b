"""One trial of a real command, with a recipe of its own."""

import os
import sys
import time

import pytest

from aorta.sweep.command.execute import CommandRunner
from aorta.sweep.files import TrialFiles
from aorta.sweep.recipe.model import PROBE, Recipe


class Trials:
    """Executes trials in a directory; ``files`` are those of the last one."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0
        self.files = None

    def environ(self):
        return {
            "PATH": os.environ["PATH"],
            "AORTA_SWEEP_RUN": f"run-{self.folder}",
            "AORTA_CELL": "cell",
            "AORTA_TRIAL": str(self.count),
            "AORTA_ARTIFACT_DIR": self.files.folder,
        }

    def runner(self, *argv, **recipe):
        return CommandRunner(Recipe(mode=PROBE, **recipe), argv)

    def execute(self, runner, environ=None, **given):
        self.count += 1
        self.files = TrialFiles(stem=str(self.folder / f"trial_{self.count:03d}"))
        return runner.execute(self.files, {**self.environ(), **(environ or {})}, **given)

    def sh(self, script, environ=None, **recipe):
        return self.execute(self.runner("sh", "-c", script, **recipe), environ)

    def python(self, script, environ=None, **recipe):
        return self.execute(self.runner(sys.executable, "-I", "-S", "-c", script, **recipe), environ)

    def living(self):
        """Return the processes of these trials that still live."""
        mark, found = f"AORTA_SWEEP_RUN=run-{self.folder}".encode(), []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    environ = file.read().split(b"\0")
                with open(f"/proc/{name}/stat") as file:
                    state = file.read().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if mark in environ and state not in "ZX":
                found.append(int(name))
        return found


@pytest.fixture
def trials(tmp_path):
    made = Trials(tmp_path)
    yield made
    until = time.monotonic() + 2
    while made.living() and time.monotonic() < until:
        time.sleep(0.02)
    assert made.living() == []
