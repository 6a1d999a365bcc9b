"""Running the command line as users do: a fresh process, its streams and its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCHERS = (
    "SLURM",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_",
    "GROUP_",
    "OMPI",
    "PMI",
    "MPI_",
    "TORCHELASTIC",
    "AORTA",
)


def clean_environ(*, covered=True, **extra):
    """Return the environment without anything of a launcher or of aorta.

    A process under coverage writes a file of its own at its end: not where writing is limited.
    """
    dropped = LAUNCHERS if covered else (*LAUNCHERS, "COVERAGE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    search = [str(ROOT), str(ROOT / "collectors")]
    return {**kept, "PYTHONPATH": os.pathsep.join(search), **extra}


class Ran:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return self.err.splitlines()


class Cli:
    """Calls ``python -m aorta`` in a directory of its own."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *words, env=None, module="aorta", stdin=None, covered=True, **options):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", module, *map(str, words)],
            cwd=self.folder,
            env=clean_environ(covered=covered, **(env or {})),
            input=stdin,
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            text=True,
            timeout=100,
            **options,
        )
        return Ran(done)

    def probe(self, *words, **options):
        return self("env", "probe", *words, **options)


@pytest.fixture
def cli(tmp_path):
    return Cli(tmp_path)


HEADER = {
    "recording": 1,
    "aorta": "0",
    "created": "2026-01-01T00:00:00Z",
    "world": "closed",
    "redacted": True,
}


@pytest.fixture
def recording(tmp_path):
    """Return a function that writes a closed recording and returns its path."""

    def write(*accesses, **header):
        path = tmp_path / "host.jsonl"
        lines = [{**HEADER, **header}, *accesses]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


@pytest.fixture
def tools(tmp_path):
    """Return a function that makes an executable, and the PATH that has them first."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(name, script):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return f"{folder}:/usr/bin:/bin"

    return make


@pytest.fixture
def environ():
    """Return the function that makes a clean environment."""
    return clean_environ
