"""What is said of one network or RDMA device."""

from typing import Annotated

from aorta.model.fact import Fact
from aorta.model.frozen import frozen
from aorta.model.vocabulary import Detail, Provenance, Word


class Problem(Word):
    """Why a device cannot be used as it is."""

    NO_DRIVER = "no_driver"
    PORT_DOWN = "port_down"
    NO_UVERBS = "no_uverbs"
    NO_DEVICE_NODE = "no_device_node"
    NOT_OPENABLE = "not_openable"
    ABI_MISMATCH = "abi_mismatch"
    NO_PROVIDER = "no_provider"
    NOT_LISTED = "not_listed"


@frozen
class NicInterface:
    """A network interface of the device, in the network namespace that sysfs shows."""

    name: Annotated[str | None, Fact("Name; a hardware address inside it is masked.")] = None
    mtu: Annotated[int | None, Fact("MTU in bytes.")] = None
    operstate: Annotated[str | None, Fact("up, down, unknown, …", volatile=True)] = None
    master: Annotated[str | None, Fact("The bond or bridge that it is a member of.")] = None


@frozen
class NicPort:
    """A port of an RDMA device."""

    port: Annotated[int | None, Fact("Number, from 1.")] = None
    state: Annotated[str | None, Fact("ACTIVE, DOWN, INIT, ARMED, …", volatile=True)] = None
    physical_state: Annotated[
        str | None, Fact("LinkUp, Disabled, Polling, … (rdma prints LINK_UP).", volatile=True)
    ] = None
    rate: Annotated[str | None, Fact('As the kernel words it, "400 Gb/sec (4X NDR)".')] = None
    link_layer: Annotated[str | None, Fact("Ethernet or InfiniBand.")] = None
    gid_types: Annotated[
        dict[str, int] | None,
        Fact("GIDs by type (RoCE v2, IB/RoCE v1), among the first 16 indices; InfiniBand has none."),
    ] = None
    gid_index_3: Annotated[
        str | None,
        Fact("Type of the GID at index 3, the usual NCCL_IB_GID_INDEX; null: that slot is empty."),
    ] = None


@frozen
class NicVerbs:
    """What user space has of an RDMA device."""

    uverbs: Annotated[str | None, Fact("Its uverbs device, e.g. uverbs0.")] = None
    kernel_abi: Annotated[int | None, Fact("ABI of the kernel's driver (uverbsN/abi_version).")] = None
    core_abi: Annotated[int | None, Fact("ABI of uverbs itself (infiniband_verbs/abi_version).")] = None
    provider_abi: Annotated[
        str | None,
        Fact(
            'ABIs that the provider library supports, "1 to 1"; known only where libibverbs complains.',
            provenance=(Provenance.PROCESS,),
        ),
    ] = None
    provider_library: Annotated[
        str | None,
        Fact("The provider library of rdma-core.", provenance=(Provenance.FILESYSTEM,)),
    ] = None
    openable: Annotated[
        bool | None,
        Fact("Whether this user may open /dev/infiniband/uverbsN; it is never opened here."),
    ] = None
    listed: Annotated[
        bool | None, Fact("Whether ibv_devices lists the device.", provenance=(Provenance.PROCESS,))
    ] = None


@frozen
class NicDevice:
    """A network or RDMA device: one entry a PCI function, or an RDMA device without one."""

    source: Annotated[str | None, Fact("sysfs; lspci or rdma where sysfs does not show the device.")] = None
    rdma_device: Annotated[
        str | None,
        Fact(
            "Its RDMA device; null: none. A bonded one stands at each of its functions.",
            caveat="Names are free; a hardware address inside one (rocex…, ibx…) is masked.",
        ),
    ] = None
    netdev: Annotated[
        str | None, Fact("Its first network interface; null: none in this network namespace.")
    ] = None
    interfaces: Annotated[
        tuple[NicInterface, ...] | None,
        Fact("All its network interfaces; of a bonded RDMA device those of both functions."),
    ] = None
    bdf: Annotated[str | None, Fact("PCI address.")] = None
    vendor_id: Annotated[str | None, Fact("PCI vendor, e.g. 0x15b3.")] = None
    device_id: Annotated[str | None, Fact("PCI device, e.g. 0x1021.")] = None
    subsystem_vendor_id: Annotated[str | None, Fact("PCI subsystem vendor.")] = None
    subsystem_device_id: Annotated[str | None, Fact("PCI subsystem device.")] = None
    model: Annotated[str | None, Fact("Name of the PCI id, from a short table of fabric NICs.")] = None
    driver: Annotated[str | None, Fact("The bound kernel driver; null with driver_bound false: none.")] = None
    driver_bound: Annotated[bool | None, Fact("Whether a kernel driver is bound.")] = None
    driver_version: Annotated[
        str | None,
        Fact(
            "Version of the driver's module, else what ethtool says of one of its interfaces.",
            caveat="In-tree drivers repeat the kernel release; ethtool cuts at 31 characters.",
        ),
    ] = None
    firmware: Annotated[
        str | None, Fact("Firmware version: fw_ver, else ethtool; without package and board id.")
    ] = None
    firmware_package: Annotated[
        str | None, Fact("Version of the firmware package where ethtool names another one (Broadcom).")
    ] = None
    board_id: Annotated[str | None, Fact("Board id (PSID), e.g. MT_0000000838.")] = None
    hca_type: Annotated[str | None, Fact("Chip as the RDMA driver names it, e.g. MT4129.")] = None
    node_guid: Annotated[
        str | None,
        Fact("Node GUID.", caveat="It identifies the hardware.", detail=Detail.FULL),
    ] = None
    sriov: Annotated[str | None, Fact("pf (can have virtual functions), vf (is one) or none.")] = None
    sriov_vfs: Annotated[int | None, Fact("Virtual functions that a pf has now.")] = None
    physical_function: Annotated[str | None, Fact("PCI address of a vf's physical function.")] = None
    numa_node: Annotated[int | None, Fact("NUMA node; null: the firmware names none.")] = None
    state: Annotated[str | None, Fact("State of the first RDMA port.", volatile=True)] = None
    physical_state: Annotated[str | None, Fact("Physical state of the first RDMA port.", volatile=True)] = (
        None
    )
    rate: Annotated[str | None, Fact("Rate of the first RDMA port.")] = None
    link_layer: Annotated[str | None, Fact("Link layer of the first RDMA port.")] = None
    mtu: Annotated[int | None, Fact("MTU of the first network interface, in bytes.")] = None
    ports: Annotated[tuple[NicPort, ...] | None, Fact("All RDMA ports; null without RDMA.")] = None
    verbs: Annotated[NicVerbs | None, Fact("What user space has of the RDMA device.")] = None
    usable: Annotated[
        bool | None,
        Fact(
            "Whether a process of this user could use it now; null where something that decides was not seen."
        ),
    ] = None
    problems: Annotated[
        tuple[Problem, ...] | None, Fact("What makes it unusable; empty: nothing was found.")
    ] = None
