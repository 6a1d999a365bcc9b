"""HSA_OVERRIDE_GFX_VERSION changes what the runtime reports; the silicon stays what it is."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import CPU, MI300X, agent, kfd, rocminfo

CASE = "hsa-override-and-real-arch"

CASES = [
    (
        {"HSA_OVERRIDE_GFX_VERSION": "12.0.1"},
        [120001, 110501],
        ["gfx1201", "gfx1201"],
        ["gfx1201", "gfx1151"],
        ["gfx1201", "gfx1201"],
    ),
    ({"HSA_OVERRIDE_GFX_VERSION": ""}, [90402], ["gfx000"], ["gfx942"], []),
    (
        {"HSA_OVERRIDE_GFX_VERSION_1": "10.3.0"},
        [110000, 100302],
        ["gfx1100", "gfx1030"],
        ["gfx1100", "gfx1032"],
        ["gfx1100", "gfx1030"],
    ),
]


@pytest.mark.parametrize(("env", "versions", "printed", "silicon", "runtime"), CASES)
def test_hardware_and_runtime_side_by_side(env, versions, printed, silicon, runtime):
    nodes = [
        {**MI300X, "gfx_target_version": version, "location_id": 256 * (number + 1)}
        for number, version in enumerate(versions)
    ]
    agents = [agent(number + 1, name, isa=name) for number, name in enumerate(printed)]
    host = FakeHost(files=kfd(CPU, *nodes), env=env, commands={"rocminfo": rocminfo(*agents)})
    result = collect(host, "gpu_arch")
    assert result.value["silicon_targets"] == silicon
    assert result.value["gfx_targets"] == sorted(set(silicon))
    assert result.value["runtime_targets"] == runtime
    assert result.value["runtime_agrees"] is False
    assert result.value["overrides"] == env
    assert [gpu["gfx_target"] for gpu in collect(host, "gpus").value] == silicon
