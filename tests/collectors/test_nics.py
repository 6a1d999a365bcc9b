"""The nics section: three keys by PCI id, what 1.x says of each, and what needs root."""

import errno

import pytest

from aorta.testing import FakeHost, Outcome, collect
from tests.parts.nic_hosts import AINIC, CX6, CX7, TG3, THOR2, Nics, ethtool

ONE, TWO = "0000:1a:00.0", "0000:3c:00.0"
FB = "28.44.2506 (FB_0000000030)"
KEYS = ("ainic", "broadcom", "cx7")
UUID = "42424650-4c32-3530-3130-303031000000"
CARD = (
    f'\n{{"nic": [{{"id": "{UUID}", "asic": "salina", "firmware_version": "1.117.5-a-56",'
    ' "current_firmware_partition": "B", "serial_number": "FPL25010001"}, {"id": "other"}]}\n'
)
FIRMWARE = '\n{"nic": [{"id": "x", "version": {"cpld": "3.8", "firmware_a": "1.110.0", "firmware_b": "1.117.5-a-56"}}]}'
SOFTWARE = '{"host_software": {"nicctl": "1.117.5-a-56", "ionic_driver": "25.08.4.004"}}'
PROFILE = "Profile name   : default\nDevice config  : device_config_rdma_1x400G\nPort profile : \n"
DCQCN = "NIC : x (0000:06:00.0)\nROCE device : rdma0\n  Status : Enabled\n  Rate increase in AI phase : 160\n  Rate increase in HAI phase : 300\n  Token bucket size : 800000\n  DSCP value used for CNP : 46\n"
AS_ROOT = {
    "sudo -n nicctl --version": "nicctl version: 1.117.5-a-56\n",
    "sudo -n nicctl show card --json": CARD,
    "sudo -n nicctl show version firmware --json": FIRMWARE,
    "sudo -n nicctl show version host-software --json": SOFTWARE,
    "sudo -n nicctl show card profile": PROFILE,
    "sudo -n nicctl show dcqcn --roce-device rdma0 --profile-id 1": DCQCN,
}


def nics(host, **request):
    return collect(host, "nics", **request)


def present(result):
    return [result.value[key]["present"] for key in KEYS]


def ainic(commands=None, **host):
    made = Nics().function(ONE, AINIC).net("benic1p1", ONE).rdma("rdma0", ONE, firmware="1.117.5-a-56")
    return made.host(commands, {"/sys/module/ionic/version": "25.08.4.004\n"}, **host)


def test_none_of_the_three_is_a_plain_answer():
    result = nics(Nics().function(ONE, CX6).function(TWO, TG3).host())
    assert present(result) == [False, False, False]
    assert result.reasons == ()
    assert result.value["cx7"]["rdma_devices"] is None
    assert set(result.value["ainic"]["dcqcn"].values()) == {None}


def test_a_card_without_rdma():
    host = (
        Nics()
        .function(ONE, CX7)
        .net("eth0", ONE)
        .host({"ethtool -i eth0": ethtool("mlx5_core", "6.9.0-0_fbk10", "28.44.2506 (FB_0000000030)")})
    )
    card = nics(host).value["cx7"]
    assert (card["present"], card["driver_version"], card["firmware"]) == (
        True,
        "6.9.0-0_fbk10",
        FB,
    )
    assert (card["rdma_devices"], card["links"], card["firmware_mixed"]) == ([], [], False)


def test_class_0207_counts():
    made = Nics().function(ONE, CX7, device_class="0x020700").net("ibs10", ONE)
    card = nics(made.rdma("mlx5_0", ONE, layer="InfiniBand", state="2: INIT").host()).value["cx7"]
    assert card["present"] is True
    assert card["links"] == [{"device": "mlx5_0", "state": "INIT", "netdev": "ibs10"}]


