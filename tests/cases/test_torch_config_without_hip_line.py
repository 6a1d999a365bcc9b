"""A configuration text without the lines of the HIP runtime: null, and why that can be."""

import pytest

from aorta.testing import collect
from tests.parts.torch_builds import ROCM, host

CASE = "torch-config-without-hip-line"
HIP = "5.4.22803-474e8620"
TEXT = """PyTorch built with:
  - GCC 9.3
  - C++ Version: 201703
  - OpenMP 201511 (a.k.a. OpenMP 4.5)
  - CPU capability usage: AVX2
"""


@pytest.mark.parametrize(
    "text", [TEXT, "", TEXT.replace("\n", "\r\n"), "PyTorch built with:\n  - HIP Runtime\n  - MIOpen\n"]
)
def test_the_lines_are_null_and_nothing_is_raised(text):
    result = collect(host({**ROCM, "hip": HIP, "config": text}), "pytorch_build")
    value = result.value
    assert (value["hip_runtime"], value["miopen_runtime"]) == (None, None)
    assert value["hip_version"] == HIP
    assert value["importable"] is True
    assert value["flags"]["build_settings"] is None
    assert set(value["build_flags"].values()) == {None}
    reasons = {reason.field: reason for reason in result.reasons}
    for field in ("hip_runtime", "miopen_runtime"):
        assert reasons[field].kind == "absent"
        assert HIP in reasons[field].detail
