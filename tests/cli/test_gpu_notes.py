"""What the summary says of the GPUs of whole recorded machines, and of what they may have."""

from pathlib import Path

import pytest

from aorta.cli.gpu_notes import gpu_notes
from aorta.cli.plain import Document

HOSTS = Path(__file__).resolve().parents[1] / "hosts"


def summary(cli, host, *words):
    (path,) = HOSTS.glob(f"{host}-*.jsonl")
    ran = cli.probe("--replay", path, "--summary", *words)
    assert ran.code == 0
    return ran.out.splitlines()


def row(lines, label):
    (line,) = [line for line in lines if line.split("  ")[0] == label]
    return line.removeprefix(label).strip()


def test_a_machine_of_another_vendor_is_no_login_node(cli):
    lines = summary(cli, "i")
    assert lines[0] == "partial: no, replay of a recording"
    assert lines[1] == "! no AMD GPU, but CUDA_VISIBLE_DEVICES is set"
    assert row(lines, "GPUs") == "none (AMD)"
    assert row(lines, "RCCL") == "none"
    assert row(lines, "torch") == "2.9.1+cu128, CUDA 12.8, wheel"
    assert not any("login node" in line for line in lines)


def test_a_machine_without_any(cli):
    assert "! no AMD GPU and no job: is this a login node?" in summary(cli, "g")
    lines = summary(cli, "g", "--section", "gpus")
    assert [line for line in lines if line.startswith("! ")] == ["! no AMD GPU was seen"]


def test_a_pod_with_one_partitioned_gpu(cli):
    lines = summary(cli, "h")
    assert lines[1:3] == [
        "! partitioned (CPX, memory mode unknown): 8 agents on 1 physical GPU",
        "! 55 more GPUs are not visible to this process (a partition counts as one)",
    ]
    assert row(lines, "launcher") == "kubeflow, rank 0 of 16"


def test_masks(cli):
    assert "! visibility masks in effect: ROCR_VISIBLE_DEVICES=0,1,2,3,4,5,6,7" in summary(cli, "j")


@pytest.mark.parametrize("host", ["a", "c", "e"])
def test_a_usual_machine_has_no_line_about_gpus(cli, host):
    lines = summary(cli, host)
    assert not [line for line in lines if line.startswith("! ") and "GPU" in line]


def notes(gpus=(), coverage="seen", **members):
    return list(
        gpu_notes(Document({"gpus": list(gpus), "collection": {"coverage": {"gpu": coverage}}, **members}))
    )


def gpu(number=0, **members):
    return {"device_id": "0x74a1", "gfx_target": "gfx942", "pci_device": f"0000:0{number}:00.0", **members}


@pytest.mark.parametrize("value", ["", "-1", "void", "none"])
def test_a_variable_that_names_no_device_is_no_hint(value):
    (line,) = notes(coverage="absent", env_vars={"NVIDIA_VISIBLE_DEVICES": value}, launcher={"kind": "none"})
    assert "login node" in line


def test_the_other_variable_is_a_hint():
    assert notes(
        coverage="absent", env_vars={"NVIDIA_VISIBLE_DEVICES": "all"}, launcher={"kind": "none"}
    ) == ["no AMD GPU, but NVIDIA_VISIBLE_DEVICES is set"]


@pytest.mark.parametrize(
    ("arch", "gpus", "lines"),
    [
        (
            {"agent_count": 8, "physical_count": 8},
            [gpu(compute_partition="SPX", memory_partition="NPS1")],
            [],
        ),
        (
            {"agent_count": 1, "physical_count": 1},
            [gpu(compute_partition="SPX", memory_partition="NPS4")],
            ["partitioned (SPX, NPS4)"],
        ),
        (
            {"agent_count": 4, "physical_count": 2},
            [],
            ["partitioned (memory mode unknown): 4 agents on 2 physical GPUs"],
        ),
        ({"denied_nodes": 1}, [], ["1 more GPU is not visible to this process"]),
        ({"denied_nodes": 0}, [], []),
        (
            {"visibility_masks": {"ROCR_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "0"}},
            [],
            ["visibility masks in effect: ROCR_VISIBLE_DEVICES=(empty), HIP_VISIBLE_DEVICES=0"],
        ),
        (
            {"overrides": {"HSA_OVERRIDE_GFX_VERSION_1": "9.4.2"}},
            [],
            ["HSA_OVERRIDE_GFX_VERSION_1=9.4.2: GPU targets are told in place of the silicon's own"],
        ),
        (
            {
                "runtime_agrees": False,
                "runtime_targets": ["gfx1030", "gfx1030"],
                "silicon_targets": ["gfx1036", "gfx1036"],
            },
            [],
            [
                "the HSA runtime and the kernel's topology name different GPUs: 2 x gfx1030, the silicon is 2 x gfx1036"
            ],
        ),
        (
            {"runtime_agrees": False, "runtime_targets": [], "silicon_targets": ["gfx942"]},
            [],
            [
                "the HSA runtime and the kernel's topology name different GPUs: none, the silicon is 1 x gfx942"
            ],
        ),
    ],
)
def test_what_the_process_sees_of_them(arch, gpus, lines):
    assert notes(gpus, gpu_arch=arch) == lines


def test_several_models():
    mixed = [gpu(0), gpu(1), gpu(2, device_id="0x74a5", marketing_name="MI325X")]
    assert notes(mixed) == ["the GPUs are of several models: 2 x 0x74a1 gfx942, 1 x MI325X gfx942"]
    assert notes([gpu(0, marketing_name="MI300X"), gpu(1)]) == []


def test_the_odd_one_out():
    gpus = [gpu(number, vbios_version="A", firmware_versions={"smc": "1"}) for number in range(3)]
    gpus[2] |= {"vbios_version": "B", "firmware_versions": {"smc": "2"}, "kfd_firmware_version": 7}
    assert notes(gpus) == [
        "the GPUs' VBIOS differs: A on 2, B on 0000:02:00.0",
        "the GPUs' firmware differs: smc 1 on 2, 2 on 0000:02:00.0",
    ]
    # Another model may well have another firmware, and one that is not known is no other one.
    gpus[2] |= {"device_id": "0x74a5"}
    assert notes([*gpus[:2], gpu(3)]) == []
    assert len(notes(gpus)) == 1


def link(speed, width):
    return {"speed": speed, "width": width, "max_speed": "32.0 GT/s PCIe", "max_width": 16}


def test_a_slow_link():
    full = link("32.0 GT/s PCIe", 16)
    gpus = [gpu(0, pcie_link=full), gpu(1, pcie_link=link("16.0 GT/s PCIe", 8)), gpu(2, pcie_link=None)]
    assert notes(gpus) == [
        "PCIe link below its maximum: 1 x 16.0 GT/s PCIe x8 of 32.0 GT/s PCIe x16: 0000:01:00.0"
    ]
    assert notes([gpu(0, pcie_link=link("Unknown", None))]) == []


def test_errors():
    none = {"umc": {"uncorrectable": 0, "correctable": 0, "deferred": None}}
    some = {"umc": {"uncorrectable": 1, "correctable": 5}, "gfx": {"correctable": 2}}
    assert notes([gpu(0, ras=none), gpu(1, ras=some)]) == [
        "RAS errors since the driver was loaded: 0000:01:00.0 1 uncorrectable 7 correctable"
    ]
    # The partitions of a GPU share its counts.
    assert len(notes([gpu(1, ras=some), gpu(1, ras=some)])[0].split("0000:01")) == 2
