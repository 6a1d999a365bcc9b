"""PCI ids of network devices: the three cards that ``nics`` has keys for, and models by name."""

from aorta_collectors.nic.model import NicDevice

#: Key of ``nics`` -> PCI vendor, PCI device, kernel driver. Other functions of these vendors (bridges,
#: virtual functions, management ports, other cards under the same driver) are not these cards.
CARDS = {
    "ainic": ("0x1dd8", "0x1002", "ionic"),
    "broadcom": ("0x14e4", "0x1760", "bnxt_en"),
    "cx7": ("0x15b3", "0x1021", "mlx5_core"),
}

#: Drivers that serve no other vendor's and no other kind of card.
EXCLUSIVE = frozenset({"ainic"})

#: Models, by vendor and device as PCI numbers them.
MODELS = {
    "0x1dd8": {"0x1002": "DSC Ethernet Controller", "0x1003": "DSC VF", "0x1004": "DSC management"},
    "0x14e4": {
        "0x1760": "BCM57608",
        "0x1750": "BCM57508",
        "0x1751": "BCM57504",
        "0x1752": "BCM57502",
        "0x16d7": "BCM57414",
        "0x16d6": "BCM57412",
        "0x16d8": "BCM57416",
        "0x165f": "BCM5720",
        "0x1657": "BCM5719",
    },
    "0x15b3": {
        "0x1013": "ConnectX-4",
        "0x1014": "ConnectX-4 VF",
        "0x1015": "ConnectX-4 Lx",
        "0x1016": "ConnectX-4 Lx VF",
        "0x1017": "ConnectX-5",
        "0x1018": "ConnectX-5 VF",
        "0x1019": "ConnectX-5 Ex",
        "0x101a": "ConnectX-5 Ex VF",
        "0x101b": "ConnectX-6",
        "0x101c": "ConnectX-6 VF",
        "0x101d": "ConnectX-6 Dx",
        "0x101e": "ConnectX mlx5 VF",
        "0x101f": "ConnectX-6 Lx",
        "0x1021": "ConnectX-7",
        "0x1023": "ConnectX-8",
        "0xa2d2": "BlueField",
        "0xa2d6": "BlueField-2",
        "0xa2dc": "BlueField-3",
    },
    "0x17db": {"0x0501": "Slingshot (Cassini)"},
    "0x1d0f": {"0xefa0": "EFA", "0xefa1": "EFA", "0xefa2": "EFA", "0xefa3": "EFA", "0xec20": "ENA"},
    "0x8086": {"0x1592": "E810-C", "0x1593": "E810-C", "0x159b": "E810-XXV", "0x1572": "X710"},
}

#: Kernel driver -> provider of rdma-core; elsewhere they have the same name.
PROVIDERS = {
    "mlx5_core": "mlx5",
    "mlx4_core": "mlx4",
    "bnxt_en": "bnxt_re",
    "ice": "irdma",
    "idpf": "irdma",
    "i40e": "irdma",
    "hfi1": "hfi1verbs",
    "hns3": "hns",
    "qede": "qedr",
}


def model_of(vendor: str | None, device: str | None) -> str | None:
    """Return a model's name; None for an id that the table does not hold."""
    return MODELS.get(vendor or "", {}).get(device or "")


def identified(device: NicDevice) -> bool:
    """Tell whether the PCI ids are known."""
    return device.vendor_id is not None and device.device_id is not None


def card_of(device: NicDevice) -> str | None:
    """Return the key of ``nics`` that a device with known ids belongs to."""
    ids = (device.vendor_id, device.device_id)
    return next((key for key, (vendor, model, _) in CARDS.items() if ids == (vendor, model)), None)


def card_by_driver(device: NicDevice) -> str | None:
    """Return the key that a device without a known device id may belong to, by its driver."""
    for key, (vendor, _, driver) in CARDS.items():
        if device.driver == driver and device.vendor_id in (None, vendor) and not identified(device):
            return key
    return None
