"""N/A is kept in a verbatim block and is null in a field of our own."""

import json

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import CPU, MI300X, device, kfd

CASE = "smi-na-strings"

BLOCK = {
    "gpu_info": {
        "GPU_0": {"gpu": 0, "usage": "N/A", "power": {"socket_power": "N/A"}, "clock": {"clk": "N/A"}}
    }
}


def test_a_verbatim_block_stays():
    tool = "/usr/local/bin/rdhc"
    line = ("sudo", "-n", tool, "--quick", "--json", "/dev/stdout")
    host = FakeHost(files={tool: "#!"}, commands={line: json.dumps(BLOCK)})
    assert collect(host, "system_health", sudo=True).value == BLOCK


@pytest.mark.parametrize("said", ["N/A", "n/a", "Not Supported", "", "Unknown"])
def test_a_derived_field_is_null(said):
    files = {
        "vbios_version": f"{said}\n",
        "mem_info_vram_total": f"{said}\n",
        "current_compute_partition": f"{said}\n",
        "current_memory_partition": f"{said}\n",
        "current_link_speed": f"{said}\n",
        "hwmon__hwmon1__power1_cap": f"{said}\n",
    }
    node = {**MI300X, "num_xcc": 1}
    result = collect(FakeHost(files={**kfd(CPU, node), **device(**files)}), "gpus")
    (gpu,) = result.value
    for field in ("vbios_version", "vram_bytes", "compute_partition", "memory_partition", "power_cap_w"):
        assert gpu[field] is None, field
    assert gpu["pcie_link"]["speed"] is None
    assert not any(reason.partial for reason in result.reasons)
