"""Partitions answer little by themselves: they are counted from KFD, sentinels and N/A are null."""

from aorta.testing import FakeHost, collect
from aorta_collectors.gpu.sysfs import normal, number
from tests.parts.gpu_hosts import CPU, PARTITION, device, kfd

CASE = "smi-partition-na-on-secondary"


def node():
    """A node of eight sockets in CPX: 64 partitions, the driver's files only at each socket's function 0."""
    nodes = [
        {**PARTITION, "location_id": 4096 * (socket + 1) + part, "unique_id": 10**18 + socket}
        for socket in range(8)
        for part in range(8)
    ]
    files = kfd(CPU, *nodes)
    for socket in range(8):
        modes = {"current_compute_partition": "CPX\n", "current_memory_partition": "NPS4\n"}
        files |= device(f"0000:{16 * (socket + 1):02x}:00.0", mem_info_vram_total="4294967295\n", **modes)
    return FakeHost(files=files, commands={"rocm_agent_enumerator": "gfx942\n" * 63})


def test_logical_and_physical_counts_with_their_sources():
    value = collect(node(), "gpu_arch").value
    assert (value["agent_count"], value["source"], value["physical_count"]) == (64, "kfd", 8)
    assert len(value["enumerator_targets"]) == 63
    assert value["enumerator_agrees"] is False


def test_each_partition_says_its_mode():
    gpus = collect(node(), "gpus").value
    assert len(gpus) == 64
    assert {(gpu["compute_partition"], gpu["memory_partition"]) for gpu in gpus} == {("CPX", "NPS4")}
    assert {gpu["vram_bytes"] for gpu in gpus} == {None}
    assert len({gpu["unique_id"] for gpu in gpus}) == 8


def test_sentinels():
    assert [number(text) for text in ("4294967295", "0xffffffffffffffff", "N/A", "8")] == [
        None,
        None,
        None,
        8,
    ]
    assert [normal(text) for text in ("N/A", " Not Supported\n", "Unknown", "", "CPX")] == [None] * 4 + [
        "CPX"
    ]
