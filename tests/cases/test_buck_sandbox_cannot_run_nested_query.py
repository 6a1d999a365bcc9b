"""In an action there may be no PATH, HOME or USER, nor a name for the user: tools are found all the same."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from aorta.instrumentation import capture
from aorta.model.codec import dump
from aorta.testing import FakeHost
from tests.parts.needs import need

CASE = "buck-sandbox-cannot-run-nested-query"

SCRATCH = "buck-out/v2/tmp/root/0123456789abcdef/tests"
IDS = {
    "BUCK_BUILD_ID": "00000000-0000-4000-8000-00000000000a",
    "BUCK2_DAEMON_UUID": "00000000-0000-4000-8000-00000000000b",
}
ENV = {"TMPDIR": "/build/buck-out/v2/tmp/x", "BUCK_SCRATCH_PATH": SCRATCH, **IDS}
ENUMERATOR = "/opt/rocm/bin/rocm_agent_enumerator"
#: A number that no account has.
NOBODY = 48123

#: The machine's own tool would be found first.
SETTING = f"""
set -e
mount -t tmpfs tmpfs /opt
mkdir -p {os.path.dirname(ENUMERATOR)} /opt/rocm/.info
echo 7.2.0-43 > /opt/rocm/.info/version
printf '#!/bin/sh\\necho gfx000\\necho gfx942\\necho gfx942\\n' > {ENUMERATOR}
chmod 755 {ENUMERATOR}
for own in /bin/rocm_agent_enumerator /usr/bin/rocm_agent_enumerator; do
    [ ! -e $own ] || mount --bind /dev/null $own
done
exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups env -i "$@"
"""


def path_reasons(document):
    return [reason for reason in document["collection"]["reasons"] if reason["subject"] == "PATH"]


@pytest.fixture(scope="module")
def document():
    """Return what the single file tells as a user without a name, in an environment without PATH."""
    need(os.geteuid() == 0, "needs root, to become another user")
    for tool in ("unshare", "setpriv", "/usr/bin/python3", "ethtool"):
        need(shutil.which(tool) is not None, f"needs {tool}")
    # Not below a folder of the tests: another user must be able to read it.
    folder = Path(tempfile.mkdtemp(prefix="action-", dir="/tmp"))
    try:
        folder.chmod(0o755)
        program = folder / "aorta.pyz"
        subprocess.run(
            [sys.executable, "-m", "aorta", "standalone", program], check=True, capture_output=True
        )
        program.chmod(0o644)
        words = ["/usr/bin/python3", str(program), "env", "probe", "--execution-context", "buck2_action"]
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", SETTING, "sh", *map("=".join, ENV.items()), *words, "-o", "-"],
            cwd="/",
            check=False,
            capture_output=True,
            text=True,
            timeout=100,
        )
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)


def test_nothing_raises(document):
    failed = [reason for reason in document["collection"]["reasons"] if reason["kind"] == "failed"]
    assert failed == []
    assert document["collection"]["user"] == {"uid": NOBODY, "root": False}


def test_the_real_tools_are_found_in_fixed_directories(document):
    collectors = document["collection"]["collectors"]
    enumerator = [
        record["outcome"]
        for record in collectors["gpu_arch"]["commands"]
        if record["argv"] == ["rocm_agent_enumerator"]
    ]
    assert enumerator == ["ok"]
    assert document["gpu_arch"]["enumerator_targets"] == ["gfx942", "gfx942"]
    asked = [
        record for one in collectors.values() for record in one["commands"] if record["argv"][0] == "ethtool"
    ]
    assert "not_found" not in {record["outcome"] for record in asked}


def test_it_is_said_that_there_was_no_path(document):
    [reason] = path_reasons(document)
    assert (reason["section"], reason["kind"]) == ("collection", "absent")
    assert reason["detail"].startswith("PATH is unset")
    assert "/usr/sbin" in reason["detail"]
    assert not [text for text in document["partial_reasons"] if "PATH" in text]


def test_the_action_is_known_by_its_markers(document):
    markers = document["execution_context"]["markers"]
    there = {name for name, marker in markers.items() if marker["present"]}
    assert there == {"BUCK_SCRATCH_PATH", *IDS}
    assert markers["BUCK_BUILD_ID"]["value"] == IDS["BUCK_BUILD_ID"]
    assert SCRATCH not in json.dumps(document["execution_context"])


def captured(env):
    device = "/sys/bus/pci/devices/0000:05:00.0"
    host = FakeHost(
        files={
            ENUMERATOR: "#!",
            "/opt/rocm/.info/version": "7.2.0-43\n",
            "/sys/class/net/eth0/address": "\n",
            f"{device}/class": "0x020000\n",
        },
        dirs=["/sys/class/infiniband"],
        commands={
            (ENUMERATOR,): "gfx000\ngfx942\n",
            ("/usr/sbin/lspci", "-D", "-n"): "0000:05:00.0 0200: 15b3:1021\n",
            ("/usr/sbin/ethtool", "-i", "eth0"): "driver: mlx5_core\nversion: 5.0\n",
        },
        env=env,
    )
    return dump(capture(host=host))


@pytest.mark.parametrize(("env", "word"), [({}, "unset"), ({"PATH": ""}, "empty")])
def test_made_up_hosts_answer_likewise(env, word):
    document = captured({**ENV, **env})
    collection = document["collection"]
    records = [*collection["collectors"].values(), *collection["providers"].values()]
    outcomes = {" ".join(record["argv"]): record["outcome"] for one in records for record in one["commands"]}
    assert outcomes["rocm_agent_enumerator"] == "ok"
    assert outcomes["lspci -D -n"] == "ok"
    [reason] = path_reasons(document)
    assert reason["detail"].startswith(f"PATH is {word}")


def test_with_a_path_nothing_is_said():
    assert path_reasons(captured({"PATH": "/usr/bin"})) == []


def test_where_no_tool_was_run_nothing_is_said():
    assert path_reasons(dump(capture(host=FakeHost(), sections=["python_version"]))) == []
