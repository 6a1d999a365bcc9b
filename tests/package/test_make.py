"""The two commands on machines that lack something: one line says what, and how to add it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.system import LIBRARIES, PARTS

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = ROOT / "tests" / "parts" / "system.py"
ALLOWING = ("CI", "AORTA_TEST_INSTALL")
#: Where the administrator's tools are, whatever the PATH says.
HIDDEN = sorted(
    name
    for name, (tool, _) in PARTS.items()
    if not any(Path(place, tool).exists() for place in ("/usr/sbin", "/sbin"))
)


def parts(folder, **env):
    """Run the program with a PATH on which nothing is."""
    clean = {name: value for name, value in os.environ.items() if name not in ALLOWING}
    command = [sys.executable, str(SYSTEM)]
    return subprocess.run(
        command, env={**clean, "PATH": str(folder), **env}, capture_output=True, text=True, check=False
    )


def test_what_is_left_out_is_told_with_the_line_that_adds_it(tmp_path):
    assert "rocminfo" in HIDDEN
    done = parts(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    *told, last = done.stdout.splitlines()
    words, _, packages = last.partition("install -y ")
    assert words == "add them with: sudo apt-get "
    assert set(HIDDEN) <= set(packages.split()) <= {*PARTS, *LIBRARIES}
    assert [line.split("the package ")[1].split(":")[0] for line in told] == packages.split()
    assert f"left out for want of the package rocminfo: {PARTS['rocminfo'][1]}" in told


@pytest.mark.parametrize("permission", [{"CI": "true"}, {"AORTA_TEST_INSTALL": "1"}])
def test_where_parts_are_promised_it_is_a_failure(tmp_path, permission):
    done = parts(tmp_path, **permission)
    assert done.returncode == 1
    assert done.stderr == ""
    assert "not installed: " in done.stdout
    assert "apt-get" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("permission", [{}, {"CI": ""}, {"CI": "false"}, {"AORTA_TEST_INSTALL": "0"}])
def test_the_system_is_left_alone_without_permission(tmp_path, permission):
    trace = tmp_path / "called"
    apt = tmp_path / "apt-get"
    apt.write_text(f"#!/bin/sh\necho $* >> {trace}\n")
    apt.chmod(0o755)
    assert parts(tmp_path, **permission).returncode == 0
    assert not trace.exists()


def test_with_permission_the_missing_packages_are_asked_for_at_once(tmp_path):
    trace = tmp_path / "called"
    apt = tmp_path / "apt-get"
    apt.write_text(f"#!/bin/sh\necho $* >> {trace}\n")
    apt.chmod(0o755)
    assert parts(tmp_path, CI="true").returncode == 1, "this apt-get adds nothing"
    update, install = trace.read_text().splitlines()
    assert update.startswith("update")
    assert set(HIDDEN) <= set(install.split())


def make_with(folder, name, text):
    """Run ``make probe`` with a python whose library holds another module."""
    modules = folder / "modules"
    modules.mkdir()
    (modules / name).write_text(text)
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={modules} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MAKE"))}
    command = ["make", "-s", "probe", f"PYTHON={python}", f"VENV={folder}/venv"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_a_python_without_ensurepip(tmp_path):
    """Debian's python3 lacks it until python3-venv is there."""
    done = make_with(tmp_path, "ensurepip.py", "raise ImportError('No module named ensurepip')\n")
    assert done.returncode != 0
    first, *rest = done.stderr.splitlines()
    assert first.endswith("lacks ensurepip; install it with: apt-get install -y python3-venv")
    assert all(line.startswith("make: ***") for line in rest)
    assert not (tmp_path / "venv").exists()


def test_a_python_that_is_too_old(tmp_path):
    old = "import sys\nsys.version_info = (3, 9, 2)\nsys.version = '3.9.2 (default)'\n"
    done = make_with(tmp_path, "sitecustomize.py", old)
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == "aorta needs Python 3.10 or newer; this is 3.9.2"
    assert not (tmp_path / "venv").exists()


def test_the_single_file_is_made_from_an_installation_that_can_serve_every_python(tmp_path):
    command = ["make", "-n", "--no-print-directory", "standalone", f"VENV={tmp_path}/none"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    install, old, write = done.stdout.splitlines()[-3:]
    assert install.startswith("touch ")
    assert old.endswith("pip install -q exceptiongroup")
    assert write == f"{tmp_path}/none/bin/aorta standalone dist/aorta.pyz"
    assert "make test standalone" in (ROOT / ".ci" / "run").read_text()
