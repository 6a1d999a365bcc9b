"""Pieces of made-up GPU hosts: KFD nodes, device files and rocminfo's text, short but in their real form."""

NODES = "/sys/class/kfd/kfd/topology/nodes"
PCI = "/sys/bus/pci/devices"
COLOUR, PLAIN = "\x1b[37m", "\x1b[0m"

CPU = {"cpu_cores_count": 96, "simd_count": 0, "gfx_target_version": 0, "vendor_id": 0}
MI300X = {
    "cpu_cores_count": 0,
    "simd_count": 1216,
    "simd_per_cu": 4,
    "gfx_target_version": 90402,
    "vendor_id": 4098,
    "device_id": 29857,
    "location_id": 6912,
    "domain": 0,
    "drm_render_minor": 128,
    "hive_id": 1000000000000000001,
    "fw_version": 166,
    "sdma_fw_version": 22,
    "unique_id": 1000000000000000102,
    "num_xcc": 8,
    "max_engine_clk_fcompute": 2100,
}
PARTITION = {**MI300X, "simd_count": 152, "num_xcc": 1, "location_id": 1280, "unique_id": 1000000000000000101}


def kfd(*nodes, refused=()):
    """Return the files of a topology; a node is a dict of properties, ``refused`` maps number to errno."""
    files = {}
    for number, properties in enumerate(nodes):
        gpu = bool(properties.get("simd_count"))
        place = f"{NODES}/{number}"
        files[f"{place}/properties"] = "".join(f"{key} {value}\n" for key, value in properties.items())
        files[f"{place}/gpu_id"] = f"{28000 + number if gpu else 0}\n"
        files[f"{place}/name"] = "ip discovery\n" if gpu else "\n"
    for number, error in dict(refused).items():
        for name in ("properties", "gpu_id", "name"):
            files[f"{NODES}/{number}/{name}"] = error
    return files


def agent(number, name="gfx942", **attributes):
    """Return the lines of one agent; an attribute of None is left out, blanks pad as in the tool."""
    lines = {
        "Name": name,
        "Uuid": "GPU-a000000000000000",
        "Marketing Name": "AMD Instinct MI300X",
        "Node": str(number),
        "Device Type": "GPU",
        "Chip ID": "29857(0x74a1)",
        "BDFID": "6912",
        "Internal Node ID": str(number),
        "Compute Unit": "304",
        **{key.replace("_", " "): value for key, value in attributes.items() if key != "isa"},
    }
    text = f"*******                  \nAgent {number + 1}                  \n*******                  \n"
    text += "".join(f"  {key + ':':25}{value:35}\n" for key, value in lines.items() if value is not None)
    text += (
        "  WatchPts on Addr. Ranges:4                                  \n  SDMA engine uCode::      19   \n"
    )
    isa = attributes.get("isa", f"{name}:sramecc+:xnack-")
    text += "  ISA Info:              \n    ISA 1                \n"
    text += f"      Name:                    amdgcn-amd-amdhsa--{isa}         \n"
    text += "    ISA 2                \n      Name:                    amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+:xnack-\n"
    return text


def rocminfo(*agents, first="ROCk module version 6.8.5 is loaded"):
    """Return rocminfo's text with one CPU before the given GPU agents."""
    head = f"{COLOUR}{first}{PLAIN}\n=====================    \nHSA System Attributes    \n"
    cpu = agent(0, "AMD EPYC 9654 96-Core Processor    ", **{"Device Type": "CPU", "BDFID": "0"})
    return (
        head + cpu.replace("GPU-a000000000000000", "CPU-XX") + "".join(agents) + "*** Done ***             \n"
    )


def device(bdf="0000:1b:00.0", vendor="0x1002", device_class="0x120000", **files):
    """Return the files of one PCI device."""
    own = {"vendor": f"{vendor}\n", "class": f"{device_class}\n", **files}
    return {f"{PCI}/{bdf}/{name.replace('__', '/')}": text for name, text in own.items()}
