"""AI NICs may be called rdma0: devices and links belong to the bound driver's card, not to a name."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.nic_hosts import AINIC, CX7, Nics

CASE = "aorta-208-rdma-names-without-vendor-prefix"

LINKS = """link rdma0/1 state ACTIVE physical_state LINK_UP netdev benic1p1
link rdma1/1 state ACTIVE physical_state LINK_UP netdev benic2p1
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens9np0
"""
CARDS = [
    ("0000:09:00.0", AINIC, "rdma0", "benic1p1"),
    ("0000:19:00.0", AINIC, "rdma1", "benic2p1"),
    ("0000:c1:00.0", CX7, "mlx5_0", "ens9np0"),
]


def bare_links():
    """Only the links to the drivers are there, no PCI ids and no states."""
    links = {}
    for _, (_, _, driver), rdma, net in CARDS:
        for place in (f"infiniband/{rdma}", f"net/{net}"):
            links[f"/sys/class/{place}/device/driver"] = f"../../../../bus/pci/drivers/{driver}"
    ids = "".join(f"{bdf} 0200: {ids[0][2:]}:{ids[1][2:]}\n" for bdf, ids, _, _ in CARDS)
    return FakeHost(links=links, commands={"rdma link": LINKS, "lspci -D -n": ids})


def whole():
    nics = Nics()
    for bdf, ids, rdma, net in CARDS:
        nics.function(bdf, ids).net(net, bdf).rdma(rdma, bdf)
    return nics.host()


@pytest.mark.parametrize("host", [bare_links, whole])
def test_names_say_nothing(host):
    value = collect(host(), "nics").value
    assert [value[key]["present"] for key in ("ainic", "broadcom", "cx7")] == [True, False, True]
    assert value["ainic"]["rdma_devices"] == ["rdma0", "rdma1"]
    assert [link["netdev"] for link in value["ainic"]["links"]] == ["benic1p1", "benic2p1"]
    assert {link["state"] for link in value["ainic"]["links"]} == {"ACTIVE"}
    assert value["cx7"]["rdma_devices"] == ["mlx5_0"]
    assert value["broadcom"]["rdma_devices"] is None


@pytest.mark.parametrize("host", [bare_links, whole])
def test_pairs(host):
    found = collect(host(), "nic_devices").value
    pairs = {each["rdma_device"]: (each["netdev"], each["driver"]) for each in found if each["rdma_device"]}
    assert pairs == {
        "rdma0": ("benic1p1", "ionic"),
        "rdma1": ("benic2p1", "ionic"),
        "mlx5_0": ("ens9np0", "mlx5_core"),
    }
