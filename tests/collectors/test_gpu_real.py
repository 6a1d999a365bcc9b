"""The real tools of the distribution, and the real enumerator over a made-up KFD topology."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aorta.host.live import LiveHost
from aorta.testing import collect
from aorta_collectors.gpu.gfx import parse_targets
from aorta_collectors.gpu.rocminfo import parse_agents
from tests.parts.needs import need

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests/parts/fake_kfd.sh"
PROBE = """
import json
from aorta.host.live import LiveHost
from aorta.testing import collect
host = LiveHost()
made = {name: collect(host, name) for name in ("gpu_arch", "gpus")}
print(json.dumps({name: {"value": one.value, "coverage": one.coverage.get("gpu"),
                         "partial": [reason.text for reason in one.reasons if reason.partial]}
                  for name, one in made.items()}))
host.close()
"""


def can_unshare():
    words = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/sys/class"]
    if not shutil.which("unshare"):
        return False
    return subprocess.run(words, capture_output=True, check=False, timeout=20).returncode == 0


def without_gpu():
    return not any(
        Path(path).exists() for path in ("/dev/kfd", "/dev/dxg", "/sys/class/kfd", "/sys/module/amdgpu")
    )


@pytest.fixture
def live():
    host = LiveHost()
    yield host
    host.close()


def in_fake_kfd(*words):
    path = os.pathsep.join([str(ROOT), str(ROOT / "collectors")])
    environment = {**os.environ, "PYTHONPATH": path}
    line = ["unshare", "--mount", "sh", str(SCRIPT), *words]
    return subprocess.run(
        line, capture_output=True, text=True, check=True, timeout=100, env=environment
    ).stdout


def test_the_real_enumerator_reads_a_made_up_topology():
    need("rocm_agent_enumerator", "rocm_agent_enumerator of the distribution (package rocminfo)")
    need(can_unshare(), "a mount namespace of one's own")
    text = in_fake_kfd("rocm_agent_enumerator")
    assert [target.base for target in parse_targets(text)] == ["gfx942", "gfx942"]


def test_sections_over_a_made_up_topology():
    need("rocm_agent_enumerator", "rocm_agent_enumerator of the distribution (package rocminfo)")
    need(can_unshare(), "a mount namespace of one's own")
    made = json.loads(in_fake_kfd(sys.executable, "-c", PROBE))
    arch = made["gpu_arch"]["value"]
    assert (arch["agent_count"], arch["agent_arch_counts"], arch["source"]) == (2, {"gfx942": 2}, "kfd")
    assert (arch["enumerator_targets"], arch["enumerator_agrees"]) == (["gfx942", "gfx942"], True)
    gpus = made["gpus"]["value"]
    assert [(gpu["kfd_node"], gpu["bdf"], gpu["unique_id"]) for gpu in gpus] == [
        (2, "0000:1b:00.0", "0x0de0b6b3a7640066"),
        (10, "0000:3d:00.0", "0x8ac7230489e803f2"),
    ]
    assert made["gpus"]["coverage"] == "seen"


def test_a_target_list_does_not_become_silicon(tmp_path):
    need("rocm_agent_enumerator", "rocm_agent_enumerator of the distribution (package rocminfo)")
    listed = tmp_path / "target.lst"
    listed.write_text("gfx90a\ngfx1100\n")
    host = LiveHost(env={"ROCM_TARGET_LST": str(listed)})
    try:
        result = collect(host, "gpu_arch")
    finally:
        host.close()
    assert result.value["enumerator_targets"] == ["gfx90a", "gfx1100"]
    assert result.value["source"] == "rocm_agent_enumerator"
    assert result.value["overrides"] == {"ROCM_TARGET_LST": str(listed)}


def test_the_real_rocminfo_on_a_machine_without_gpu():
    need("rocminfo", "rocminfo of the distribution")
    need(without_gpu(), "a machine without a GPU driver")
    done = subprocess.run(["rocminfo"], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 1
    assert "NOT loaded" in done.stdout
    assert parse_agents(done.stdout) == ()


def test_no_gpu_is_said_of_a_machine_without(live):
    need(without_gpu(), "a machine without a GPU driver")
    result = collect(live, "gpus")
    assert result.value == []
    assert result.coverage["gpu"].value == "absent"
    driver = collect(live, "amdgpu_driver")
    assert (driver.value["module_loaded"], driver.value["kfd_device_present"]) == (False, False)
    assert driver.value["status"] == "absent"
    assert driver.value["kmd_version"] is None
    assert not any(reason.partial for reason in driver.reasons)


def test_the_real_enumerator_fails_honestly(live):
    need("rocm_agent_enumerator", "rocm_agent_enumerator of the distribution (package rocminfo)")
    need(without_gpu(), "a machine without a GPU driver")
    result = collect(live, "gpu_arch")
    assert (result.value["agent_count"], result.value["gfx_targets"]) == (None, None)
    (reason,) = [reason for reason in result.reasons if reason.field == "enumerator_targets"]
    assert "FileNotFoundError" in reason.detail
    assert "Traceback" not in reason.detail


def test_the_real_modinfo(live):
    need("modinfo", "modinfo (package kmod)")
    result = collect(live, "amdgpu_driver")
    here = Path(f"/lib/modules/{os.uname().release}").exists()
    need(not here, "a machine without modules of its kernel, as a container is")
    assert result.value["module_version"] is None
    assert result.kinds("module_version") == ["absent"]
    assert [command.argv for command in result.record.commands].count(("modinfo", "amdgpu")) == 1


def test_health_is_not_installed(live):
    need(not any(shutil.which(name) for name in ("rdhc", "rdhc.py")), "a machine without rdhc")
    assert collect(live, "system_health", sudo=True).kinds() == ["no_tool"]
