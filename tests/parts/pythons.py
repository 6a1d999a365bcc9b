"""The other Python versions of this machine: on PATH, or where pyenv keeps them."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.parts.needs import need


def python(version: str) -> str:
    """Return the program of a version such as ``3.10``; skips, or fails in CI, where there is none."""
    found = _find(version)
    need(found is not None, f"needs Python {version}")
    return str(found)


@cache
def _find(version: str) -> str | None:
    home = Path(os.environ.get("PYENV_ROOT") or Path("~/.pyenv").expanduser())
    kept = sorted(home.glob(f"versions/{version}.*/bin/python{version}"))
    places = [*map(str, kept), shutil.which(f"python{version}")]
    return next((place for place in places if place and _is(place, version)), None)


def _is(program: str, version: str) -> bool:
    """Tell whether a program is that Python; a shim of pyenv need not be."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([program, "-c", code], check=False, capture_output=True, text=True)
    return done.stdout.strip() == version
