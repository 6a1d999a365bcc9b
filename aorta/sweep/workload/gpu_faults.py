"""Texts that name a fault of the GPU: a workload that ends with one failed, it was not kept from its work."""

#: The detectors of a command's output that speak of the device itself; the others are of the network.
_OF_GPUS = ("tier4:hip_error", "tier4:cuda_error", "tier4:hsa_error", "tier4:rocm_error")
#: What says that there is no device is no fault of one.
_NO_DEVICE = (
    "NoDevice",
    "InvalidDevice",
    "no ROCm-capable device",
    "no CUDA-capable device",
    "invalid device ordinal",
)


def gpu_fault(text: str) -> str | None:
    """Return the line of a text that names a fault of the GPU, or None."""
    from aorta.sweep.command.patterns import patterns

    data = text.encode("utf-8", "backslashreplace")
    wanted = [one for one in patterns() if one.id in _OF_GPUS]
    needles = {needle for one in wanted for needle in one.needles}
    if not any(needle in data for needle in needles):
        return None
    for line in data.splitlines():
        if any(one.holds(line) for one in wanted):
            found = line[:4096].decode("utf-8", "replace").strip()
            if not any(word in found for word in _NO_DEVICE):
                return found[:300]
    return None
