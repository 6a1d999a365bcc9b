"""The nic_devices section: what is listed, what belongs together, what keeps a device from being used."""

import errno

import pytest

from aorta.testing import FakeHost, Outcome, collect
from aorta_collectors.nic.userspace import ACCESS
from tests.parts.nic_hosts import (
    AINIC,
    CX6,
    CX7,
    NO_DEVICES,
    ROOT,
    TG3,
    THOR2,
    USER,
    Nics,
    ethtool,
    ibv_devices,
)

ONE = "0000:1a:00.0"


def devices(host, **request):
    return collect(host, "nic_devices", **request)


def one(host, **request):
    (device,) = devices(host, **request).value
    return device


def full():
    """A ConnectX-7 with all that a healthy one has."""
    nics = Nics().function(ONE, CX7, sriov_totalvfs="8", sriov_numvfs="0").net("ens20np0", ONE)
    return nics.rdma("mlx5_0", ONE).uverbs("mlx5_0", 0).provider("mlx5")


def healthy(nics, names=("mlx5_0",), **host):
    commands = {"ibv_devices": ibv_devices(*names), **host.pop("commands", {})}
    return nics.host(commands, {"/sys/module/mlx5_core/version": "24.10-2.1.8\n"}, observed=ROOT, **host)


def test_a_healthy_card():
    result = devices(healthy(full()))
    (device,) = result.value
    assert device["source"] == "sysfs"
    assert (device["rdma_device"], device["netdev"], device["bdf"]) == ("mlx5_0", "ens20np0", ONE)
    assert (device["vendor_id"], device["device_id"]) == ("0x15b3", "0x1021")
    assert (device["subsystem_vendor_id"], device["subsystem_device_id"]) == ("0x15b3", "0x0001")
    assert (device["model"], device["driver"], device["driver_bound"]) == ("ConnectX-7", "mlx5_core", True)
    assert (device["driver_version"], device["firmware"]) == ("24.10-2.1.8", "28.39.3560")
    assert (device["board_id"], device["hca_type"]) == ("MT_0000000838", "MT4129")
    assert (device["node_guid"], device["numa_node"]) == ("0200:00ff:fe00:0100", 0)
    assert (device["sriov"], device["sriov_vfs"], device["physical_function"]) == ("pf", 0, None)
    assert (device["state"], device["physical_state"], device["mtu"]) == ("ACTIVE", "LinkUp", 9000)
    assert (device["rate"], device["link_layer"]) == ("400 Gb/sec (4X NDR)", "Ethernet")
    assert device["interfaces"] == [{"name": "ens20np0", "mtu": 9000, "operstate": "up", "master": None}]
    assert device["ports"][0]["gid_types"] == {"IB/RoCE v1": 2, "RoCE v2": 2}
    assert device["ports"][0]["gid_index_3"] == "RoCE v2"
    assert device["verbs"] == {
        "uverbs": "uverbs0",
        "kernel_abi": 1,
        "core_abi": 6,
        "provider_abi": None,
        "provider_library": "/usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so",
        "openable": True,
        "listed": True,
    }
    assert (device["usable"], device["problems"]) == (True, [])
    assert result.reasons == ()


def test_the_guid_is_for_the_extended_snapshot():
    assert one(healthy(full()), detail="compact")["node_guid"] is None


def test_an_empty_host_and_a_denying_one():
    assert devices(FakeHost()).value is None
    assert devices(FakeHost()).kinds() == ["unsupported"] * 3
    bare = devices(FakeHost(dirs=["/sys/kernel", "/sys/class/net", "/sys/bus/pci/devices"]))
    assert (bare.value, bare.reasons) == ([], ())
    denied = {f"/sys/{place}": errno.EACCES for place in ("class/net", "class/infiniband", "bus/pci/devices")}
    refused = devices(FakeHost(denied, dirs=["/sys/kernel"]))
    assert (refused.value, refused.kinds()) == (None, ["denied"] * 3)
    assert refused.record.status == "partial"