@pytest.mark.parametrize(
    ("ids", "device_class"),
    [
        (("0x1dd8", "0x1001", None), "0x060400"),
        (("0x1dd8", "0x1003", "ionic"), "0x020000"),
        (("0x1dd8", "0x100c", None), "0x120000"),
        (TG3, "0x020000"),
        (("0x14e4", "0x16d7", "bnxt_en"), "0x020000"),
        (CX6, "0x020000"),
        (("0x15b3", "0x101e", "mlx5_core"), "0x020000"),
        (("0x15b3", "0xa2dc", "mlx5_core"), "0x020000"),
    ],
)
def test_bridges_functions_and_other_cards_of_the_vendors_are_not_these(ids, device_class):
    host = Nics().function(ONE, ids, device_class=device_class).net("n0", ONE).rdma("r0", ONE).host()
    assert present(nics(host)) == [False, False, False]


def test_w18_the_onboard_port_is_never_the_fabric_card():
    """W18: the first interface of the vendor was asked, so tg3's firmware stood for the 400G card's."""
    made = Nics().function("0000:06:00.0", TG3).net("eno1", "0000:06:00.0").function(ONE, THOR2)
    made.net("ens9", ONE).rdma("bnxt_re0", ONE, firmware="232.0.213.0", board=None)
    commands = {
        "ethtool -i eno1": ethtool("tg3", "5.15.0", "FFV22.71.3 bc 5720-v1.39"),
        "ethtool -i ens9": ethtool("bnxt_en", "6.9.0", "232.0.213.0/pkg 232.1.190.0"),
    }
    card = nics(made.host(commands)).value["broadcom"]
    assert (card["driver_version"], card["firmware"]) == ("6.9.0", "232.0.213.0")
    assert (card["pkg_version"], card["rdma_devices"]) == ("232.1.190.0", ["bnxt_re0"])
    without = nics(made.host({key: commands[key] for key in ["ethtool -i eno1"]}))
    assert without.value["broadcom"]["firmware"] == "232.0.213.0"
    assert (without.value["broadcom"]["driver_version"], without.value["broadcom"]["pkg_version"]) == (
        None,
        None,
    )
    assert {reason.field: reason.kind for reason in without.reasons} == {
        "broadcom.driver_version": "no_tool",
        "broadcom.pkg_version": "no_tool",
    }


def eight(odd="28.43.2566", lost=()):
    made = Nics()
    for at in range(8):
        bdf = f"0000:{at + 16:02x}:00.0"
        firmware = None if at in lost else odd if at == 6 else "28.39.3560"
        made.function(bdf, CX7).rdma(f"mlx5_{at}", bdf, firmware=firmware)
    return made.host(files={"/sys/module/mlx5_core/version": "24.10\n"})


def test_w18_all_cards_are_asked_and_mixed_firmware_is_said():
    """W18: one card of a vendor was asked."""
    result = nics(eight())
    assert (result.value["cx7"]["firmware"], result.value["cx7"]["firmware_mixed"]) == (
        "28.39.3560 (MT_0000000838)",
        True,
    )
    (reason,) = result.reasons
    assert (reason.field, reason.partial) == ("cx7.firmware", False)
    assert "7 x 28.39.3560, 1 x 28.43.2566" in reason.detail
    assert nics(eight(odd="28.39.3560")).value["cx7"]["firmware_mixed"] is False
    assert len(result.value["cx7"]["links"]) == 8


def test_whether_firmware_is_mixed_needs_every_card():
    result = nics(eight(odd="28.39.3560", lost=(0, 1)))
    assert (result.value["cx7"]["firmware"], result.value["cx7"]["firmware_mixed"]) == (
        "28.39.3560 (MT_0000000838)",
        None,
    )
    assert result.kinds("cx7.firmware_mixed") == ["unsupported"]
    nothing = nics(eight(odd=None, lost=range(8)))
    assert (nothing.value["cx7"]["firmware"], nothing.value["cx7"]["firmware_mixed"]) == (None, None)
    assert nothing.kinds("cx7.firmware") == ["unsupported"]


