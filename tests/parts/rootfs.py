"""A root file system of another machine: real Debian packages with a Python, and nothing of this machine."""

import os
import subprocess
from pathlib import Path

from tests.parts.needs import need

PACKAGES = ("base-files", "coreutils", "dash", "python3")
#: Where apt keeps its sources; the first file that names the distribution is the mirror to take from.
SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d"))


def make(folder: Path) -> Path:
    """Make the tree in a folder that is not there yet, from the mirror that this machine's apt uses.

    Packages are unpacked, not configured: that is all a probe needs, and takes half the time.
    """
    need(os.geteuid() == 0, "needs root, to make a root file system")
    need("mmdebstrap", "needs mmdebstrap")
    suite = _of_this_machine("VERSION_CODENAME")
    source = _source(suite)
    need(bool(suite and source), "needs apt's sources, for packages")
    packages = f"--include={','.join(PACKAGES)}"
    made = subprocess.run(
        ["mmdebstrap", "--quiet", "--mode=root", "--variant=extract", packages, suite, str(folder), source],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    need(made.returncode == 0, f"needs packages: {made.stderr[-500:]}")
    for name in ("dev", "out", "proc", "run", "sys", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "tmp").chmod(0o1777)
    # Tools mount their own on these.
    for name in ("group", "hosts", "localtime", "passwd", "resolv.conf"):
        (folder / "etc" / name).touch()
    return folder


def _of_this_machine(name: str) -> str:
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return next((line.partition("=")[2].strip('"') for line in lines if line.startswith(f"{name}=")), "")


def _source(suite: str) -> str:
    """Return the file of apt's sources that has the distribution's main part, as mmdebstrap takes it."""
    files = [SOURCES[0], *(sorted(SOURCES[1].glob("*")) if SOURCES[1].is_dir() else ())]
    for file in files:
        if file.suffix in (".list", ".sources") and file.is_file():
            words = file.read_text(encoding="utf-8", errors="replace").split()
            if suite in words and "main" in words:
                return str(file)
    return ""
