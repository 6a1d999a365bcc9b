"""Distributions as users get them: wheels of a copied source tree, installed into fresh environments."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.parts.pages import ROOT

#: The environment of a user who has nothing to do with this checkout.
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if name != "PYTHONPATH" and not name.startswith(("AORTA_", "COVERAGE_"))
}

#: What a checkout does not hold, or what no installation needs.
NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".coverage*", ".venv", "*.egg-info", "build", "dist", "__pycache__", ".*_cache", "hosts"
)


def run(*command: str | Path, **options) -> str:
    """Run a command in the clean environment; return what it printed. Raises CalledProcessError."""
    options = {"check": True, "env": CLEAN, **options}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, **options).stdout


def checkout(folder: Path) -> Path:
    """Copy the source tree, since a build writes into it; return the copy."""
    return Path(shutil.copytree(ROOT, folder / "aorta", ignore=NOT_SOURCE))


def wheels(folder: Path, *sources: Path) -> list[Path]:
    """Build a wheel of each source tree; return them in that order."""
    made = []
    for number, source in enumerate(sources):
        out = folder / str(number)
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, source)
        made += out.glob("*.whl")
    return made


def environment(folder: Path, wanted: Iterable[str | Path] = ()) -> Path:
    """Make a virtual environment with what is wanted; return its folder of programs."""
    run(sys.executable, "-m", "venv", folder)
    programs = folder / "bin"
    if wanted := [str(one) for one in wanted]:
        run(programs / "python", "-m", "pip", "install", "-q", *wanted)
    return programs
