"""A fabric card without a driver is listed and said to be unbound; its address may lack the domain."""

import pytest

from aorta.testing import FakeHost, collect
from aorta_collectors.nic.tools import parse_lspci
from tests.parts.nic_hosts import Nics

CASE = "nic-lspci-no-driver-bound"

BDF = "0000:b4:00.0"


@pytest.mark.parametrize("device", ["0xa2dc", "0x1021"])
def test_an_unbound_card_is_a_finding(device):
    host = Nics().function(BDF, ("0x15b3", device, None)).host()
    (card,) = collect(host, "nic_devices").value
    assert (card["bdf"], card["driver_bound"], card["driver"], card["driver_version"]) == (
        BDF,
        False,
        None,
        None,
    )
    assert (card["usable"], card["problems"]) == (False, ["no_driver"])
    assert collect(host, "nics").value["cx7"]["present"] is (device == "0x1021")


def test_from_lspci_alone_nothing_is_said_of_the_driver():
    text = "b4:00.0 0200: 15b3:a2dc (rev 01)\n"
    assert parse_lspci(text) == {BDF: ("0x0200", "0x15b3", "0xa2dc")}
    (card,) = collect(FakeHost(commands={"lspci -D -n": text}), "nic_devices").value
    assert (card["bdf"], card["model"], card["source"]) == (BDF, "BlueField-3", "lspci")
    assert (card["driver"], card["driver_bound"], card["usable"]) == (None, None, None)
