"""gfx000 is the CPU: never a GPU, never the first answer."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "enumerator-gfx000-cpu-placeholder"


@pytest.mark.parametrize(
    ("text", "targets", "count"),
    [("gfx000\ngfx900\n", ["gfx900"], 1), ("gfx000\n", [], 0), ("gfx942\n" * 4, ["gfx942"], 4)],
)
def test_the_placeholder_is_dropped(text, targets, count):
    value = collect(FakeHost(commands={"rocm_agent_enumerator": text}), "gpu_arch").value
    assert (value["gfx_targets"], value["agent_count"]) == (targets, count)


def test_only_the_placeholder_while_kfd_is_there():
    host = FakeHost(commands={"rocm_agent_enumerator": "gfx000\n"}, nodes={"/dev/kfd": "c"})
    result = collect(host, "gpu_arch")
    assert result.value["agent_count"] is None
    (reason,) = [reason for reason in result.reasons if reason.field == "agent_count"]
    assert (reason.kind.value, "/dev/kfd" in reason.detail) == ("expected", True)