def test_virtual_interfaces_are_counted_and_not_listed():
    nics = full().virtual("lo", "docker0", "veth1a2b", "br0", "bond0")
    result = devices(healthy(nics))
    assert [each["netdev"] for each in result.value] == ["ens20np0"]
    (reason,) = result.reasons
    assert (reason.kind, reason.partial) == ("not_requested", False)
    assert "5 interfaces without a device are not listed: bond0, br0, docker0, lo, veth1a2b" in reason.detail
    lonely = devices(healthy(full().virtual("lo")))
    assert lonely.reasons == ()


def test_the_file_of_the_bonding_driver_is_no_interface():
    nics = full()
    nics.files["/sys/class/net/bonding_masters"] = "bond0\n"
    assert len(devices(healthy(nics)).value) == 1


@pytest.mark.parametrize(
    ("ids", "model"),
    [
        (("0x15b3", "0xa2dc", "mlx5_core"), "BlueField-3"),
        (("0x14e4", "0x1750", "bnxt_en"), "BCM57508"),
        (("0x8086", "0x1592", "ice"), "E810-C"),
        (("0x1d0f", "0xefa1", "efa"), "EFA"),
        (("0x17db", "0x0501", "cxi_ss1"), "Slingshot (Cassini)"),
        (("0xabcd", "0x0001", "newnic"), None),
    ],
)
def test_other_and_unknown_vendors(ids, model):
    device = one(Nics().function(ONE, ids).rdma("r0", ONE, board=None).host())
    assert (device["vendor_id"], device["device_id"], device["driver"]) == ids
    assert (device["model"], device["rdma_device"], device["state"]) == (model, "r0", "ACTIVE")


def test_pairing_is_by_the_device_never_by_the_name():
    a, b = "0000:1a:00.0", "0000:3c:00.0"
    nics = Nics().function(a, AINIC).function(b, AINIC)
    nics.net("net1", a).rdma("rdma0", a).net("net0", b).rdma("rdma1", b)
    pairs = {each["rdma_device"]: each["netdev"] for each in devices(nics.host()).value}
    assert pairs == {"rdma0": "net1", "rdma1": "net0"}


def test_a_card_without_rdma_and_rdma_without_an_interface():
    nics = Nics().function(ONE, CX7).net("eth1", ONE).function("0000:3c:00.0", CX7)
    nics.rdma("mlx5_5", "0000:3c:00.0")
    result = devices(nics.host())
    first, second = result.value
    assert (first["netdev"], first["rdma_device"], first["ports"]) == ("eth1", None, None)
    assert (second["netdev"], second["rdma_device"], second["interfaces"]) == (None, "mlx5_5", [])
    (reason,) = [reason for reason in result.reasons if reason.field == "netdev"]
    assert (reason.kind, reason.subject) == ("absent", "0000:3c:00.0")


def test_a_bonded_card_has_two_interfaces_and_one_rdma_device():
    other = "0000:1a:00.1"
    nics = Nics().function(ONE, CX7).function(other, CX7).virtual("bond0")
    nics.net("ens1f0np0", ONE, master="bond0").net("ens1f1np1", other, master="bond0")
    nics.rdma("mlx5_bond_0", ONE, ndevs=("bond0", "bond0"))
    first, second = devices(nics.host()).value
    assert [each["name"] for each in first["interfaces"]] == ["ens1f0np0", "ens1f1np1"]
    assert {each["master"] for each in first["interfaces"]} == {"bond0"}
    assert (first["rdma_device"], second["rdma_device"]) == ("mlx5_bond_0", "mlx5_bond_0")
    assert (second["netdev"], second["bdf"], second["firmware"]) == ("ens1f1np1", other, "28.39.3560")


def test_a_bond_of_two_cards_does_not_tie_them():
    other = "0000:3c:00.0"
    nics = Nics().function(ONE, CX7).function(other, CX7)
    nics.net("a", ONE, master="bond0").net("b", other, master="bond0").rdma("mlx5_0", ONE)
    assert [each["rdma_device"] for each in devices(nics.host()).value] == ["mlx5_0", None]


