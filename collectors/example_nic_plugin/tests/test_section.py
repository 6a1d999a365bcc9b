"""The section on made-up nodes, on a recorded one, and the contract that every collector holds."""

import errno
from pathlib import Path

import pytest
from hosts import BNXT, IONIC, MLX5, NETWORK, STANDARD, interface, node, port

from acme_link_health import section
from aorta.testing import FakeHost, assert_contract, collect, record, replay

RECORDING = Path(__file__).parent / "recordings" / "three_nics.jsonl"


def test_three_drivers_and_their_words():
    result = collect(node(), section.collect)
    bnxt, mlx5, ionic = result.value["rdma_ports"]
    assert (mlx5["name"], mlx5["state"], mlx5["physical_state"]) == ("mlx5_0/1", "ACTIVE", "LinkUp")
    assert (mlx5["rate_gbps"], bnxt["state"], bnxt["physical_state"]) == (400.0, "DOWN", "Disabled")
    for found in (mlx5, bnxt):
        assert (found["symbol_errors"], found["link_recoveries"], found["link_downs"]) == (3, 0, 2)
        assert (found["receive_errors"], found["transmit_discards"]) == (1, 40)
        assert found["transmit_waits"] == STANDARD["port_xmit_wait"]
    members = ("ecn_marked", "cnp_sent", "cnp_received", "out_of_sequence", "ack_timeouts")
    for found, words in ((mlx5, MLX5), (bnxt, BNXT), (ionic, IONIC)):
        assert [found[name] for name in members] == list(words.values())


def test_what_a_driver_does_not_offer_is_null_and_leaves_the_snapshot_complete():
    result = collect(node(), section.collect)
    assert result.value["rdma_ports"][2]["symbol_errors"] is None
    assert result.kinds("rdma_ports.symbol_errors") == ["unsupported"]
    assert set(result.kinds()) == {"unsupported"}
    (reason,) = [one for one in result.reasons if one.field == "rdma_ports.symbol_errors"]
    assert reason.detail.endswith("(1 of 3)")


def test_interfaces_with_a_device_alone_and_no_hardware_address():
    result = collect(node(), section.collect)
    assert [one["name"] for one in result.value["interfaces"]] == ["enx<redacted>", "eth0"]
    assert list(result.value["interfaces"][1].values())[1:] == list(NETWORK.values())
    assert result.value["rdma_ports"][2]["name"] == "rocex<redacted>/1"
    told = " ".join(f"{one.subject} {one.detail}" for one in result.reasons)
    assert "rocex<redacted>" in told
    assert "00005e005301" not in told


def test_a_node_without_rdma_and_one_without_sysfs():
    result = collect(FakeHost(files=interface("eth0")), section.collect)
    assert result.value["rdma_ports"] == []
    assert result.reasons == ()
    result = collect(FakeHost(), section.collect)
    assert result.value == {"rdma_ports": None, "interfaces": None}
    assert result.kinds() == ["unsupported", "unsupported"]
    result = collect(FakeHost(files={"/sys/class": errno.EACCES}), section.collect)
    assert result.kinds() == ["denied", "denied"]


@pytest.mark.parametrize("name", ["infiniband", "net"])
def test_a_directory_that_may_not_be_listed_is_no_empty_one(name):
    host = FakeHost(files={f"/sys/class/{name}": errno.EACCES})
    field = {"infiniband": "rdma_ports", "net": "interfaces"}[name]
    result = collect(host, section.collect)
    assert result.value[field] is None
    assert result.kinds(field) == ["denied"]


def test_an_interface_of_which_it_is_not_known_whether_it_has_a_device():
    files = {"/sys/class/net/eth1": errno.EACCES, **interface("eth0")}
    result = collect(FakeHost(files=files), section.collect)
    assert [one["name"] for one in result.value["interfaces"]] == ["eth0"]
    assert result.kinds("interfaces") == ["denied"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [("N/A (no PMA)\n", "unsupported"), ("many\n", "unparsed"), ("", "unparsed"), (errno.EINVAL, "failed")],
)
def test_a_counter_that_is_none(content, kind):
    place = "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error"
    files = {**port("mlx5_0", counters=STANDARD, hw_counters=MLX5), place: content}
    result = collect(FakeHost(files=files), section.collect)
    (found,) = result.value["rdma_ports"]
    assert (found["symbol_errors"], found["link_downs"]) == (None, 2)
    assert result.kinds() == [kind]


def test_the_variables_of_our_launcher():
    assert section.variables() == ["ACME_RAIL_MAP", "ACME_LINK_*"]


def test_the_recorded_node():
    assert collect(replay(str(RECORDING)), section.collect).value == collect(node(), section.collect).value


def test_a_recording_gives_what_was_recorded(tmp_path):
    path = str(tmp_path / "node.jsonl")
    host = record(node(), path)
    recorded = collect(host, section.collect)
    host.close()
    replayed = collect(replay(path), section.collect)
    assert (replayed.value, replayed.reasons) == (recorded.value, recorded.reasons)


def test_the_contract():
    assert_contract(section.collect)
