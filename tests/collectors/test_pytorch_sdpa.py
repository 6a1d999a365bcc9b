"""The switches of attention kernels."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.torch_builds import ROCM, host

NAMES = ("flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "cudnn_sdp_enabled")


def run(parts=None, **world):
    return collect(host(parts, **world), "pytorch_sdpa")


def test_all():
    result = run()
    assert result.value == {"backends_enabled": {name: ROCM[name] for name in NAMES}}
    assert result.value["backends_enabled"]["math_sdp_enabled"] is False
    assert result.reasons == ()


def test_a_torch_without_one_of_them():
    result = run({**ROCM, "cudnn_sdp_enabled": None})
    assert result.value["backends_enabled"]["cudnn_sdp_enabled"] is None
    assert result.kinds("backends_enabled.cudnn_sdp_enabled") == ["unsupported"]
    assert result.record.status == "ok"


def test_one_that_raises():
    parts = {name: value for name, value in ROCM.items() if name != "math_sdp_enabled"}
    result = run(parts, end={"errors": {"math_sdp_enabled": "RuntimeError: no"}})
    assert result.value["backends_enabled"] == {
        **{name: ROCM[name] for name in NAMES},
        "math_sdp_enabled": None,
    }
    assert result.kinds() == ["failed"]
    assert "RuntimeError: no" in result.reasons[0].detail


def test_one_that_is_no_truth_value():
    assert run({**ROCM, "flash_sdp_enabled": 1}).value["backends_enabled"]["flash_sdp_enabled"] is None


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ({"imported": False, "error": "KeyError: 'libamd_smi.so'"}, "failed"),
        ({"imported": None, "hung": True, "done": False, "ended": "it did not end in 45 s"}, "timed_out"),
        ({"imported": None, "how": "static", "done": False}, "not_requested"),
    ],
)
def test_torch_was_not_asked(end, kind):
    result = run({}, end=end)
    assert set(result.value["backends_enabled"].values()) == {None}
    assert result.kinds() == [kind] * 4


def test_no_torch():
    result = collect(FakeHost(), "pytorch_sdpa")
    assert result.value == {"backends_enabled": dict.fromkeys(NAMES)}
    assert (result.kinds(""), result.record.status) == (["absent"], "ok")
