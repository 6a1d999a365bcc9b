"""Listing is not usability: a device whose node may not be opened is told from one that may."""

import errno

import pytest

from aorta.testing import collect
from aorta_collectors.nic.userspace import ACCESS
from tests.parts.nic_hosts import CX7, ROOT, Nics, ibv_devices

CASE = "nic-device-present-not-openable"

LISTED = {"ibv_devices": ibv_devices("dev_0", "dev_1")}


def host(node, commands=None):
    nics = Nics()
    for at, bdf in enumerate(("0000:1a:00.0", "0000:3c:00.0")):
        nics.function(bdf, CX7).net(f"eth{at}", bdf).rdma(f"dev_{at}", bdf)
    nics.uverbs("dev_0", 0).uverbs("dev_1", 1, node=node)
    env = {"NCCL_IGNORE_NET_MISMATCH": "1"}
    return nics.host({**LISTED, **(commands or {})}, observed=ROOT, env=env)


@pytest.mark.parametrize(
    ("node", "commands"),
    [
        ("c", {ACCESS: "/dev/infiniband/uverbs0\n"}),
        (errno.EPERM, None),
        (errno.EACCES, None),
    ],
)
def test_one_of_two_may_be_opened(node, commands):
    result = collect(host(node, commands), "nic_devices")
    first, second = result.value
    assert (first["rdma_device"], first["usable"], first["problems"]) == ("dev_0", True, [])
    assert (second["rdma_device"], second["usable"]) == ("dev_1", False)
    assert second["problems"] == ["not_openable"]
    assert (second["verbs"]["listed"], second["verbs"]["openable"]) == (True, False)
    (reason,) = [reason for reason in result.reasons if reason.field == "usable"]
    assert (reason.kind, reason.partial, reason.subject) == ("denied", True, "/dev/infiniband/uverbs1")
    assert "1 of 2" in reason.detail


def test_the_variable_that_hides_it_is_captured():
    assert collect(host("c"), "env_vars").value["NCCL_IGNORE_NET_MISMATCH"] == "1"


def test_no_node_is_opened():
    done = collect(host("c", {ACCESS: "/dev/infiniband/uverbs0\n/dev/infiniband/uverbs1\n"}), "nic_devices")
    assert [each["usable"] for each in done.value] == [True, True]