def test_two_rdma_devices_of_one_function_share_out_its_interfaces():
    nics = Nics().function(ONE, CX7).net("p0", ONE).net("p1", ONE).net("rep0", ONE)
    nics.rdma("mlx5_0", ONE, ndevs=("p1",)).rdma("mlx5_1", ONE, ndevs=("p0",))
    found = devices(nics.host()).value
    assert [(each["rdma_device"], each["netdev"]) for each in found] == [
        ("mlx5_0", "p1"),
        ("mlx5_1", "p0"),
        (None, "rep0"),
    ]


def test_virtual_functions():
    vf = "0000:1a:00.2"
    nics = Nics().function(ONE, CX7, sriov_totalvfs="8", sriov_numvfs="1")
    nics.function(vf, ("0x15b3", "0x101e", "mlx5_core"))
    nics.links[f"{nics.place(vf)}/physfn"] = f"../{ONE}"
    first, second = devices(nics.host()).value
    assert (first["sriov"], first["sriov_vfs"]) == ("pf", 1)
    assert (second["sriov"], second["physical_function"], second["model"]) == ("vf", ONE, "ConnectX mlx5 VF")


def test_sriov_that_cannot_be_read():
    nics = Nics().function(ONE, CX7)
    nics.files[f"{nics.place(ONE)}/sriov_totalvfs"] = errno.EACCES
    result = devices(nics.host())
    assert (result.value[0]["sriov"], result.kinds("sriov")) == (None, ["denied"])
    nics.links[f"{nics.place(ONE)}/physfn"] = errno.EACCES
    assert devices(nics.host()).kinds("sriov") == ["denied"]


def test_virtio_has_the_ids_of_the_pci_function_above():
    bdf = "0000:00:03.0"
    nics = Nics().function(bdf, ("0x1af4", "0x1041", "virtio-pci"), numa="-1")
    place = f"{nics.place(bdf)}/virtio2"
    nics.links["/sys/class/net/eth0"] = f"../../devices/{place[len('/sys/devices/') :]}/net/eth0"
    nics.links[f"{place}/net/eth0/device"] = "../../../virtio2"
    nics.links[f"{place}/driver"] = "../../../../../bus/virtio/drivers/virtio_net"
    nics.files |= {f"{place}/vendor": "0x1af4\n", f"{place}/device": "0x0001\n"}
    device = one(nics.host())
    assert (device["bdf"], device["device_id"], device["driver"]) == (bdf, "0x1041", "virtio_net")
    assert (device["netdev"], device["numa_node"]) == ("eth0", None)
    del nics.links[f"/sys/bus/pci/devices/{bdf}"]
    nics.dirs.append("/sys/bus/pci/devices")
    assert one(nics.host())["device_id"] == "0x1041"


def test_a_usb_card_does_not_take_its_controller_s_ids():
    place = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1:1.0"
    host = FakeHost(
        files={
            f"{place}/net/enx020000000001/operstate": "up\n",
            "/sys/devices/pci0000:00/0000:00:14.0/vendor": "0x8086\n",
        },
        links={
            "/sys/class/net/enx020000000001": f"../../{place[5:]}/net/enx020000000001",
            f"{place}/net/enx020000000001/device": "../../../1-1:1.0",
            f"{place}/driver": "../../../../../../bus/usb/drivers/cdc_ether",
        },
        dirs=["/sys/kernel", "/sys/bus/pci/devices"],
        commands={"ethtool -i enx<redacted>": ethtool("cdc_ether", "22-Aug-2005", "CDC")},
    )
    device = one(host)
    assert (device["bdf"], device["vendor_id"], device["driver"]) == (None, None, "cdc_ether")
    assert device["netdev"] == "enx<redacted>"