def test_no_driver_is_bound():
    result = nics(Nics().function(ONE, (*CX7[:2], None)).host())
    card = result.value["cx7"]
    assert (card["present"], card["driver_version"], card["rdma_devices"]) == (True, None, [])
    assert "no driver is bound" in result.reasons[0].detail


def test_a_bonded_device_stands_once():
    other = "0000:1a:00.1"
    made = Nics().function(ONE, CX7).function(other, CX7).net("a", ONE, master="bond0")
    made.net("b", other, master="bond0").rdma("mlx5_bond_0", ONE)
    card = nics(made.host()).value["cx7"]
    assert card["rdma_devices"] == ["mlx5_bond_0"]
    assert len(card["links"]) == 1


# Presence without sysfs


LSPCI = "0000:06:00.0 0200: 14e4:1760 (rev 11)\n0000:c3:00.0 0200: 14e4:165f\n"


def test_lspci_tells_presence_where_sysfs_does_not():
    result = nics(FakeHost(commands={"lspci -D -n": LSPCI}))
    assert present(result) == [False, True, False]
    assert result.value["broadcom"]["rdma_devices"] is None
    assert result.kinds("broadcom.rdma_devices") == result.kinds("broadcom.links") == ["unsupported"]
    assert present(nics(FakeHost(commands={"lspci -D -n": ""}))) == [False, False, False]


@pytest.mark.parametrize(
    ("commands", "kind"),
    [
        ({}, "no_tool"),
        ({"lspci -D -n": {"exit": 1, "stderr": "lspci: Cannot open /proc/bus/pci"}}, "failed"),
        ({"lspci -D -n": {"outcome": Outcome.TIMED_OUT}}, "timed_out"),
        ({"lspci -D -n": "pcilib: nonsense\n"}, "unparsed"),
    ],
)
def test_presence_that_could_not_be_told_is_null(commands, kind):
    result = nics(FakeHost(commands=commands))
    assert present(result) == [None, None, None]
    assert {reason.field: reason.kind for reason in result.reasons} == {
        f"{key}.present": kind for key in KEYS
    }


def test_a_refused_bus_is_denied():
    host = FakeHost({"/sys/bus/pci/devices": errno.EACCES}, dirs=["/sys/class"])
    assert {*nics(host).kinds()} == {"denied"}
    made = Nics().function(ONE, CX7).function(TWO, CX6)
    made.files[f"{made.place(TWO)}/device"] = errno.EACCES
    result = nics(made.host())
    assert present(result) == [None, None, True]
    assert {*result.kinds("ainic.present")} == {"denied"}


def test_a_class_that_cannot_be_read_hides_a_card():
    made = Nics().function(ONE, CX7)
    made.files[f"{made.place(ONE)}/class"] = errno.EACCES
    assert present(nics(made.host())) == [None, None, None]


def test_a_device_without_ids_stands_by_its_driver_only_where_that_is_sure():
    links = {
        "/sys/class/infiniband/rdma0/device/driver": "../../../../bus/pci/drivers/ionic",
        "/sys/class/infiniband/mlx5_0/device/driver": "../../../../bus/pci/drivers/mlx5_core",
    }
    result = nics(FakeHost(links=links))
    assert present(result) == [True, None, None]
    assert result.value["ainic"]["rdma_devices"] == ["rdma0"]
    assert result.value["cx7"]["rdma_devices"] == ["mlx5_0"]
    assert result.kinds("cx7.rdma_devices") == ["unsupported"]
    none = nics(FakeHost(links=links, commands={"lspci -D -n": "0000:01:00.0 0200: 15b3:1015\n"}))
    assert present(none) == [True, False, False]
    assert none.value["cx7"]["rdma_devices"] is None


# nicctl


def test_nicctl_needs_root_and_is_not_run_without_leave():
    result = nics(ainic({"nicctl --version": {"exit": 1, "stderr": "nicctl must be run as root\n"}}))
    assert [reason.kind for reason in result.reasons] == ["not_requested"] * 4
    assert {reason.field for reason in result.reasons} == {
        f"ainic.{field}" for field in ("nicctl_version", "card", "profile", "dcqcn")
    }
    assert (
        "sudo -n nicctl show card --json" in [r for r in result.reasons if r.field == "ainic.card"][0].detail
    )
    assert [record.as_root for record in result.record.commands] == [False]
    assert result.record.status == "ok"


