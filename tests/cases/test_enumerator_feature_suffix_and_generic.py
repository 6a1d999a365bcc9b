"""-name prints one device on two lines, one of them a generic target; features are kept."""

import pytest

from aorta.testing import FakeHost, collect
from aorta_collectors.gpu.gfx import parse_targets

CASE = "enumerator-feature-suffix-and-generic"


@pytest.mark.parametrize(
    ("xnack", "target"), [("-", "gfx942:sramecc+:xnack-"), ("+", "gfx942:sramecc+:xnack+")]
)
def test_one_device_with_its_features(xnack, target):
    named = f"gfx942:sramecc+:xnack{xnack}\ngfx9-4-generic:sramecc+:xnack{xnack}\n"
    commands = {"rocm_agent_enumerator": "gfx942\n", "rocm_agent_enumerator -name": named}
    value = collect(FakeHost(commands=commands), "gpu_arch").value
    assert (value["agent_count"], value["gfx_targets"]) == (1, ["gfx942"])
    assert value["isa_targets"] == [target]
    (device,) = parse_targets(named)
    assert (device.base, device.features) == ("gfx942", {"sramecc": "+", "xnack": xnack})
