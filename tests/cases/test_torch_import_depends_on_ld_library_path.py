"""torch finds a library by LD_LIBRARY_PATH alone: who is asked in our stead has the same environment, root has not."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.parts.fake_tools import make
from tests.parts.needs import need
from tests.parts.probing import ROOT, environment, probe
from tests.parts.torches import ANSWERS, stand_in

CASE = "torch-import-depends-on-ld-library-path"

#: As torch does with a library of ROCm; and what environment its process was started with.
NEEDING = """
import ctypes, os
with open("/proc/self/environ", "rb") as file, open(os.environ["TEST_MARKER"] + "/environ", "wb") as copy:
    copy.write(file.read())
ctypes.CDLL("librccl.so.1")
"""

#: sudo resets what the user has set, and rdhc tells what it sees.
RESETTING = '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root "$@"\n'
SEEING = '#!/bin/sh\nprintf \'{"system_info": {"LD_LIBRARY_PATH": "%s", "HOME": "%s"}}\' "$LD_LIBRARY_PATH" "$HOME"\n'

AS_A_USER = ("/usr/bin/unshare", "--user", "--map-user=65534", "--map-group=65534")

PROGRAM = """
import json, sys
from aorta.instrumentation import capture_to
options = json.loads(sys.argv[2])
capture_to(sys.argv[1], **options)
"""


@pytest.fixture
def env(tmp_path):
    libraries = tmp_path / "rocm" / "lib"
    libraries.mkdir(parents=True)
    shutil.copy(os.path.realpath("/lib/x86_64-linux-gnu/libm.so.6"), libraries / "librccl.so.1")
    tools = tmp_path / "own"
    tools.mkdir()
    for name, text in (("sudo", RESETTING), ("rdhc", SEEING)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    more = {"LD_LIBRARY_PATH": f"{libraries}/rocm_sysdeps/lib:{libraries}", "ROCM_ODD": "a b\nc"}
    made = environment(tmp_path, f"{tools}:{make(tmp_path / 'parts')}", **more)
    return {**made, "PYTHONPATH": f"{stand_in(tmp_path / 'site', NEEDING + ANSWERS)}:{made['PYTHONPATH']}"}


def check(document, tmp_path, process):
    assert document["pytorch_build"]["importable"] is True, document["pytorch_build"]["import_error"]
    found = [one for one in document["loaded_libraries"] if one["library"] == "rccl"]
    assert [(one["path"], one["process"]) for one in found] == [
        (f"{tmp_path}/rocm/lib/librccl.so.1", process)
    ]


def started_with(tmp_path):
    words = (tmp_path / "environ").read_text().split("\0")
    return dict(word.partition("=")[::2] for word in words if word)


def test_it_fails_without_the_variable(env, tmp_path):
    """Else the rest of this shows nothing."""
    done = probe(tmp_path / "env.json", {name: env[name] for name in env if name != "LD_LIBRARY_PATH"})
    assert done.document["pytorch_build"]["importable"] is False
    assert "librccl.so.1" in done.document["pytorch_build"]["import_error"]


@pytest.mark.parametrize("language", [{}, {"LC_ALL": "de_DE.UTF-8"}])
def test_the_child_inherits_all_and_gets_a_locale(env, tmp_path, language):
    env = {**env, **language}
    done = probe(tmp_path / "env.json", env)
    check(done.document, tmp_path, "torch_child")
    assert started_with(tmp_path) == {**env, "LC_ALL": "C.UTF-8"}


@pytest.mark.parametrize("options", [{}, {"env": {}}, {"import_strategy": "child", "env": {}}])
def test_a_snapshot_of_another_environment_still_asks_in_this_one(env, tmp_path, options):
    file = tmp_path / "env.json"
    command = [sys.executable, "-c", PROGRAM, str(file), json.dumps(options)]
    subprocess.run(command, env=env, check=True, timeout=100)
    document = json.loads(file.read_text())
    check(document, tmp_path, "torch_child" if "import_strategy" in options else "self")
    captured = document["env_vars"]["LD_LIBRARY_PATH"]
    assert captured == (None if "env" in options else env["LD_LIBRARY_PATH"])


def test_what_root_sees_is_root_s_and_used_for_nothing_else(env, tmp_path):
    need("unshare", "needs util-linux")
    usable = subprocess.run([*AS_A_USER, "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0
    need(usable, "needs user namespaces")
    done = probe(tmp_path / "env.json", env, "--sudo", wrapper=AS_A_USER)
    seen = done.document["system_health"]["system_info"]
    assert seen == {"LD_LIBRARY_PATH": "", "HOME": "/root"}
    as_root = [command for command in done.commands() if command["as_root"]]
    records = done.document["collection"]["collectors"]
    assert as_root == [command for command in records["system_health"]["commands"] if command["as_root"]]
    assert len(as_root) == 1
    check(done.document, tmp_path, "torch_child")
    assert "Root's view, with root's environment" in (ROOT / "docs" / "collectors.md").read_text()
