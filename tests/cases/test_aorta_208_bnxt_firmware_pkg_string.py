"""Broadcom's firmware string holds two versions; a package that repeats the firmware is none."""

import pytest

from aorta.testing import collect
from aorta_collectors.nic.tools import parse_ethtool
from tests.parts.nic_hosts import THOR2, Nics

CASE = "aorta-208-bnxt-firmware-pkg-string"

FIRST = """driver: bnxt_en
version: 1.10.3-230.2.49.0
firmware-version: 229.0.144.0/pkg 229.1.123.0
expansion-rom-version:
bus-info: 0000:09:00.0
supports-statistics: yes
"""
SECOND = """driver: bnxt_en
version: 1.10.3-230.2.49.0
firmware-version: 230.2.49.0/pkg 230.2.49.0
bus-info: 0000:09:00.1
"""


@pytest.mark.parametrize(
    ("text", "firmware", "package"),
    [
        (FIRST, "229.0.144.0", "229.1.123.0"),
        (SECOND, "230.2.49.0", None),
        (SECOND.replace("/pkg ", "/pkg"), "230.2.49.0", None),
    ],
)
def test_both_halves(text, firmware, package):
    told = parse_ethtool(text)
    assert (told.version, told.firmware, told.package) == ("1.10.3-230.2.49.0", firmware, package)


@pytest.mark.parametrize("fw_ver", [None, "229.0.144.0"])
def test_in_the_document(fw_ver):
    one, two = "0000:09:00.0", "0000:09:00.1"
    nics = Nics().function(one, THOR2).function(two, THOR2).net("ens1f0np0", one).net("ens1f1np1", two)
    nics.rdma("bnxt_re0", one, firmware=fw_ver, board=None)
    host = nics.host({"ethtool -i ens1f0np0": FIRST, "ethtool -i ens1f1np1": SECOND})
    card = collect(host, "nics").value["broadcom"]
    assert (card["firmware"], card["pkg_version"]) == ("229.0.144.0", "229.1.123.0")
    assert (card["driver_version"], card["firmware_mixed"]) == ("1.10.3-230.2.49.0", True)
    found = [(each["firmware"], each["firmware_package"]) for each in collect(host, "nic_devices").value]
    assert found == [("229.0.144.0", "229.1.123.0"), ("230.2.49.0", None)]
