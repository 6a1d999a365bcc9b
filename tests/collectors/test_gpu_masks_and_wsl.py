"""Visibility masks and WSL2, as far as the GPU and driver sections go."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import CPU, MI300X, agent, kfd, rocminfo

TWO = kfd(CPU, MI300X, {**MI300X, "location_id": 11008})


@pytest.mark.parametrize(
    "env",
    [
        {"ROCR_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "1"},
        {"ROCR_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "0"},
        {"ROCR_VISIBLE_DEVICES": "1"},
        {"HIP_VISIBLE_DEVICES": ""},
        {"GPU_DEVICE_ORDINAL": "0"},
        {},
    ],
)
def test_masks_are_kept_as_texts_and_the_view_is_unmasked(env):
    shown = (
        [agent(2, BDFID="11008")] if "ROCR_VISIBLE_DEVICES" in env else [agent(1), agent(2, BDFID="11008")]
    )
    commands = {"rocminfo": rocminfo(*shown), "rocm_agent_enumerator": "gfx942\n" * 2}
    host = FakeHost(files=TWO, env=env, commands=commands)
    result = collect(host, "gpu_arch")
    assert result.value["visibility_masks"] == env
    assert result.value["agent_count"] == 2
    assert len(result.value["runtime_targets"]) == len(shown)
    assert result.value["runtime_agrees"] is True
    assert result.reasons == ()
    assert len(collect(host, "gpus").value) == 2


def test_a_mask_explains_a_smaller_count_not_another_target():
    commands = {"rocminfo": rocminfo(agent(2, "gfx1100", BDFID="11008", isa="gfx1100"))}
    host = FakeHost(files=TWO, env={"ROCR_VISIBLE_DEVICES": "1"}, commands=commands)
    assert collect(host, "gpu_arch").value["runtime_agrees"] is False


def test_no_visible_device_names_the_mask():
    host = FakeHost(files=TWO, env={"ROCR_VISIBLE_DEVICES": ""}, commands={"rocminfo": rocminfo()})
    result = collect(host, "gpu_arch")
    assert (result.value["agent_count"], result.value["runtime_targets"]) == (2, [])
    (reason,) = [reason for reason in result.reasons if reason.field == "runtime_targets"]
    assert (reason.kind.value, "ROCR_VISIBLE_DEVICES=''" in reason.detail) == ("expected", True)


WSL = {
    "nodes": {"/dev/dxg": "c"},
    "dirs": ["/sys/devices"],
    "env": {"WSL_DISTRO_NAME": "Ubuntu-24.04"},
    "observed": {"uname": {"release": "6.6.87.2-microsoft-standard-WSL2", "machine": "x86_64"}},
}
REFUSED = "WSL environment detected.\nhsa_init Failed, possibly no supported GPU devices\n"
NO_AMD_SMI = {"exit": 255, "stderr": "ERROR: Unable to get devices, driver not initialized\n"}


def test_wsl_has_no_driver_and_a_device_of_its_own():
    host = FakeHost(
        commands={"rocminfo": {"exit": 1, "stdout": REFUSED}, "amd-smi version": NO_AMD_SMI}, **WSL
    )
    result = collect(host, "amdgpu_driver")
    assert (result.value["kfd_device_present"], result.value["dxg_device_present"]) == (False, True)
    assert (result.value["status"], result.value["module_loaded"]) == ("absent", False)
    assert not any(reason.partial for reason in result.reasons)


@pytest.mark.parametrize(
    ("answer", "targets"),
    [
        ({"exit": 1, "stdout": REFUSED}, None),
        (
            rocminfo(agent(1, "gfx1201", BDFID=None, isa="gfx1201"), first="WSL environment detected."),
            ["gfx1201"],
        ),
    ],
)
def test_wsl_the_banner_does_not_break_the_reading(answer, targets):
    result = collect(FakeHost(commands={"rocminfo": answer}, **WSL), "gpu_arch")
    assert result.value["runtime_targets"] == targets
    assert (result.value["agent_count"], result.value["silicon_targets"]) == (
        None if targets is None else 1,
        None,
    )


def test_wsl_an_empty_listing_is_not_zero_gpus():
    noise = "pid:1582 tid:0x72d6 [topology_sysfs_get_system_props] No WDDM adapters found.\n"
    result = collect(FakeHost(commands={"rocm_agent_enumerator": noise}, **WSL), "gpu_arch")
    assert result.value["agent_count"] is None
    assert result.kinds("agent_count") == ["expected"]
    assert "/dev/dxg" in next(reason.detail for reason in result.reasons if reason.field == "agent_count")
