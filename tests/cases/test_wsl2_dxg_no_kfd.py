"""WSL2: a GPU behind /dev/dxg and no KFD is neither a container nor a host without a GPU."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import agent, rocminfo

CASE = "wsl2-dxg-no-kfd"

BANNER = "WSL environment detected."
REFUSED = f"{BANNER}\nhsa_init Failed, possibly no supported GPU devices\n"
NO_AMD_SMI = {"exit": 255, "stderr": "ERROR: Unable to get devices, driver not initialized\n"}
MOUNTS = (
    "68 1 8:32 / / rw,relatime - ext4 /dev/sdc rw\n"
    "73 68 0:28 / /usr/lib/wsl/lib rw - overlay none rw,lowerdir=/gpu_lib_packaged\n"
    "77 68 0:35 / /proc rw - proc proc rw\n"
)


def wsl(env=(), **commands):
    return FakeHost(
        {
            "/proc/self/mountinfo": MOUNTS,
            "/proc/self/cgroup": "0::/\n",
            "/proc/sys/kernel/osrelease": "6.6.87.2-microsoft-standard-WSL2\n",
        },
        nodes={"/dev/dxg": "c"},
        dirs=["/sys/devices"],
        env={"WSL_DISTRO_NAME": "Ubuntu-24.04", **dict(env)},
        observed={"uname": {"release": "6.6.87.2-microsoft-standard-WSL2", "machine": "x86_64"}},
        commands={"amd-smi version": NO_AMD_SMI, **commands},
    )


def test_it_has_no_driver_and_a_device_of_its_own():
    result = collect(wsl(rocminfo={"exit": 1, "stdout": REFUSED}), "amdgpu_driver")
    assert (result.value["kfd_device_present"], result.value["dxg_device_present"]) == (False, True)
    assert (result.value["status"], result.value["module_loaded"]) == ("absent", False)
    assert not any(reason.partial for reason in result.reasons)


@pytest.mark.parametrize(
    ("answer", "targets", "count"),
    [
        ({"exit": 1, "stdout": REFUSED}, None, None),
        (rocminfo(agent(1, "gfx1201", BDFID=None, isa="gfx1201"), first=BANNER), ["gfx1201"], 1),
    ],
)
def test_the_banner_does_not_break_the_reading(answer, targets, count):
    value = collect(wsl(rocminfo=answer), "gpu_arch").value
    assert (value["runtime_targets"], value["agent_count"]) == (targets, count)
    assert value["silicon_targets"] is None


def test_an_empty_listing_is_not_zero_gpus():
    noise = "pid:1582 tid:0x72d6 [topology_sysfs_get_system_props] No WDDM adapters found.\n"
    result = collect(wsl(rocm_agent_enumerator=noise), "gpu_arch")
    assert result.value["agent_count"] is None
    assert result.kinds("agent_count") == ["expected"]
    assert "/dev/dxg" in next(reason.detail for reason in result.reasons if reason.field == "agent_count")


def test_it_is_no_container_and_the_kernel_says_what_it_is():
    assert collect(wsl(), "container_detected").value is False
    assert collect(wsl(), "runtime_context").value["type"] == "baremetal"
    assert collect(wsl(), "host").value["kernel_release"].endswith("-microsoft-standard-WSL2")


@pytest.mark.parametrize("text", [None, "1"])
def test_the_switch_of_its_runtime_is_captured(text):
    env = {} if text is None else {"HSA_ENABLE_DXG_DETECTION": text}
    assert collect(wsl(env), "env_vars").value.get("HSA_ENABLE_DXG_DETECTION") == text