def test_soft_rdma_has_no_device_behind_it():
    nics = Nics().virtual("lo", "eth0")
    nics.links["/sys/class/infiniband/siw0"] = "../../devices/virtual/infiniband/siw0"
    place = "/sys/devices/virtual/infiniband/siw0/ports/1"
    nics.files |= {f"{place}/state": "4: ACTIVE\n", f"{place}/gid_attrs/ndevs/0": "eth0\n"}
    device = one(nics.host({"ibv_devices": ibv_devices("siw0")}))
    assert (device["rdma_device"], device["bdf"], device["driver_bound"]) == ("siw0", None, None)
    assert (device["state"], device["netdev"]) == ("ACTIVE", "eth0")


def test_an_infiniband_port_has_no_gid_types():
    nics = Nics().function(ONE, CX7, device_class="0x020700").net("ibs10", ONE)
    device = one(nics.rdma("mlx5_0", ONE, layer="InfiniBand").host())
    assert (device["link_layer"], device["ports"][0]["gid_types"]) == ("InfiniBand", None)


def test_gid_slots_that_are_empty_or_refused():
    gids = ["RoCE v2", errno.EINVAL, "RoCE v2"]
    nics = Nics().function(ONE, CX7).rdma("mlx5_0", ONE, gids=gids)
    port = one(nics.host())["ports"][0]
    assert (port["gid_types"], port["gid_index_3"]) == ({"RoCE v2": 2}, None)
    refused = Nics().function(ONE, CX7).rdma("mlx5_0", ONE, gids=[errno.EACCES])
    result = devices(refused.host())
    assert (result.value[0]["ports"][0]["gid_types"], result.kinds("ports.gid_types")) == (None, ["denied"])


@pytest.mark.parametrize(
    ("ports", "usable", "problems"),
    [
        ({1: {"state": "1: DOWN", "phys": "3: Disabled"}}, False, ["port_down"]),
        ({1: {"state": "2: INIT"}}, False, ["port_down"]),
        ({1: {"state": "1: DOWN"}, 2: {"state": "4: ACTIVE"}}, True, []),
        ({1: {"state": None}}, None, []),
        ({1: {"state": "what?"}}, False, ["port_down"]),
    ],
)
def test_ports(ports, usable, problems):
    nics = Nics().function(ONE, CX7).rdma("mlx5_0", ONE, ports=ports).uverbs("mlx5_0", 0)
    device = one(healthy(nics))
    assert (device["usable"], device["problems"]) == (usable, problems)


def test_no_driver_is_bound():
    device = one(Nics().function(ONE, (*CX7[:2], None)).host())
    assert (device["driver"], device["driver_bound"]) == (None, False)
    assert (device["usable"], device["problems"]) == (False, ["no_driver"])


@pytest.mark.parametrize(
    ("operstate", "usable"), [("up", True), ("down", False), ("lowerlayerdown", False), ("unknown", None)]
)
def test_a_plain_card_is_used_by_its_link(operstate, usable):
    nics = Nics().function(ONE, TG3).net("eno1", ONE, operstate=operstate)
    assert one(nics.host())["usable"] is usable


# User space


def test_no_device_node_and_no_uverbs():
    nics = Nics().function(ONE, CX7).rdma("mlx5_0", ONE).uverbs("mlx5_0", 0, node=None)
    result = devices(healthy(nics))
    assert (result.value[0]["usable"], result.value[0]["problems"]) == (False, ["no_device_node"])
    assert result.kinds("usable") == ["absent"]
    bare = Nics().function(ONE, CX7).rdma("mlx5_0", ONE)
    result = devices(bare.host({"ibv_devices": NO_DEVICES}, {"/sys/kernel/x": ""}))
    assert result.value[0]["problems"] == ["no_uverbs", "not_listed"]
    assert result.kinds("verbs.uverbs") == ["absent"]


def test_uverbs_that_only_libibverbs_sees_leaves_it_open():
    device = one(healthy(Nics().function(ONE, CX7).rdma("mlx5_0", ONE)))
    assert (device["usable"], device["problems"], device["verbs"]["listed"]) == (None, [], True)


