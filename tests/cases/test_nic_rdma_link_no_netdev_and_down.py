"""Rows of rdma link are pairs: InfiniBand has more before the state, a pod has no interface behind it."""

from aorta.testing import FakeHost, collect
from aorta_collectors.nic.tools import parse_links
from tests.parts.nic_hosts import CX7, THOR2, Nics

CASE = "nic-rdma-link-no-netdev-and-down"

TEXT = """link bnxt_re0/1 state ACTIVE physical_state LINK_UP
link bnxt_re1/1 state DOWN physical_state DISABLED
link mlx5_2/1 subnet_prefix fe80:0000:0000:0000 lid 38 sm_lid 13 lmc 0 state ACTIVE physical_state LINK_UP
link siw0/1 state ACTIVE physical_state LINK_UP netdev eth0
"""
ROWS = [
    ("bnxt_re0", 1, "ACTIVE", "LINK_UP", None),
    ("bnxt_re1", 1, "DOWN", "DISABLED", None),
    ("mlx5_2", 1, "ACTIVE", "LINK_UP", None),
    ("siw0", 1, "ACTIVE", "LINK_UP", "eth0"),
]


def test_rows():
    assert [tuple(row) for row in parse_links(TEXT)] == ROWS


def test_the_vendor_comes_from_the_driver_and_siw_has_none():
    nics = Nics().function("0000:06:00.0", THOR2).function("0000:27:00.0", THOR2)
    nics.function("0000:1a:00.0", CX7)
    for name, bdf in (("bnxt_re0", "0000:06:00.0"), ("bnxt_re1", "0000:27:00.0"), ("mlx5_2", "0000:1a:00.0")):
        nics.rdma(name, bdf, ports={})
    nics.links["/sys/class/infiniband/siw0"] = "../../devices/virtual/infiniband/siw0"
    for name in [name for name in nics.files if "/ports/" in name]:
        del nics.files[name]
    host = nics.host({"rdma link": TEXT})
    value = collect(host, "nics").value
    assert value["broadcom"]["links"] == [
        {"device": "bnxt_re0", "state": "ACTIVE", "netdev": None},
        {"device": "bnxt_re1", "state": "DOWN", "netdev": None},
    ]
    assert value["cx7"]["links"] == [{"device": "mlx5_2", "state": "ACTIVE", "netdev": None}]
    assert "siw0" not in str(value)
    found = {each["rdma_device"]: each for each in collect(host, "nic_devices").value}
    assert (found["siw0"]["netdev"], found["siw0"]["vendor_id"]) == ("eth0", None)
    assert found["bnxt_re1"]["problems"][0] == "port_down"


def test_without_sysfs_the_rows_are_all_there_is():
    found = collect(FakeHost(commands={"rdma link": TEXT}), "nic_devices").value
    rows = [
        (each["rdma_device"], each["ports"][0]["port"], each["state"], each["physical_state"], each["netdev"])
        for each in found
    ]
    assert sorted(rows) == sorted(ROWS)
    assert "fe80" not in str(found)
