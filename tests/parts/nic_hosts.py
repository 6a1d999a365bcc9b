"""Made-up NICs in sysfs, laid out as a kernel does: what ``FakeHost`` takes."""

from aorta.testing import FakeHost

CX7 = ("0x15b3", "0x1021", "mlx5_core")
CX6 = ("0x15b3", "0x101b", "mlx5_core")
THOR2 = ("0x14e4", "0x1760", "bnxt_en")
TG3 = ("0x14e4", "0x165f", "tg3")
AINIC = ("0x1dd8", "0x1002", "ionic")

ETHTOOL = "driver: {}\nversion: {}\nfirmware-version: {}\nexpansion-rom-version: \nbus-info: {}\n"
NO_DEVICES = "    device          \t   node GUID\n    ------          \t----------------\n"


def ethtool(driver, version, firmware, bdf=""):
    return ETHTOOL.format(driver, version, firmware, bdf)


def ibv_devices(*names):
    return NO_DEVICES + "".join(f"    {name:<16}\t0200000000000{at:03}\n" for at, name in enumerate(names))


class Nics:
    """Files and links of a machine's NICs; each call adds something and returns the whole."""

    def __init__(self):
        self.files, self.links, self.dirs, self.nodes = {}, {}, ["/sys/bus/pci/devices"], {}

    @staticmethod
    def place(bdf):
        return f"/sys/devices/pci0000:{bdf.split(':')[1]}/{bdf}"

    def function(self, bdf, ids, *, device_class="0x020000", numa="0", **files):
        """Add a PCI function; ``ids`` are vendor, device and driver (None: none is bound)."""
        vendor, device, driver = ids
        place = self.place(bdf)
        self.links[f"/sys/bus/pci/devices/{bdf}"] = f"../../../devices/{place[len('/sys/devices/') :]}"
        texts = {"vendor": vendor, "device": device, "class": device_class, "numa_node": numa}
        texts |= {"subsystem_vendor": vendor, "subsystem_device": "0x0001", **files}
        self.files |= {f"{place}/{name}": f"{text}\n" for name, text in texts.items() if text is not None}
        if driver:
            self.links[f"{place}/driver"] = f"../../../bus/pci/drivers/{driver}"
        return self

    def net(self, name, bdf, *, mtu="9000", operstate="up", master=None):
        """Add a network interface of a function."""
        place = f"{self.place(bdf)}/net/{name}"
        self.links |= {
            f"/sys/class/net/{name}": f"../../devices/{place[len('/sys/devices/') :]}",
            f"{place}/device": f"../../../{bdf}",
        }
        self.files |= {f"{place}/mtu": f"{mtu}\n", f"{place}/operstate": f"{operstate}\n"}
        if master:
            self.links[f"{place}/master"] = f"../../../../virtual/net/{master}"
        return self

    def virtual(self, *names):
        """Add interfaces without a device."""
        for name in names:
            self.links[f"/sys/class/net/{name}"] = f"../../devices/virtual/net/{name}"
            self.files[f"/sys/devices/virtual/net/{name}/mtu"] = "1500\n"
        return self

    def rdma(self, name, bdf, *, firmware="28.39.3560", board="MT_0000000838", ports=None, **port):
        """Add an RDMA device of a function; ``ports`` maps a number to what ``port`` takes."""
        place = f"{self.place(bdf)}/infiniband/{name}"
        self.links |= {
            f"/sys/class/infiniband/{name}": f"../../devices/{place[len('/sys/devices/') :]}",
            f"{place}/device": f"../../../{bdf}",
        }
        texts = {"fw_ver": firmware, "board_id": board, "hca_type": "MT4129"}
        texts["node_guid"] = "0200:00ff:fe00:0100"
        self.files |= {f"{place}/{key}": f"{text}\n" for key, text in texts.items() if text is not None}
        for number, one in (ports or {1: port}).items():
            self._port(f"{place}/ports/{number}", **one)
        return self

    def _port(self, place, *, state="4: ACTIVE", phys="5: LinkUp", layer="Ethernet", gids=None, ndevs=()):
        texts = {"state": state, "phys_state": phys, "rate": "400 Gb/sec (4X NDR)", "link_layer": layer}
        self.files |= {f"{place}/{key}": f"{text}\n" for key, text in texts.items() if text is not None}
        default = ["IB/RoCE v1", "RoCE v2", "IB/RoCE v1", "RoCE v2"] if layer == "Ethernet" else []
        for index, kind in enumerate(default if gids is None else gids):
            self.files[f"{place}/gid_attrs/types/{index}"] = f"{kind}\n" if isinstance(kind, str) else kind
        for index, name in enumerate(ndevs):
            self.files[f"{place}/gid_attrs/ndevs/{index}"] = f"{name}\n"

    def uverbs(self, name, at, *, abi="1", node="c"):
        """Add the uverbs device of an RDMA device; ``node`` is None, a kind, or what opening raises."""
        place = f"/sys/class/infiniband_verbs/uverbs{at}"
        self.files |= {f"{place}/ibdev": f"{name}\n", f"{place}/abi_version": f"{abi}\n"}
        self.files["/sys/class/infiniband_verbs/abi_version"] = "6\n"
        if isinstance(node, str):
            self.nodes[f"/dev/infiniband/uverbs{at}"] = node
        elif node is not None:
            self.files[f"/dev/infiniband/uverbs{at}"] = node
        return self

    def provider(self, name):
        """Add rdma-core's library for a device."""
        self.files[f"/usr/lib/x86_64-linux-gnu/libibverbs/lib{name}-rdmav34.so"] = "\x7fELF"
        return self

    def host(self, commands=None, files=None, **host):
        """Return the machine."""
        return FakeHost(
            files={**self.files, **(files or {})},
            links=self.links,
            dirs=self.dirs,
            nodes=self.nodes,
            commands=commands or {},
            **host,
        )


ROOT = {"user": {"uid": 0, "root": True, "groups": [0]}}
USER = {"user": {"uid": 1000, "root": False, "groups": [1000]}}
