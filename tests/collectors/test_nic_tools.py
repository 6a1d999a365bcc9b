"""What the network tools print, read: single outputs as machines gave them, and noise."""

import pytest

from aorta_collectors.nic import nicctl
from aorta_collectors.nic.names import natural, pci_address, public
from aorta_collectors.nic.sysfs import after_number, function_of, hexadecimal, number, word, word_or_unknown
from aorta_collectors.nic.tools import (
    parse_ethtool,
    parse_links,
    parse_lspci,
    parse_verbs,
    printable,
    split_board,
    split_package,
)
from tests.parts.nic_hosts import ethtool, ibv_devices


@pytest.mark.parametrize(
    ("driver", "version", "line", "firmware", "board", "package"),
    [
        ("mlx5_core", "23.10-3.2.2", "28.39.3560 (MT_0000000838)", "28.39.3560", "MT_0000000838", None),
        (
            "mlx5_core",
            "6.9.0-0_fbk10_brcmrdma13_141_g9",
            "28.44.2506 (FB_0000000030)",
            "28.44.2506",
            "FB_0000000030",
            None,
        ),
        (
            "mlx5_core",
            "3.0-1 (January 2015)",
            "12.12.1220 (MT_2180110032)",
            "12.12.1220",
            "MT_2180110032",
            None,
        ),
        (
            "mlx5_core[ib_ipoib]",
            "24.10-1.1.4",
            "28.43.2566 (HPE0000000049)",
            "28.43.2566",
            "HPE0000000049",
            None,
        ),
        ("bnxt_en", "6.9.0", "232.0.213.0/pkg 232.1.190.0", "232.0.213.0", None, "232.1.190.0"),
        ("ionic", "25.08.4.004", "1.117.5-a-56", "1.117.5-a-56", None, None),
        ("ionic", "5.14.0", "1.8.0-E-24", "1.8.0-E-24", None, None),
        ("hv_netvsc", "5.15.167.4-microsoft-standard-W", "N/A", None, None, None),
        ("veth", "1.0", "", None, None, None),
        ("tg3", "5.15.0-117-generic", "FFV22.71.3 bc 5720-v1.39", "FFV22.71.3 bc 5720-v1.39", None, None),
        ("igb", None, "1.63, 0x800009fb", "1.63, 0x800009fb", None, None),
    ],
)
def test_ethtool(driver, version, line, firmware, board, package):
    text = ethtool(driver, version, line, "0000:1a:00.0")
    text = text if version else text.replace("version: None\n", "", 1)
    for form in (text, text.replace("\n", "\r\n"), "\x1b[1m" + text, text.rstrip(), "warning!\n" + text):
        told = parse_ethtool(form)
        assert (told.driver, told.version) == (driver, version)
        assert (told.firmware, told.board_id, told.package) == (firmware, board, package)
        assert told.bus_info == "0000:1a:00.0"


@pytest.mark.parametrize(
    "text", ["", "Cannot get driver information: Operation not supported\n", "driver: \n"]
)
def test_ethtool_without_a_driver(text):
    with pytest.raises(ValueError, match="no driver line"):
        parse_ethtool(text)


def test_firmware_texts():
    assert split_package("1/pkg") == ("1", None)
    assert split_package("") == (None, None)
    assert split_board("1.2 (not a board)") == ("1.2 (not a board)", None)
    assert printable("a\x00b") is None
    assert len(printable("x" * 999)) == 200


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (
            "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens20np0 ",
            ("mlx5_0", 1, "ACTIVE", "LINK_UP", "ens20np0"),
        ),
        (
            "link mlx5_2/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state INIT physical_state LINK_UP ",
            ("mlx5_2", 1, "INIT", "LINK_UP", None),
        ),
        (
            "link rdma5/1 state ACTIVE physical_state LINK_UP netdev tw-eth5 ",
            ("rdma5", 1, "ACTIVE", "LINK_UP", "tw-eth5"),
        ),
        (
            "link rocep68s0/2 state DOWN physical_state POLLING netdev enp68s0np0",
            ("rocep68s0", 2, "DOWN", "POLLING", "enp68s0np0"),
        ),
        ("link x/1 state ", ("x", 1, None, None, None)),
    ],
)
def test_rdma_link(line, row):
    for text in (line, f"{line}\n", f"    caps: <CM>\n{line}\r\n"):
        assert [tuple(each) for each in parse_links(text)] == [row]


