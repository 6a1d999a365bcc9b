"""The interpreter lies in a directory with blanks, quotes and dollars, and so does the file that is written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.fake_tools import make
from tests.parts.probing import environment, gone
from tests.parts.torches import VERSION, stand_in

CASE = "torch-python-path-with-space"

NAMES = ("py 311", "a'b\"c", "$HOME `id` $(id)", "new\nline", "-c; exit", "ünï")


@pytest.fixture(scope="module", params=NAMES)
def place(request, tmp_path_factory):
    """Make a virtual environment with torch in a folder of that name; return its interpreter and where to write."""
    base = tmp_path_factory.mktemp("odd")
    home = base / "envs" / request.param
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (site,) = home.glob("lib/python3*/site-packages")
    stand_in(site)
    return base, str(home / "bin" / "python"), f"{base}/my results {request.param}/env snap.json"


def surroundings(base):
    # What aorta needs is installed beside the interpreter of the tests.
    needed = [entry for entry in sys.path if entry.endswith("site-packages")]
    env = environment(base, make(base / f"parts{len(os.listdir(base))}"))
    return {**env, "PYTHONPATH": ":".join([env["PYTHONPATH"], *needed])}


def ended(base, command):
    done = subprocess.run(
        command, env=surroundings(base), check=False, capture_output=True, text=True, timeout=100, cwd=base
    )
    assert gone(f"TEST_MARKER={base}", within_s=2) == {}
    return done


def check(file, program, version=VERSION):
    document = json.loads(Path(file).read_text())
    assert document["pytorch_version"] == version
    assert document["pytorch_build"]["importable"] is True
    assert document["pytorch_build"]["file"].startswith(os.path.dirname(os.path.dirname(program)))
    assert document["runtime_context"]["python_env"] == "venv"
    return document["collection"]


def test_it_runs_aorta(place):
    base, program, file = place
    done = ended(base, [program, "-m", "aorta", "env", "probe", "-o", file, "--quiet"])
    assert (done.returncode, done.stderr) == (0, "")
    collection = check(file, program)
    assert (collection["executable"], collection["import_strategy"]) == (program, "child")


def test_it_is_named_by_an_option(place):
    base, program, file = place
    done = ended(
        base, [sys.executable, "-m", "aorta", "env", "probe", "-o", file, "--python", program, "--quiet"]
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert check(file, program)["python"] == program


def test_it_takes_a_snapshot_of_itself(place):
    base, program, file = place
    code = "import sys; from aorta.instrumentation import capture_to; capture_to(sys.argv[1])"
    done = ended(base, [program, "-c", code, file])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert check(file, program)["import_strategy"] == "in_process"
    assert not (base / "id").exists()
