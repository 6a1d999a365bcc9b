"""Two nodes that should be the same: what differs is said, and nothing but that."""

import pytest

from tests.parts.compared import Found, document

CASE = "multinode-pair-diff-essentials"


def node(time, host, hca, links, library_path, **more):
    made = document(
        *more.pop("reasons", ()),
        host={"machine_digest": host, "boot_id": host},
        launcher={"node": host, "rank": int(host[-1])},
        rccl={"lib_hash": "sha256:" + "0" * 64},
        env_vars={"NCCL_IB_HCA": hca, "LD_LIBRARY_PATH": library_path},
        nics={"cx7": {"present": True, "links": [{"device": link} for link in links]}},
        **more,
    )
    return made | {"captured_at": time}


A = ("t1", "h1", "rdma0,rdma1", "AB", "/opt/rocm/lib")
B = ("t2", "h2", "rdma0", "BA", "/opt/rocm/lib/")


def test_what_differs_is_said_and_nothing_else():
    found = Found(node(*A), node(*B))
    assert found.differences == ["env_vars.NCCL_IB_HCA"]
    assert found.informational == ["env_vars.LD_LIBRARY_PATH"]
    assert found.unknown == []


@pytest.mark.parametrize("kind", ["denied", "timed_out", "not_requested", "no_tool"])
def test_null_against_a_value_is_unknown_on_one_side(kind):
    one = node(*A, rocm={"version": "7.2.0"})
    other = node(*A, rocm={"version": None}, reasons=[("rocm", "version", kind)])
    found = Found(one, other)
    assert found.kinds == ([], [], ["rocm.version"])
    assert (found.rows["rocm.version"].side, found.rows["rocm.version"].why_b) == ("b", f"{kind}: why")


def test_the_artifact_itself_is_in_a_stable_order(tmp_path):
    """What is left out is documented: docs/env-diff.md lists it, and a test holds the list."""
    assert list(node(*A)) == list(node(*B))
