"""``ranks``: real ranks exchange values over a real store, without torch."""

import sys

import pytest

from aorta.workloads.tcp_store import Client, Server, StoreError
from tests.workloads.launching import free_port, launch


@pytest.mark.parametrize("isolation", ["process", "in_process"])
def test_three_ranks(tmp_path, isolation):
    told = launch(tmp_path, "ranks", {"payload_bytes": 100_000}, ranks=3, isolation=isolation)
    assert [one["verdict"] for one in told] == ["pass"] * 3, told
    assert [one["metrics"] for one in told] == [{"rank": rank, "world_size": 3} for rank in range(3)]
    assert all(len(one["step_times_ms"]) == 3 for one in told)


def test_a_wrong_value_is_found_by_all(tmp_path):
    told = launch(tmp_path, "ranks", {"inject": {"rank": 1, "iteration": 2}})
    assert [one["verdict"] for one in told] == ["fail", "fail"]
    assert (
        told[0]["reason"]
        == "1 failure, the first in iteration 2: rank 0 got a wrong value of rank 1 in iteration 2"
    )
    assert [one["from_rank"] for each in told for one in each["failure_details"]] == [1, 1]


def test_one_rank_checks_itself(execute):
    assert execute(workload="ranks", steps=2).verdict == "pass"
    found = execute(workload="ranks", steps=2, inject={"rank": 0, "iteration": 1})
    assert (found.verdict, found.failure_details[0]["iteration"]) == ("fail", 1)


def test_no_torch_is_imported(tmp_path):
    (tmp_path / "torch.py").write_text("raise SystemExit('torch was imported')")
    sys.path.insert(0, str(tmp_path))
    try:
        assert [one["verdict"] for one in launch(tmp_path, "ranks", {})] == ["pass", "pass"]
    finally:
        sys.path.remove(str(tmp_path))


def test_a_rank_that_does_not_come_is_told(execute):
    environ = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    found = execute(workload="ranks", environ=environ, timeout_s=0.5)
    assert found.verdict == "error"
    assert "0/1/0 did not come to the store at 127.0.0.1:" in found.reason


def test_a_rank_0_that_does_not_come_is_told(execute):
    port = free_port()
    environ = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    found = execute(workload="ranks", environ=environ, timeout_s=0.5)
    assert found.verdict == "error"
    assert f"no store of rank 0 at 127.0.0.1:{port} within 0.5 s: Connection refused" in found.reason


def test_several_ranks_need_a_store(execute):
    found = execute(workload="ranks", environ={"RANK": "0", "WORLD_SIZE": "2"})
    assert found.verdict == "error"
    assert "no store for them: MASTER_ADDR and MASTER_PORT" in found.reason


def test_a_store_that_ends_releases_who_waits():
    server = Server("127.0.0.1", 0)
    client = Client("127.0.0.1", server.port, 0.3)
    client.set("a", "1")
    assert (client.get("a"), client.get("a", last=True)) == ("1", "1")
    with pytest.raises(StoreError, match=r"a did not come .* within 0.3 s"):
        client.get("a")
    client.close()
    server.close()


def test_what_is_planted_nowhere_is_refused(execute):
    found = execute(workload="ranks", steps=2, inject={"rank": 0, "iteration": 2})
    assert (found.verdict, found.reason) == (
        "error",
        "ValueError: inject: there are 1 ranks and 2 iterations (in setup)",
    )
