"""The inventory of NICs: which tools it asks, and what it says of the bus."""

import errno

from aorta.testing import FakeHost, provide
from aorta_collectors.providers import NicInventory
from tests.parts.nic_hosts import AINIC, CX7, TG3, Nics

ONE = "0000:1a:00.0"


def inventory(host):
    return provide(host, NicInventory)


def asked(result):
    return [" ".join(record.argv) for record in result.record.commands]


def test_where_sysfs_tells_all_no_tool_is_asked():
    result = inventory(
        Nics().function(ONE, CX7).net("a", ONE).rdma("mlx5_0", ONE).virtual("lo", "br0").host()
    )
    assert asked(result) == []
    assert result.typed.cards == {"ainic": False, "broadcom": False, "cx7": True}
    assert result.typed.virtual == ("br0", "lo")
    assert (result.typed.troubles, result.typed.gaps) == ((), ())


def test_rdma_is_asked_for_states_and_lspci_for_ids():
    nics = Nics().function(ONE, TG3)
    nics.links["/sys/class/infiniband/rdma0/device/driver"] = "../../../../bus/pci/drivers/ionic"
    assert asked(inventory(nics.host())) == ["lspci -D -n", "rdma link"]
    stateless = Nics().function(ONE, CX7).rdma("mlx5_0", ONE, state=None)
    assert asked(inventory(stateless.host())) == ["rdma link"]
    assert asked(inventory(FakeHost(dirs=["/sys/class"]))) == ["lspci -D -n"]
    assert asked(inventory(FakeHost())) == ["lspci -D -n", "rdma link"]


def test_ids_from_lspci_by_address():
    nics = Nics().function(ONE, AINIC)
    nics.files[f"{nics.place(ONE)}/device"] = errno.EACCES
    result = inventory(nics.host({"lspci -D -n": "1a:00.0 0200: 1dd8:1002\n"}))
    (device,) = result.typed.devices
    assert (device.device_id, device.model, device.source) == ("0x1002", "DSC Ethernet Controller", "sysfs")
    assert result.typed.cards["ainic"] is True
    assert "device_id" in {field for field, _ in result.typed.gaps}


def test_a_name_on_the_bus_that_is_no_address_is_passed_over():
    nics = Nics().function(ONE, CX7)
    nics.files["/sys/bus/pci/devices/what/class"] = "0x020000\n"
    assert [device.bdf for device in inventory(nics.host()).typed.devices] == [ONE]


def test_the_order_is_by_address():
    nics = Nics()
    for bdf in ("0000:f1:00.0", "0000:0a:00.0", "0000:9a:00.1"):
        nics.function(bdf, CX7)
    assert [device.bdf for device in inventory(nics.host()).typed.devices] == [
        "0000:0a:00.0",
        "0000:9a:00.1",
        "0000:f1:00.0",
    ]
