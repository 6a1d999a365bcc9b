"""All device masks are shown as they stand: nothing is intersected or renumbered."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "launch-double-gpu-mask"


MASKS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


@pytest.mark.parametrize(
    "env",
    [
        {"ROCR_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "1"},
        {"ROCR_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "0"},
        {"ROCR_VISIBLE_DEVICES": "1"},
        {"HIP_VISIBLE_DEVICES": ""},
        {"ROCR_VISIBLE_DEVICES": "0,GPU-00000000", "GPU_DEVICE_ORDINAL": "0,2"},
    ],
)
def test_masks_are_raw(env):
    value = collect(FakeHost(env=env), "env_vars").value
    assert {name: value.get(name) for name in MASKS} == {name: env.get(name) for name in MASKS}
