"""Connections of ranks that go wrong in the middle: silence, floods, ends, and who does not listen."""

import socket
import threading
import time

import pytest

from aorta.sweep.ranks import nodes
from aorta.sweep.ranks.channel import Channel, ChannelClosedError
from aorta.sweep.ranks.follower import Follower, LostLeaderError
from aorta.sweep.ranks.hello import Hello, as_message
from aorta.sweep.ranks.leader import Leader
from aorta.sweep.ranks.messages import ABORT, AGAIN, END, HELLO, KNOWN
from aorta.sweep.run.captures import Captures
from aorta.sweep.run.store import new_run


def hello(rank, size=3):
    """Return what a rank tells."""
    return Hello(rank=rank, size=size, host="n", pid=rank + 1, job="j")


@pytest.fixture
def leader():
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    made = Leader(holder, hello(0))
    yield made
    made.close()


@pytest.fixture
def joined(leader):
    """Return a function that lets a rank in, and returns its end of the connection."""
    channels = []

    def join(rank):
        channel = Channel(socket.create_connection(("127.0.0.1", leader.port)))
        channels.append(channel)
        channel.send(HELLO, **as_message(hello(rank)))
        heard = []
        while not heard:
            heard = channel.received()
        assert heard[0]["kind"] == KNOWN
        channel.put_back(heard[1:])
        return channel

    yield join
    for channel in channels:
        channel.close()


def lost(leader, rank, seconds=20):
    """Wait until a rank is lost, and return why."""
    assert leader.wait(lambda: leader.members[rank].gone is not None, time.monotonic() + seconds)
    return leader.members[rank].gone


def test_a_connection_that_ends_is_seen_at_once(leader, joined):
    joined(1).close()
    assert lost(leader, 1) == "its connection was closed"


def test_who_says_nothing_is_lost_and_hears_so(leader, joined):
    channel = joined(1)
    began = time.monotonic()
    assert lost(leader, 1) == "nothing was heard of it for 8 s"
    assert leader.members[1].gone_at - began < 2
    with pytest.raises(ChannelClosedError):
        while True:
            channel.received()


def test_a_message_that_comes_in_pieces_for_long_is_a_sign_of_life(leader, joined):
    channel = joined(1)
    line = b'{"kind": "text", "text": "' + b"x" * 40 + b'"}\n'
    for byte in line[:40]:
        channel._socket.sendall(bytes([byte]))  # noqa: SLF001 - half a message
        time.sleep(0.25)
    assert leader.members[1].gone is None
    channel._socket.sendall(line[40:])  # noqa: SLF001
    assert leader.wait(lambda: any(leader.take("text")), time.monotonic() + 20)


def test_a_large_message_comes_whole_and_hinders_no_other(leader, joined):
    channel, other = joined(1), joined(2)
    text = "x" * (20 << 20)
    sender = threading.Thread(target=channel.send, args=("text",), kwargs={"text": text})
    sender.start()
    other.send("text", text="small")
    found = {}

    def is_complete():
        found.update(leader.take("text"))
        return len(found) == 2

    assert leader.wait(is_complete, time.monotonic() + 30)
    sender.join()
    assert (found[1]["text"] == text, found[2]["text"]) == (True, "small")


def test_who_takes_nothing_is_lost_and_the_others_are_not(leader, joined):
    joined(1)
    other = Follower(joined(2))
    flood = "x" * (1 << 20)
    began = time.monotonic()
    while leader.members[1].gone is None:
        leader.tell([1], "text", text=flood)
    assert time.monotonic() - began < 30
    leader.tell([2], END, code=3)
    assert other.order(time.monotonic() + 20)["code"] == 3
    other.close()


@pytest.mark.parametrize("line", [b"nonsense\n", b'{"no": "kind"}\n', b"[" * 100000 + b"\n"])
def test_who_speaks_another_language_is_lost(line, leader, joined):
    joined(1)._socket.sendall(line)  # noqa: SLF001
    assert lost(leader, 1) == "it does not speak aorta's protocol"


def test_the_last_word_is_heard_though_the_other_side_says_much(leader, joined):
    follower = Follower(joined(1))
    for _ in range(50):
        follower.tell("text", text="x" * 10000)
    leader.tell_all(END, code=5)
    closing = threading.Thread(target=leader.close)
    closing.start()
    assert follower.order(time.monotonic() + 20)["code"] == 5
    follower.close()
    closing.join(20)
    assert not closing.is_alive()


def test_a_follower_ends_when_what_it_hears_makes_no_sense(leader, joined):
    follower = Follower(joined(1))
    leader.tell([1], ABORT)
    with pytest.raises(LostLeaderError, match="was not understood: KeyError"):
        follower.order(time.monotonic() + 20)
    assert follower.is_over(1)
    follower.close()


def test_a_connection_is_ended_quickly(leader, joined):
    followers = [Follower(joined(rank)) for rank in (1, 2)]
    began = time.monotonic()
    threads = [threading.Thread(target=one.close) for one in followers]
    for one in threads:
        one.start()
    leader.close()
    for one in threads:
        one.join()
    assert time.monotonic() - began < 10


def test_a_node_that_does_not_look_again_in_time_is_told_and_one_that_is_gone_is_not(
    leader, joined, tmp_path, monkeypatch
):
    monkeypatch.setattr(nodes, "WAIT_S", 0.5)
    silent, gone = joined(1), joined(2)
    gone.close()
    lost(leader, 2)
    hosts = [Hello(rank=rank, size=3, host=f"n{rank}", pid=rank + 1, job="j") for rank in range(3)]
    captures, run = Captures({"PATH": str(tmp_path)}), new_run(str(tmp_path / "out"), None, "command")
    try:
        captures.host()
        told = list(nodes.SeveralNodes(leader, hosts).look_again(run, captures))
    finally:
        captures.close()
        run.close()
    assert told == ["the host of n1 was not looked at again: it gave no answer in 0.5 s"]
    heard = []
    while not heard:
        heard = [message for message in silent.received() if message["kind"] == AGAIN]
    assert heard == [{"kind": AGAIN}]
