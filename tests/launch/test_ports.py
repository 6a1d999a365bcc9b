"""The ports at which ranks and their trials meet: bounds, a job's own ones, and holding them for real."""

import os
import socket
import subprocess
import sys

import pytest

from aorta.launch.identity import Identity, identity_of
from aorta.launch.ports import MEETING, PORT_BASE, base_of, bound, listening, meeting_ports, told_base
from aorta.launch.tasks import LaunchError
from aorta.sweep.ranks.ports import TrialPorts
from aorta.workloads.tcp_store import Client, Server
from tests.launch.environs import hydra, slurm, torchrun
from tests.parts.needs import need
from tests.workloads.launching import free_port

LOCAL = "127.0.0.1"


def listens(port=0):
    """Return a server at a port of all addresses."""
    return socket.create_server(("", port))


def used_a_minute_ago():
    """Return a port that the kernel remembers a connection of."""
    with socket.create_server((LOCAL, 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((LOCAL, port)):
            server.accept()[0].close()
    return port


@pytest.mark.parametrize("text", ["1024", "30000", "64536"])
def test_bases(text):
    assert told_base({PORT_BASE: text}) == int(text)


@pytest.mark.parametrize(
    "text", ["", "0", "80", "1023", "64537", "65000", "30k", "-1", "1e4", "٣٠٠٠٠", "9" * 99]
)
def test_what_is_no_base_is_told_with_the_limits(text):
    with pytest.raises(LaunchError, match=rf"{PORT_BASE} is .*, not a number from 1024 to 64536"):
        told_base({PORT_BASE: text})


def test_the_base_of_a_slurm_step_is_made_of_its_name():
    environs = [slurm(0, 0), slurm(0, 0, step="1"), slurm(0, 0, SLURM_JOB_ID=78)]
    bases = [base_of(environ, identity_of(environ)) for environ in environs]
    # 10000 + crc32("slurm.77.0.0") % 21000
    assert bases[0] == 18558
    assert len(set(bases)) == 3
    # below those that the kernel gives away by itself
    assert all(10000 <= base and base + 1000 < 32768 for base in bases)
    assert base_of(slurm(3, 1), identity_of(slurm(3, 1))) == bases[0]


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        (torchrun(0, 0), [0]),
        (torchrun(0, 0, **{PORT_BASE: 20000}), list(range(20984, 21000))),
        (torchrun(0, 0, TORCHELASTIC_USE_AGENT_STORE="False"), [29400]),
        (slurm(0, 0, MASTER_PORT=29500), [29500]),
        (slurm(0, 0, **{PORT_BASE: 20000}), list(range(20984, 21000))),
        (hydra(0, 0, MASTER_PORT=29500, **{PORT_BASE: 20000}), [29500]),
    ],
)
def test_where_ranks_meet(environ, wanted):
    assert list(meeting_ports(environ, identity_of(environ))) == wanted


def test_where_nobody_told_a_port_it_has_to_be_set():
    with pytest.raises(LaunchError, match=rf"meet: set MASTER_PORT, or {PORT_BASE}, to the same"):
        meeting_ports(hydra(0, 0), identity_of(hydra(0, 0)))


@pytest.mark.parametrize("address", [LOCAL, "::1"])
def test_a_held_port_is_closed_to_others_and_open_to_the_server_of_the_trial(address):
    holder = bound([0], address)
    port = holder.getsockname()[1]
    with holder:
        assert bound([port], address) is None
        with pytest.raises(OSError, match="in use"), socket.socket() as plain:
            plain.bind(("", port))
        # Nobody listens yet: who comes too early is sent away, and does not wait at the wrong place.
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOCAL, port), timeout=5)
        server = Server("", port)
        client = Client(LOCAL, port, 5.0)
        client.set("a", "1")
        assert client.get("a") == "1"
        client.close()
        server.close()
    with bound([port], address) or listening(port, address):
        pass


def test_a_held_port_lets_torch_s_way_of_serving_in():
    with bound([0], LOCAL) as holder, socket.socket(socket.AF_INET6) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("::", holder.getsockname()[1]))
        server.listen()


def test_a_machine_without_ipv6():
    script = "from aorta.launch.ports import *; print(listening(0, '127.0.0.1').getsockname()[1] > 0)"
    quiet = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6"
    need(os.geteuid() == 0, "needs root, for a network of its own")
    words = ["unshare", "--net", "sh", "-c", f'{quiet}; exec "$0" -c "$1"', sys.executable, script]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr


def test_busy_ports_are_passed_over():
    with listens() as busy:
        port = busy.getsockname()[1]
        assert bound([port], LOCAL) is None
        with bound([port, 0], LOCAL) as holder:
            assert holder.getsockname()[1] != port


def test_a_port_that_an_earlier_sweep_had_is_no_reason_to_wait():
    port = used_a_minute_ago()
    assert bound([port], LOCAL) is None
    with listening(port, LOCAL), pytest.raises(OSError, match="in use"):
        listening(port, LOCAL)


def test_a_port_that_somebody_listens_at_cannot_be_had():
    with listens() as busy, pytest.raises(OSError, match="in use"):
        listening(busy.getsockname()[1], LOCAL)


def held(ports):
    with ports.held() as port:
        return port


def test_no_trial_gets_a_port_that_another_one_had():
    base = free_port() // 2 + 10000
    ports = TrialPorts({PORT_BASE: str(base)}, Identity(size=2, address=LOCAL))
    with socket.socket() as other:
        other.bind(("", base + 1))
        found = [held(ports), held(ports)]
    assert found[0] == base
    assert found[1] > base + 1
    last = list(range(base + 1000 - MEETING))[-1]
    while (port := held(ports)) < last:
        assert port > found[-1]
        found.append(port)
    with pytest.raises(
        LaunchError, match=rf"no port is left for a trial: of the 1000 from {PORT_BASE}={base}"
    ):
        held(ports)


def test_after_the_ports_made_of_a_job_s_name_any_free_one_serves():
    identity = identity_of(slurm(0, 0))
    base = base_of(slurm(0, 0), identity)
    ports = TrialPorts(slurm(0, 0), identity)
    while base <= (port := held(ports)) < base + 1000:
        pass
    assert port >= 1024
    assert held(ports) not in range(base, base + 1000)