@pytest.mark.parametrize(
    ("printed", "openable"),
    [("/dev/infiniband/uverbs0\n", True), ("", False), ("/dev/infiniband/uverbs1\n", False)],
)
def test_access_decides(printed, openable):
    host = healthy(full(), commands={ACCESS: printed})
    result = devices(host)
    assert result.value[0]["verbs"]["openable"] is openable
    if not openable:
        (reason,) = result.reasons
        assert (reason.kind, reason.field, reason.partial) == ("denied", "usable", True)
        assert "device cgroup" in reason.detail
        assert result.value[0]["problems"] == ["not_openable"]


@pytest.mark.parametrize(
    ("mode", "gid", "observed", "openable"),
    [
        (0o666, 0, {}, True),
        (0o660, 44, {"user": {"uid": 1, "root": False, "groups": [44]}}, True),
        (0o660, 45, {"user": {"uid": 1, "root": False, "groups": [44]}}, False),
        (0o600, 0, USER, False),
        (0o600, 0, ROOT, True),
        (0o600, 0, {"user": {"uid": 0, "root": False, "groups": []}}, True),
        (0o600, 0, {}, None),
    ],
)
def test_mode_and_owner_where_find_is_missing(mode, gid, observed, openable):
    from aorta.model.frozen import evolve

    host = full().host({"ibv_devices": ibv_devices("mlx5_0")}, observed=observed)
    path = "/dev/infiniband/uverbs0"
    host.tree.nodes[path] = evolve(host.tree.nodes[path], mode=mode, gid=gid)
    device = one(host)
    assert device["verbs"]["openable"] is openable
    assert device["usable"] is openable


def test_a_node_that_cannot_even_be_looked_at():
    nics = Nics().function(ONE, CX7).rdma("mlx5_0", ONE).uverbs("mlx5_0", 0, node=None)
    nics.files["/dev/infiniband"] = errno.EACCES
    device = one(healthy(nics))
    assert (device["verbs"]["openable"], device["usable"], device["problems"]) == (None, None, [])


@pytest.mark.parametrize(
    ("stderr", "problem"),
    [
        ("", "not_listed"),
        (
            "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0\n",
            "no_provider",
        ),
    ],
)
def test_a_device_that_libibverbs_does_not_list(stderr, problem):
    host = full().host({"ibv_devices": {"stdout": NO_DEVICES, "stderr": stderr}}, observed=ROOT)
    result = devices(host)
    assert (result.value[0]["problems"], result.value[0]["usable"]) == ([problem], False)
    (reason,) = [reason for reason in result.reasons if reason.field == "usable"]
    assert (reason.kind, reason.partial) == ("unsupported", False)


def test_without_ibv_devices_the_provider_library_decides():
    result = devices(full().host(observed=ROOT))
    assert (result.value[0]["usable"], result.kinds("verbs.listed")) == (True, ["no_tool"])
    bare = Nics().function(ONE, CX7).rdma("mlx5_0", ONE).uverbs("mlx5_0", 0)
    assert one(bare.host(observed=ROOT))["usable"] is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"outcome": Outcome.TIMED_OUT}, "timed_out"),
        ({"exit": 1, "stderr": "Failed to get IB devices list: Function not implemented"}, "failed"),
        ("nothing of the kind\n", "unparsed"),
    ],
)
def test_ibv_devices_that_fails(answer, kind):
    result = devices(full().host({"ibv_devices": answer}, observed=ROOT))
    assert (result.value[0]["verbs"]["listed"], result.kinds("verbs.listed")) == (None, [kind])


def test_a_refused_library_directory_is_no_missing_provider():
    nics = Nics().function(ONE, CX7).rdma("mlx5_0", ONE).uverbs("mlx5_0", 0)
    nics.files["/usr/lib64/libibverbs"] = errno.EACCES
    result = devices(nics.host(observed=ROOT))
    assert result.value[0]["usable"] is None
    assert result.kinds("verbs.provider_library") == ["denied"]


# ethtool