def test_rdma_link_of_nothing_and_of_noise():
    assert parse_links("") == parse_links("\n \n") == ()
    with pytest.raises(ValueError, match="no link line"):
        parse_links("Failed to open NETLINK_RDMA socket\n")
    with pytest.raises(ValueError, match="no link line"):
        parse_links("link\n")


def test_lspci():
    text = "1a5c:00:00.0 0302: 1414:008e\n06:00.0 0200: 14E4:1760 (rev 11)\npcilib: warning\n10001:80:05.0 Class 0207: 15b3:1021\n"
    assert parse_lspci(text) == {
        "1a5c:00:00.0": ("0x0302", "0x1414", "0x008e"),
        "0000:06:00.0": ("0x0200", "0x14e4", "0x1760"),
        "10001:80:05.0": ("0x0207", "0x15b3", "0x1021"),
    }
    assert parse_lspci("") == {}
    with pytest.raises(ValueError, match="no device line"):
        parse_lspci("06:00.0 Ethernet controller: Broadcom\n")


def test_ibv_devices():
    verbs = parse_verbs(ibv_devices("mlx5_0", "rdma1"), "")
    assert (verbs.names, verbs.mismatches, verbs.unserved, verbs.unloaded) == (
        ("mlx5_0", "rdma1"),
        {},
        frozenset(),
        (),
    )
    assert parse_verbs(ibv_devices(), "").names == ()
    assert parse_verbs(ibv_devices("a") + "noise\n", "").names == ("a",)
    with pytest.raises(ValueError, match="no header"):
        parse_verbs("", "libibverbs: Warning: x")


def test_libibverbs_complaints():
    stderr = (
        "libibverbs: Warning: couldn't load driver 'libionic-rdmav34.so': cannot open shared object file\n"
        * 2
        + "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs3\n"
        + "libibverbs: Warning: Driver ionic does not support the kernel ABI of 4 (supports 1 to 1) for device /sys/class/infiniband/ionic_0\n"
    )
    verbs = parse_verbs(ibv_devices(), stderr)
    assert verbs.unloaded == ("libionic-rdmav34.so",)
    assert verbs.unserved == {"uverbs3"}
    assert verbs.mismatches == {"ionic_0": ("ionic", "4", "1 to 1")}


# nicctl


@pytest.mark.parametrize(
    "version",
    "1.117.5-a-56 1.117.1-a-63 1.110.1-a-1 1.130.0-pi-10 1.130.0-a-51-dirty 1.8.0-E-24 25.05.4.001".split(),
)
def test_nicctl_versions(version):
    assert nicctl.parse_version(f"nicctl version: {version}\n") == version
    assert nicctl.parse_version(f"nicctl version {version}") == version


def test_nicctl_without_a_version():
    with pytest.raises(ValueError, match="no version"):
        nicctl.parse_version("nicctl\n")


@pytest.mark.parametrize(
    ("config", "sriov"),
    [("rdma_1x400G", False), ("pf1_vf1_llc", True), ("pf1_vf8_hnic", True), ("rdma_1x400G_basic", False)],
)
def test_profiles(config, sriov):
    text = f"Profile name   : default\nDevice config   : device_config_{config}\nPort profile : \n"
    found = nicctl.parse_profile(text)
    assert found == f"device_config_{config}"
    assert nicctl.has_virtual_functions(found) is sriov
    with pytest.raises(ValueError, match="no device_config"):
        nicctl.parse_profile("Profile name : default\n")


LABELS = """NIC  : 42424650-5032-3530-3130-303042000000 (0000:05:00.0)
  Product name   : POLLARA-1Q400P
  ASIC           : SALINA
  Firmware       : 1.117.5-a-56
NIC  : 52424650-5032-3530-3130-303042000000 (0000:15:00.0)
  ASIC           : OTHER
  Sku            : last
"""


