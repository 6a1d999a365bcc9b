"""An empty answer of the tool while sysfs lists a GPU: the tool failed, the GPU is there."""

from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import NODES

CASE = "enumerator-kfd-busy-many-ranks"


def test_sysfs_answers_and_the_tool_failed():
    host = FakeHost(
        files={f"{NODES}/1/properties": "simd_count 1216\ngfx_target_version 90402\nvendor_id 4098\n"},
        nodes={"/dev/kfd": "c"},
        commands={"rocm_agent_enumerator": ""},
    )
    result = collect(host, "gpu_arch")
    assert result.value["gfx_targets"] == ["gfx942"]
    assert result.value["agent_count"] == 1
    assert result.value["source"] == "kfd"
    (reason,) = [reason for reason in result.reasons if reason.partial]
    assert (reason.kind.value, reason.field) == ("failed", "enumerator_targets")
    assert "the tool failed" in reason.detail
