"""Looking a host up: a name that there is not, and a name service that does not answer, have an end."""

import os
import socket
import subprocess
import sys
import time

import pytest

from aorta.launch.lookup import addresses_of
from aorta.launch.tasks import LaunchError
from tests.parts.needs import need

#: A name server that hears questions and says nothing, in a network of its own.
MUTE = """
set -e
mount --bind "$1" /etc/resolv.conf
ip link set lo up
exec "$2" -c "$3"
"""
ASKS = """
import os, signal, socket, sys, threading, time
from aorta.launch.lookup import addresses_of
from aorta.launch.tasks import LaunchError
mute = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
mute.bind(("127.0.0.1", 53))
began = time.monotonic()
try:
    addresses_of("head.cluster.example", 1.0)
except LaunchError as error:
    print(error)
print(time.monotonic() - began < 15)
sys.stdout.flush()
os._exit(0)
"""


def test_numbers_and_names():
    assert addresses_of("192.0.2.21") == ["192.0.2.21"]
    assert addresses_of("::1") == ["::1"]
    assert {"127.0.0.1", "::1"} & set(addresses_of("localhost"))


@pytest.mark.parametrize("name", ["no-such-host.invalid", "a..b", "x" * 300, "", " "])
def test_a_name_that_there_is_not(name):
    began = time.monotonic()
    with pytest.raises(LaunchError, match="cannot be looked up .*: set MASTER_ADDR to a name or number"):
        addresses_of(name, 0.5)
    assert time.monotonic() - began < 20


def test_a_name_service_that_does_not_answer(tmp_path):
    configuration = tmp_path / "resolv.conf"
    configuration.write_text("nameserver 127.0.0.1\noptions timeout:10 attempts:3\n")
    need(os.geteuid() == 0, "needs root, for a network of its own")
    words = ["unshare", "--net", "--mount", "sh", "-c", MUTE, "-", str(configuration), sys.executable, ASKS]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100)
    text, quick = done.stdout.splitlines()
    assert "'head.cluster.example' cannot be looked up (no answer in 1 s)" in text, done.stderr
    assert quick == "True"


def test_nothing_asks_for_a_name_by_a_number(monkeypatch):
    def asked(*_):
        raise AssertionError("a reverse look-up")

    for name in ("getfqdn", "gethostbyaddr", "gethostbyname", "getnameinfo"):
        monkeypatch.setattr(socket, name, asked)
    assert addresses_of("127.0.0.1") == ["127.0.0.1"]