def test_labels_of_the_first_card():
    card = nicctl.parse_card(LABELS)
    assert card == {
        "asic": "SALINA",
        "uuid": "42424650-5032-3530-3130-303042000000",
        "firmware": "1.117.5-a-56",
        "partition": None,
    }
    assert "sku" not in nicctl.rows(LABELS)


def test_json_with_an_empty_line_and_repeated_keys():
    text = '\n{"nic": [{"id": "a", "id": "b", "queue_pair": "", "n": null, "list": [], "deep": [{"asic": "salina"}]}]}'
    assert nicctl.rows(text) == {"id": "b", "asic": "salina"}
    with pytest.raises(ValueError, match="neither JSON"):
        nicctl.rows("\nnicctl must be run as root\n")
    with pytest.raises(ValueError, match="neither JSON"):
        nicctl.rows("[" * 3000)


def test_the_cpld_s_version_is_never_the_firmware_s():
    text = "NIC : x\n  CPLD   : 3.8 (primary)\n  Boot0  : 21\n  Firmware-A  : 1.117.5-a-56\n"
    assert nicctl.parse_firmware(text, None) == "1.117.5-a-56"
    with pytest.raises(ValueError, match="no firmware"):
        nicctl.parse_firmware("NIC : x\n  CPLD   : 3.8 (primary)\n", None)
    with pytest.raises(ValueError, match="no nicctl"):
        nicctl.parse_software("IPC driver : 1.117.5\n")


@pytest.mark.parametrize("labels", [("Rate increase in AI phase", "Status"), ("ai-rate", "Enabled")])
def test_dcqcn_labels_of_two_releases(labels):
    word = "Enabled" if labels[1] == "Status" else "true"
    found = nicctl.parse_dcqcn(f"  {labels[1]} : {word}\n  {labels[0]} : 160\n  Alpha update G value : 512\n")
    assert (found["ai_rate"], found["enabled"], found["hai_rate"]) == (160, True, None)
    with pytest.raises(ValueError, match="no congestion"):
        nicctl.parse_dcqcn("  Alpha update G value : 512\n")


# Names and numbers of sysfs


def test_names():
    assert (
        public("/sys/class/infiniband/rocex020000fffe000001/fw_ver")
        == "/sys/class/infiniband/rocex<redacted>/fw_ver"
    )
    assert public("enx020000000001 ibx020000fffe000001") == "enx<redacted> ibx<redacted>"
    assert (
        public("enp1s0 ens20np0 rocep229s0 ibp0s12f4 fenx020000000001")
        == "enp1s0 ens20np0 rocep229s0 ibp0s12f4 fenx020000000001"
    )
    assert sorted(["mlx5_10", "mlx5_9", "a", "7"], key=natural) == ["7", "a", "mlx5_9", "mlx5_10"]
    assert pci_address("1A:00.0") == "0000:1a:00.0"
    assert pci_address("1a:00.8") is None


def test_functions():
    assert function_of("/sys/devices/pci0000:00/0000:00:03.0/virtio2") == "0000:00:03.0"
    assert function_of("/sys/devices/pci0000:1a/0000:1a:00.0/mlx5_core.sf.4") == "0000:1a:00.0"
    assert function_of("/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1:1.0") is None
    assert function_of("/sys/devices/platform/virtio0") is None


@pytest.mark.parametrize("read", [hexadecimal, number, word, after_number, word_or_unknown])
@pytest.mark.parametrize("text", ["", " \n", "\x00", "9" * 5000])
def test_rubbish_is_no_value(read, text):
    if read in (word, after_number) and text.startswith("9"):
        assert len(read(text)) <= 200
        return
    with pytest.raises(ValueError, match="is no|says nothing"):
        read(text)


def test_good_values():
    assert hexadecimal("0x15B3\n") == "0x15b3"
    assert number("-1\n") == -1
    assert after_number(" 4: ACTIVE\n") == "ACTIVE"
    assert word_or_unknown("unknown\n") == "unknown"
