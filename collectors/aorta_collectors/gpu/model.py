"""What is said of one GPU."""

from typing import Annotated

from aorta.model.fact import Fact
from aorta.model.frozen import frozen


@frozen
class PcieLink:
    """The PCIe link of one GPU, as the kernel writes it."""

    speed: Annotated[str | None, Fact('Speed now, e.g. "32.0 GT/s PCIe".', volatile=True)] = None
    width: Annotated[int | None, Fact("Lanes now.")] = None
    max_speed: Annotated[str | None, Fact("Highest speed of the device.")] = None
    max_width: Annotated[int | None, Fact("Most lanes of the device.")] = None


@frozen
class RasCount:
    """Error counts of one block since the driver was loaded."""

    uncorrectable: Annotated[int | None, Fact("Uncorrectable errors (ue).", volatile=True)] = None
    correctable: Annotated[int | None, Fact("Correctable errors (ce).", volatile=True)] = None
    deferred: Annotated[int | None, Fact("Deferred errors (de).", volatile=True)] = None


@frozen
class Gpu:
    """One GPU or partition of a GPU."""

    source: Annotated[
        str | None, Fact("kfd (the kernel's topology) or rocminfo (WSL2, which has no KFD).")
    ] = None
    gfx_target: Annotated[
        str | None,
        Fact(
            "Target of the silicon, e.g. gfx942.",
            caveat="From rocminfo it is the runtime's, overrides applied.",
        ),
    ] = None
    marketing_name: Annotated[str | None, Fact("Product name as rocminfo prints it.")] = None
    bdf: Annotated[
        str | None, Fact("PCI address, domain:bus:device.function; a partition's function is its number.")
    ] = None
    pci_device: Annotated[
        str | None, Fact("PCI address of the function that the GPU's partitions share.")
    ] = None
    vendor_id: Annotated[str | None, Fact("PCI vendor, 0x1002.")] = None
    device_id: Annotated[str | None, Fact("PCI device id, e.g. 0x74a1.")] = None
    subsystem_vendor_id: Annotated[str | None, Fact("PCI subsystem vendor.")] = None
    subsystem_device_id: Annotated[str | None, Fact("PCI subsystem device.")] = None
    revision: Annotated[str | None, Fact("PCI revision, e.g. 0x00.")] = None
    unique_id: Annotated[
        str | None, Fact("Serial-like id of the package, 0x and 16 digits; its partitions share it.")
    ] = None
    uuid: Annotated[str | None, Fact("The runtime's UUID, from rocminfo; partitions share it.")] = None
    kfd_node: Annotated[int | None, Fact("Number of the node in KFD's topology.")] = None
    kfd_gpu_id: Annotated[int | None, Fact("KFD's gpu_id.")] = None
    drm_render_minor: Annotated[int | None, Fact("N of /dev/dri/renderDN.")] = None
    drm_card: Annotated[str | None, Fact("The card of the same device, e.g. card1.")] = None
    driver: Annotated[str | None, Fact("Kernel driver bound to the PCI device.")] = None
    numa_node: Annotated[
        int | None, Fact("NUMA node of the PCI device; null when the firmware names none.")
    ] = None
    compute_units: Annotated[int | None, Fact("Compute units of this entry.")] = None
    simd_count: Annotated[int | None, Fact("SIMD units of this entry.")] = None
    num_xcc: Annotated[int | None, Fact("Accelerator complex dies (XCC) of this entry.")] = None
    max_engine_clock_mhz: Annotated[int | None, Fact("Highest engine clock in MHz.")] = None
    vram_bytes: Annotated[
        int | None, Fact("Video memory of the whole GPU in bytes (mem_info_vram_total).")
    ] = None
    vbios_version: Annotated[str | None, Fact("VBIOS version as the driver prints it.")] = None
    compute_partition: Annotated[str | None, Fact("SPX, DPX, TPX, QPX or CPX.")] = None
    compute_partition_source: Annotated[
        str | None, Fact("sysfs (the driver says it) or kfd (counted from nodes of one package).")
    ] = None
    partition_id: Annotated[
        int | None, Fact("Number of the partition within its GPU; null when not partitioned.")
    ] = None
    memory_partition: Annotated[str | None, Fact("NPS1, NPS2, NPS4 or NPS8.")] = None
    xgmi_hive_id: Annotated[str | None, Fact("Id of the XGMI hive; null when in none.")] = None
    pcie_link: Annotated[PcieLink | None, Fact("PCIe link now and at most.")] = None
    power_cap_w: Annotated[float | None, Fact("Power cap in watts.")] = None
    firmware_versions: Annotated[
        dict[str, str] | None, Fact("Firmware as loaded, by engine (fw_version/*), as the driver prints it.")
    ] = None
    kfd_firmware_version: Annotated[int | None, Fact("Compute (MEC) firmware, KFD's fw_version.")] = None
    kfd_sdma_firmware_version: Annotated[int | None, Fact("SDMA firmware, KFD's sdma_fw_version.")] = None
    ras: Annotated[
        dict[str, RasCount] | None,
        Fact("RAS error counts by block since the driver was loaded.", volatile=True),
    ] = None
