"""Which texts name a fault of the GPU, and which only look like it."""

import pytest

from aorta.sweep.workload.gpu_faults import gpu_fault


@pytest.mark.parametrize(
    "line",
    [
        "HIP error: an illegal memory access was encountered",
        "hipErrorIllegalAddress: an illegal memory access",
        "CUDA error: device-side assert triggered",
        "HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception.",
        "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f. Reason: Unknown.",
    ],
)
def test_faults(line):
    assert gpu_fault(f"before\n  {line}  \nafter") == line


@pytest.mark.parametrize(
    "line",
    [
        "HIP out of memory. Tried to allocate 2.00 GiB",
        "HIP error: out of memory",
        "hipErrorNoDevice: no ROCm-capable device is detected",
        "CUDA error: no CUDA-capable device is detected",
        "CUDA error: invalid device ordinal",
        "hipSuccess",
        "ncclSystemError: System call failed",
        "the GPU was not looked at",
    ],
)
def test_no_faults(line):
    assert gpu_fault(line) is None
