"""Visibility masks, as far as the GPU sections go."""

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