def test_ethtool_is_asked_only_for_what_sysfs_does_not_tell():
    nics = full().function("0000:c3:00.0", TG3).net("eno1", "0000:c3:00.0")
    host = healthy(nics, commands={"ethtool -i eno1": ethtool("tg3", "5.15.0", "FFV22.71.3 bc 5720-v1.39")})
    result = devices(host)
    assert [record.argv for record in result.record.commands if record.argv[0] == "ethtool"] == [
        ("ethtool", "-i", "eno1")
    ]
    tg3 = result.value[1]
    assert (tg3["firmware"], tg3["driver_version"]) == ("FFV22.71.3 bc 5720-v1.39", "5.15.0")
    assert result.value[0]["firmware"] == "28.39.3560"


def many(count):
    nics, commands = Nics(), {}
    for at in range(count):
        bdf = f"0000:{at + 16:02x}:00.0"
        nics.function(bdf, AINIC).net(f"eth{at}", bdf)
        commands[f"ethtool -i eth{at}"] = ethtool("ionic", "25.08", f"1.117.{at}")
    return nics.host(commands)


def test_few_interfaces_are_asked_all_with_extended():
    result = devices(many(9), detail="compact")
    assert [each["firmware"] for each in result.value] == [f"1.117.{at}" for at in range(3)] + [None] * 6
    (reason,) = [reason for reason in result.reasons if reason.field == "firmware"]
    assert (reason.kind, "6 of 9" in reason.detail) == ("not_requested", True)
    assert {each["driver_version"] for each in result.value} == {"25.08"}
    assert [each["firmware"] for each in devices(many(9)).value] == [f"1.117.{at}" for at in range(9)]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, "no_tool"),
        ({"exit": 71, "stderr": "Cannot get driver information: Operation not supported"}, "unsupported"),
        ({"exit": 71, "stderr": "Cannot get driver information: No such device"}, "unsupported"),
        ({"exit": 1, "stderr": "Segmentation fault"}, "failed"),
        ("noise\n", "unparsed"),
    ],
)
def test_ethtool_that_does_not_answer(answer, kind):
    nics = Nics().function(ONE, TG3).net("eno1", ONE)
    result = devices(nics.host({} if answer is None else {"ethtool -i eno1": answer}))
    assert result.value[0]["firmware"] is None
    assert (result.kinds("firmware"), result.kinds("driver_version")) == ([kind], [kind])


def test_an_interface_whose_driver_sysfs_does_not_show():
    host = FakeHost(
        files={"/sys/devices/LNXSYSTM:00/net/eth0/address": "02:00:00:00:00:01\n"},
        links={"/sys/class/net/eth0": "../../devices/LNXSYSTM:00/net/eth0"},
        dirs=["/sys/kernel", "/sys/bus/pci/devices"],
        commands={"ethtool -i eth0": ethtool("hv_netvsc", "5.15.167.4-microsoft-standard-W", "N/A")},
    )
    result = devices(host)
    (device,) = result.value
    assert (device["driver"], device["driver_bound"], device["firmware"]) == ("hv_netvsc", True, None)
    assert result.kinds("firmware") == ["unsupported"]


def test_w18_every_card_is_asked_and_the_odd_one_is_seen():
    """W18: only one card of a vendor was asked, so mixed firmware among eight was invisible."""
    nics = Nics()
    for at in range(8):
        bdf = f"0000:{at + 16:02x}:00.0"
        nics.function(bdf, CX7).net(f"ens{at}", bdf)
        nics.rdma(f"mlx5_{at}", bdf, firmware="28.43.2566" if at == 5 else "28.39.3560")
    found = devices(nics.host(), detail="compact").value
    assert [each["firmware"] for each in found].count("28.39.3560") == 7
    assert found[5]["firmware"] == "28.43.2566"


def test_w18_cards_of_no_vendor_key_are_listed():
    """W18: other ConnectX, BlueField, BCM575xx, EFA and Intel cards read as absent."""
    nics = Nics()
    cards = [CX6, ("0x15b3", "0xa2dc", "mlx5_core"), ("0x14e4", "0x1750", "bnxt_en")]
    cards += [("0x1d0f", "0xefa2", "efa"), ("0x8086", "0x1592", "ice"), THOR2]
    for at, ids in enumerate(cards):
        nics.function(f"0000:{at + 16:02x}:00.0", ids)
    models = [each["model"] for each in devices(nics.host()).value]
    assert models == ["ConnectX-6", "BlueField-3", "BCM57508", "EFA", "E810-C", "BCM57608"]


