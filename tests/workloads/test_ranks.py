"""``ranks``: real ranks exchange values over a real store, without torch."""

import socket

import pytest

from aorta.launch.ports import bound
from aorta.workloads.tcp_store import Client, Server, StoreError
from tests.parts import torches
from tests.workloads.launching import free_port, swept


@pytest.mark.parametrize("isolation", ["process", "in_process"])
def test_three_ranks(tmp_path, isolation):
    cells = {"cell": {"payload_bytes": 100_000}}
    done = swept(tmp_path, "ranks", cells, ranks=3, isolation=isolation, trials=2)
    assert done.codes == [0, 0, 0], done.errors
    assert done.verdicts() == ["pass", "pass"]
    record = done.first()
    assert [one["verdict"] for one in record["ranks"]] == ["pass"] * 3
    assert record["metrics"]["rank_outcomes"] == {"pass": 3, "fail": 0, "error": 0, "world_size": 3}
    assert len(record["step_times_ms"]) == 3


def test_a_wrong_value_is_found_by_all_without_torch(tmp_path):
    (tmp_path / "torch.py").write_text("raise SystemExit('torch was imported')")
    from tests.parts.pages import ROOT

    path = {"PYTHONPATH": f"{ROOT}:{ROOT}/collectors:{tmp_path}"}
    cells = {"cell": {"inject": {"rank": 1, "iteration": 2}}, "clean": {}}
    done = swept(tmp_path, "ranks", cells, environ=path)
    assert done.codes == [0, 0], done.errors
    record = done.first()
    assert record["verdict"] == "fail"
    assert "rank 0 got a wrong value of rank 1 in iteration 2 (2 of 2 ranks failed)" in record["reason"]
    assert [(one["rank"], one["from_rank"]) for one in record["failure_details"]] == [(0, 1), (1, 1)]
    assert done.verdicts("clean") == ["pass"]


@pytest.mark.timeout(160)
def test_the_agents_store_is_one_for_all_trials_and_each_finds_only_its_own(tmp_path):
    done = swept(
        tmp_path,
        "ranks",
        {"cell": {"store": "agent"}},
        python=torches.python(),
        launcher="torchrun",
        trials=3,
        timeout=150,
    )
    assert done.codes == [0], done.errors
    assert done.verdicts() == ["pass"] * 3
    assert done.first()["metrics"]["store"] == "agent"


def test_without_an_agent_its_store_is_refused(execute):
    environ = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    found = execute(workload="ranks", environ=environ, store="agent")
    assert found.verdict == "error"
    assert found.reason.startswith(
        "ValueError: store agent: no agent serves a store here; start the ranks by"
    )
    assert "or set store: tcp" in found.reason


def test_one_rank_checks_itself(execute):
    assert execute(workload="ranks", steps=2).verdict == "pass"
    found = execute(workload="ranks", steps=2, inject={"rank": 0, "iteration": 1})
    assert (found.verdict, found.failure_details[0]["iteration"]) == ("fail", 1)


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


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_store_is_reached_by_both_families(host):
    if host == "::1" and not socket.has_dualstack_ipv6():
        pytest.skip("this kernel has no IPv6")
    holder = bound([0], host)
    with holder:
        # As in a trial, where the port is held for the server.
        server = Server("", holder.getsockname()[1])
        client = Client(host, server.port, 5.0)
        client.set("a", "1")
        assert client.get("a") == "1"
        client.close()
        server.close()


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
        "ValueError: inject.iteration is 2, with 2 steps: at most 1 (in setup)",
    )
