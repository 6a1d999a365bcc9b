"""PCI domains may have more than four digits; short ones are padded to four (the GPU part)."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import CPU, MI300X, device, kfd

CASE = "pci-domain-longer-than-four"


@pytest.mark.parametrize(
    ("domain", "location", "bdf"),
    [
        (0, 0x0500, "0000:05:00.0"),
        (0x10001, 0x8028, "10001:80:05.0"),
        (0x5D0505, 0x0100, "5d0505:01:00.0"),
        (0x10002, 0x8A00, "10002:8a:00.0"),
        (0x1, 0x4100, "0001:41:00.0"),
    ],
)
def test_a_gpu_in_any_domain(domain, location, bdf):
    files = {
        **kfd(CPU, {**MI300X, "domain": domain, "location_id": location}),
        **device(bdf, revision="0x07\n"),
    }
    result = collect(FakeHost(files=files), "gpus")
    (gpu,) = result.value
    assert (gpu["bdf"], gpu["pci_device"], gpu["revision"]) == (bdf, bdf, "0x07")
    assert "KFD does not list it" not in "".join(reason.detail for reason in result.reasons)


def test_a_gpu_on_the_bus_in_a_large_domain_is_evidence():
    result = collect(FakeHost(files=device("10001:80:05.0")), "gpus")
    assert (result.value, "10001:80:05.0" in result.reasons[0].detail) == (None, True)