# What cannot be read


def test_a_class_that_is_refused_costs_only_itself():
    nics = full()
    nics.files["/sys/class/net"] = errno.EACCES
    for name in [name for name in nics.links if name.startswith("/sys/class/net/")]:
        del nics.links[name]
    result = devices(healthy(nics))
    assert (result.value[0]["rdma_device"], result.kinds("")) == ("mlx5_0", ["denied"])
    assert (result.value[0]["interfaces"], result.kinds("netdev")) == (None, [])


def test_files_that_are_refused_or_rubbish():
    nics = full()
    place = nics.place(ONE)
    nics.files |= {f"{place}/numa_node": "many\n", f"{place}/infiniband/mlx5_0/board_id": errno.EACCES}
    nics.files[f"{place}/net/ens20np0/mtu"] = b"\xff\xfe"
    result = devices(healthy(nics))
    kinds = {reason.field: reason.kind for reason in result.reasons}
    assert kinds == {"numa_node": "unparsed", "board_id": "denied", "mtu": "unparsed"}


def test_a_device_link_that_is_refused():
    nics = Nics().function(ONE, CX7).net("ens20np0", ONE)
    nics.links[f"{nics.place(ONE)}/net/ens20np0/device"] = errno.EACCES
    result = devices(nics.host())
    assert [each["netdev"] for each in result.value] == ["ens20np0"]


def test_a_driver_link_that_is_refused():
    nics = Nics().function(ONE, CX7)
    nics.links[f"{nics.place(ONE)}/driver"] = errno.EACCES
    result = devices(nics.host())
    assert (result.value[0]["driver_bound"], result.value[0]["usable"]) == (None, None)
    assert result.kinds("driver") == ["denied"]


# Without sysfs


LSPCI = "0000:1a:00.0 0200: 15b3:1021\n0000:1b:00.0 1200: 1002:74a1\n"
LINKS = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens20np0 \nlink siw0/1 state DOWN physical_state DISABLED \n"


def test_without_sysfs_the_tools_are_asked():
    result = devices(FakeHost(commands={"lspci -D -n": LSPCI, "rdma link": LINKS}))
    assert [(each["source"], each["bdf"], each["rdma_device"], each["netdev"]) for each in result.value] == [
        ("lspci", ONE, None, None),
        ("rdma", None, "mlx5_0", "ens20np0"),
        ("rdma", None, "siw0", None),
    ]
    assert result.value[0]["model"] == "ConnectX-7"
    assert [each["state"] for each in result.value] == [None, "ACTIVE", "DOWN"]
    assert result.value[2]["problems"] == ["port_down"]


def test_rdma_link_fills_in_what_sysfs_lacks():
    nics = Nics().function(ONE, CX7).net("ens20np0", ONE)
    nics.links["/sys/class/infiniband/mlx5_0/device/driver"] = "../../../../bus/pci/drivers/mlx5_core"
    device = one(nics.host({"rdma link": LINKS.splitlines()[0]}))
    assert (device["rdma_device"], device["netdev"], device["bdf"]) == ("mlx5_0", "ens20np0", ONE)
    assert (device["state"], device["physical_state"], device["source"]) == ("ACTIVE", "LINK_UP", "sysfs")
    foreign = devices(nics.host({"rdma link": LINKS.replace("ens20np0", "else0")})).value
    assert {each["netdev"] for each in foreign} == {"ens20np0", "else0", None}


def test_rdma_link_that_fails_is_told():
    nics = Nics().function(ONE, CX7).rdma("mlx5_0", ONE, state=None)
    result = devices(nics.host({"rdma link": {"exit": 1, "stderr": "Failed to open NETLINK_RDMA socket"}}))
    assert "failed" in result.kinds("state")
