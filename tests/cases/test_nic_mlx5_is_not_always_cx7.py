"""mlx5_core drives ConnectX-4 to BlueField-3: only the PCI id tells a ConnectX-7."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.nic_hosts import Nics

CASE = "nic-mlx5-is-not-always-cx7"

CARDS = {
    "0000:af:00.0": ("0200", "1015", "ConnectX-4 Lx"),
    "0000:86:00.0": ("0200", "101d", "ConnectX-6 Dx"),
    "0000:b4:00.0": ("0200", "a2dc", "BlueField-3"),
    "0000:41:00.0": ("0207", "1021", "ConnectX-7"),
    "0000:42:00.0": ("0200", "101e", "ConnectX mlx5 VF"),
}


def from_lspci():
    rows = "".join(f"{bdf} {kind}: 15b3:{device}\n" for bdf, (kind, device, _) in CARDS.items())
    return FakeHost(commands={"lspci -D -n": rows})


def from_sysfs(*, rdma=True, without=None):
    nics = Nics()
    for at, (bdf, (kind, device, _)) in enumerate(CARDS.items()):
        if bdf == without:
            continue
        nics.function(bdf, ("0x15b3", f"0x{device}", "mlx5_core"), device_class=f"0x{kind}00")
        nics.net(f"eth{at}", bdf)
        if rdma:
            nics.rdma(f"mlx5_{at}", bdf)
    return nics.host()


@pytest.mark.parametrize("host", [from_lspci, from_sysfs])
def test_every_card_is_listed_with_its_model(host):
    found = collect(host(), "nic_devices").value
    assert {each["bdf"]: each["model"] for each in found} == {bdf: card[2] for bdf, card in CARDS.items()}
    assert [each["bdf"] for each in found if each["device_id"] == "0x1021"] == ["0000:41:00.0"]


def test_only_the_connectx_7_is_the_key_s():
    card = collect(from_sysfs(), "nics").value["cx7"]
    assert (card["present"], card["rdma_devices"]) == (True, ["mlx5_3"])
    assert [link["netdev"] for link in card["links"]] == ["eth3"]


@pytest.mark.parametrize("rdma", [True, False])
def test_without_it_no_other_card_stands_for_it(rdma):
    card = collect(from_sysfs(rdma=rdma, without="0000:41:00.0"), "nics").value["cx7"]
    assert (card["present"], card["rdma_devices"], card["firmware"]) == (False, None, None)
