"""Texts that name a fault of the GPU: a workload that ends with one failed, it was not kept from its work."""

import functools
import re

#: What says that there is no device or no memory is no fault of the device.
_PATTERN = r"""
    \bhipError(?!OutOfMemory|NoDevice|InvalidDevice|NotFound|NoBinaryForGpu|InvalidDeviceFunction|String|Name)[A-Z]\w+
  | \b(?:HIP|CUDA)\ error:\ (?!out\ of\ memory|no\ |invalid\ device|initialization)
  | \bHSA_STATUS_ERROR(?!_OUT_OF_RESOURCES)\w*
  | \bMemory\ access\ fault\ by\ GPU\b
  | \bcudaError(?!MemoryAllocation|NoDevice|InvalidDevice)[A-Z]\w+
  | \b(?:CUBLAS|CUDNN|HIPBLAS|ROCBLAS|MIOPEN)_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR)\b
  | \ban\ illegal\ memory\ access\ was\ encountered\b
"""


@functools.cache
def _compiled() -> re.Pattern[str]:
    return re.compile(_PATTERN, re.VERBOSE)


def gpu_fault(text: str) -> str | None:
    """Return the line of a text that names a fault of the GPU, or None."""
    found = _compiled().search(text)
    if found is None:
        return None
    start = text.rfind("\n", 0, found.start()) + 1
    return text[start : start + 4096].partition("\n")[0].strip()[:300]
