"""What connects to rank 0's port and is no rank of the job does not disturb; a port that others have is told."""

import json
import re
import socket
import threading
import time

import pytest

from tests.launch.conftest import is_listened_at, wait_for

#: What is no hello: a web client, a TLS one, JSON of other kinds, hellos with parts that make no sense.
SAID = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\n",
    b"[1, 2]\n",
    b"{}\n",
    b"[" * 100_000 + b"\n",
    b'{"kind": "alive"}\n{"kind": "ended", "number": 1}\n',
    b'{"kind": "hello", "rank": "1"}\n',
    *(
        json.dumps({"kind": "hello", "rank": 1, "size": 2, "host": "h", "pid": 1, **more}).encode() + b"\n"
        for more in (
            {"job": "another"},
            {"rank": True},
            {"rank": -1},
            {"rank": 1.5},
            {"rank": None},
            {"size": "2"},
            {"problems": "text"},
            {"problems": [1]},
            {"facts": []},
            {"facts": {"a": 1}},
            {"host": None},
        )
    ),
]


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def server(said, *, answers=True):
    """Return a port with a program that says something to who comes, and its end."""
    listener = socket.create_server(("", 0))

    def serve():
        kept = []
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                for connection in kept:
                    connection.close()
                return
            kept.append(connection)
            if answers:
                connection.sendall(said)
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener


def test_what_strangers_say_does_not_disturb(job):
    job.start(0)
    wait_for(lambda: is_listened_at(job.port))
    silent = [connect(job.port) for _ in range(20)]
    for said in SAID:
        with connect(job.port) as one:
            one.sendall(said)
            one.settimeout(10)
            try:
                answer = one.recv(1000)
            except ConnectionResetError:
                answer = b""
            assert answer in (b"", b'{"kind": "stranger"}\n'), said
    job.start(1)
    codes, _, errors = job.ended()
    for one in silent:
        one.close()
    assert codes == [0, 0], errors
    assert job.matrix()["world_size"] == 2


def test_a_line_without_end_is_not_kept(job):
    job.start(0)
    wait_for(lambda: is_listened_at(job.port))
    with connect(job.port) as one, pytest.raises(ConnectionError):
        for _ in range(400):
            one.sendall(b"x" * 65536)
    job.start(1)
    assert job.ended()[0] == [0, 0]


def test_connections_that_say_nothing_do_not_use_up_rank_0(job):
    job.start(0)
    wait_for(lambda: is_listened_at(job.port))
    silent = [connect(job.port) for _ in range(600)]
    job.start(1)
    codes, _, errors = job.ended()
    for one in silent:
        one.close()
    assert codes == [0, 0], errors


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["mute", "web"])
def test_a_master_port_in_use_is_told_by_all_ranks_soon(job, said):
    with server(said, answers=bool(said)) as other:
        job.port = other.getsockname()[1]
        began = time.monotonic()
        for rank in (0, 1, 2):
            job.start(rank, size=3, join=120)
        [line] = job.refused(60)
    assert line == (
        f"aorta: port {job.port} of 127.0.0.1 is in use by something else: choose another MASTER_PORT for this"
        " job, or let torchrun choose one with --standalone"
    )
    assert time.monotonic() - began < 40


def test_two_jobs_of_one_port(job):
    job.recipe("long.yaml", more="workload_config: {pause_ms: 60000}")
    for rank in (0, 1):
        job.start(rank, recipe="long.yaml")
    wait_for(lambda: job.runs)
    first, job.started = job.started, []
    for rank in (0, 1):
        job.start(rank)
    codes, _, errors = job.ended()
    first[0].terminate()
    job.started = first
    assert job.ended()[0] == [143, 1]
    assert codes == [2, 2]
    assert len(set(errors)) == 1
    assert f"port {job.port} of 127.0.0.1 is in use by something else" in errors[0]
    assert len(job.runs) == 1


def test_jobs_of_one_name_for_ports_pass_each_other_by(job):
    # Two jobs that were given one range, and are told apart by their names.
    base = {"MASTER_PORT": None, "AORTA_TRIAL_MASTER_PORT_BASE": 20000 + job.port % 8000}
    for batch in ("7.pbs", "8.pbs"):
        for rank in (0, 1):
            job.start(rank, PBS_JOBID=batch, **base)
    codes, _, errors = job.ended()
    assert codes == [0, 0, 0, 0], errors
    assert len(job.runs) == 2


def test_what_a_rank_may_not_know_is_told_to_no_stranger(job):
    job.start(0, PBS_JOBID="secret.pbs", size=3)
    wait_for(lambda: is_listened_at(job.port))
    with connect(job.port) as one:
        one.sendall(SAID[7])
        assert one.recv(1000) == b'{"kind": "stranger"}\n'
        assert one.recv(1000) == b""
    hello = {"kind": "hello", "rank": 1, "size": 3, "host": "h", "pid": 1, "job": f"secret.pbs.{job.port}"}
    # One that knows the name is taken for the rank, and then the job does not begin.
    with connect(job.port) as one:
        one.sendall(json.dumps({**hello, "facts": {}, "later": 1}).encode() + b"\n")
        assert one.recv(1000).startswith(b'{"kind": "known"}\n')
        job.start(1, PBS_JOBID="secret.pbs", size=3)
        # that there are two is known before all have come
        time.sleep(3.0)
        job.start(2, PBS_JOBID="secret.pbs", size=3)
        lines = job.refused()
    assert re.search(r"two are told to be rank 1: pid 1 on h and pid \d+ on \S+", lines[0])