def test_nicctl_that_tells_its_version_to_anybody():
    result = nics(ainic({"nicctl --version": "nicctl version: 1.117.5-a-56\n"}))
    assert result.value["ainic"]["nicctl_version"] == "1.117.5-a-56"


def test_without_nicctl_nothing_is_not_requested():
    result = nics(ainic())
    assert {*result.kinds()} == {"no_tool"}
    assert len(result.reasons) == 4


def test_nicctl_as_root():
    result = nics(ainic(AS_ROOT), sudo=True)
    value = result.value["ainic"]
    assert value["nicctl_version"] == "1.117.5-a-56"
    assert value["card"] == {
        "asic": "SALINA",
        "host_sw": "1.117.5-a-56",
        "firmware": "1.117.5-a-56",
        "uuid": UUID,
    }
    assert value["profile"] == {"device_config": "device_config_rdma_1x400G", "sriov": False}
    assert value["dcqcn"] == {
        "enabled": True,
        "token_bucket_size": 800000,
        "ai_rate": 160,
        "hai_rate": 300,
        "cnp_dscp": 46,
    }
    assert result.reasons == ()
    assert {record.as_root for record in result.record.commands} == {True}


def test_nicctl_as_root_where_sudo_refuses():
    refused = {"exit": 1, "stderr": "sudo: a password is required\n"}
    result = nics(ainic(dict.fromkeys(AS_ROOT, refused)), sudo=True)
    assert {*result.kinds()} == {"denied"}
    assert {*(reason.field for reason in result.reasons)} == {
        f"ainic.{field}" for field in ("nicctl_version", "card", "profile", "dcqcn")
    }
    missing = {"exit": 1, "stderr": "sudo: nicctl: command not found\n"}
    assert {*nics(ainic(dict.fromkeys(AS_ROOT, missing)), sudo=True).kinds()} == {"no_tool"}


def test_one_answer_of_nicctl_costs_only_itself():
    broken = {**AS_ROOT, "sudo -n nicctl show card --json": {"exit": 1, "stderr": "no card\n"}}
    value = nics(ainic(broken), sudo=True)
    assert value.value["ainic"]["card"]["firmware"] == "1.110.0"
    assert (value.value["ainic"]["card"]["asic"], value.kinds("ainic.card.asic")) == (None, ["failed"])
    odd = {
        **AS_ROOT,
        "sudo -n nicctl show version firmware --json": "{}",
        "sudo -n nicctl show card profile": "-",
    }
    result = nics(ainic(odd), sudo=True)
    assert result.value["ainic"]["card"]["firmware"] == "1.117.5-a-56"
    assert result.kinds("ainic.profile") == ["unparsed"]
    bare = {**AS_ROOT, "sudo -n nicctl show card --json": '{"nic": [{"asic": "?", "sku": "x"}]}'}
    assert {"ainic.card.asic", "ainic.card.uuid"} == {r.field for r in nics(ainic(bare), sudo=True).reasons}


def test_no_rdma_device_to_ask_nicctl_for():
    result = nics(Nics().function(ONE, AINIC).host(AS_ROOT), sudo=True)
    assert result.kinds("ainic.dcqcn") == ["absent"]
    assert result.value["ainic"]["profile"]["device_config"] == "device_config_rdma_1x400G"


def test_a_module_called_otherwise_than_its_driver():
    made = Nics().function(ONE, CX7).rdma("mlx5_0", ONE)
    made.links["/sys/bus/pci/drivers/mlx5_core/module"] = "../../../../module/mlx5_fork"
    host = made.host(files={"/sys/module/mlx5_fork/version": "99.1\n"})
    assert nics(host).value["cx7"]["driver_version"] == "99.1"
