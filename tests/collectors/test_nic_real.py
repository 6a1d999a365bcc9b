"""The real tools: interfaces in a network namespace of its own, lspci over a dump, verbs without a device."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aorta.host.live import LiveHost
from aorta.testing import FakeHost, collect
from aorta_collectors.nic.tools import parse_ethtool, parse_links, parse_lspci, parse_verbs
from aorta_collectors.nic.userspace import ACCESS, parse_access
from tests.parts.needs import need

ROOT = Path(__file__).resolve().parents[2]
SBIN = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
MADE = """
mount -t sysfs sysfs /sys
ip link add veth0 type veth peer name veth1
ip link add br0 type bridge
ip link set veth1 master br0
ip link set veth0 up
exec "$@"
"""
PROBE = """
import json
from aorta.host.live import LiveHost
from aorta.testing import collect
host = LiveHost()
made = {name: collect(host, name) for name in ("nics", "nic_devices")}
print(json.dumps({name: {"value": one.value, "reasons": [[r.kind, r.field, r.detail] for r in one.reasons]}
                  for name, one in made.items()}))
host.close()
"""


def run(*words, **options):
    environment = {**os.environ, "PATH": SBIN, "PYTHONPATH": f"{ROOT}:{ROOT / 'collectors'}"}
    return subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=100, env=environment, **options
    )


def in_a_namespace(*words):
    return run("unshare", "--net", "--mount", "sh", "-ec", MADE, "sh", *words)


@pytest.fixture
def namespace():
    need(shutil.which("ip", path=SBIN) is not None, "needs iproute2")
    need(shutil.which("ethtool", path=SBIN) is not None, "needs ethtool")
    need(in_a_namespace("true").returncode == 0, "needs the right to make network namespaces")


@pytest.mark.usefixtures("namespace")
def test_veth_and_bridge_are_no_devices():
    done = in_a_namespace(sys.executable, "-c", PROBE)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    names = {each["netdev"] for each in made["nic_devices"]["value"]}
    assert not names & {"lo", "br0", "veth0", "veth1"}
    (counted,) = [
        detail
        for kind, field, detail in made["nic_devices"]["reasons"]
        if not field and "not listed" in detail
    ]
    assert all(name in counted for name in ("br0", "lo", "veth0", "veth1"))
    assert all(block["present"] is not None for block in made["nics"]["value"].values())


@pytest.mark.usefixtures("namespace")
@pytest.mark.parametrize(("name", "driver"), [("veth0", "veth"), ("br0", "bridge")])
def test_ethtool_of_a_virtual_interface(name, driver):
    done = in_a_namespace("ethtool", "-i", name)
    assert parse_ethtool(done.stdout).driver == driver
    assert parse_ethtool(done.stdout).board_id is None


@pytest.mark.usefixtures("namespace")
def test_ethtool_of_loopback_refuses():
    assert in_a_namespace("ethtool", "-i", "lo").returncode != 0


def dump(*options):
    need("lspci", "needs pciutils")
    done = run("lspci", "-F", str(ROOT / "tests/parts/nic.dump"), *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_lspci_over_a_dump():
    assert parse_lspci(dump("-D", "-n")) == {
        "0000:05:00.0": ("0x1200", "0x1002", "0x74a1"),
        "0000:06:00.0": ("0x0200", "0x1dd8", "0x1002"),
        "0000:06:00.1": ("0x0200", "0x1dd8", "0x1003"),
        "0000:07:00.0": ("0x0604", "0x1dd8", "0x1001"),
        "0000:c1:00.0": ("0x0200", "0x14e4", "0x165f"),
        "0000:c2:00.0": ("0x0207", "0x15b3", "0x1021"),
    }


def test_a_machine_of_which_only_lspci_is_seen():
    host = FakeHost(commands={"lspci -D -n": dump("-D", "-n")})
    value = collect(host, "nics").value
    assert [value[key]["present"] for key in ("ainic", "broadcom", "cx7")] == [True, False, True]
    listed = {each["bdf"]: each["model"] for each in collect(host, "nic_devices").value}
    assert listed == {
        "0000:06:00.0": "DSC Ethernet Controller",
        "0000:06:00.1": "DSC VF",
        "0000:c1:00.0": "BCM5720",
        "0000:c2:00.0": "ConnectX-7",
    }


def test_the_bus_of_this_machine_is_the_same_by_lspci_and_by_sysfs():
    need("lspci", "needs pciutils")
    need(Path("/sys/bus/pci/devices").is_dir(), "needs a PCI bus")
    host = LiveHost()
    listed = {each["bdf"]: each for each in collect(host, "nic_devices").value if each["bdf"]}
    host.close()
    told = parse_lspci(run("lspci", "-D", "-n").stdout)
    network = {bdf: ids for bdf, ids in told.items() if ids[0].startswith("0x02")}
    assert {bdf: (one["vendor_id"], one["device_id"]) for bdf, one in listed.items() if bdf in network} == {
        bdf: ids[1:] for bdf, ids in network.items()
    }


def test_verbs_tools_without_a_device():
    need("ibv_devices", "needs ibverbs-utils")
    need(not Path("/sys/class/infiniband").exists(), "needs a machine without RDMA")
    done = run("ibv_devices")
    if done.returncode == 0:
        assert parse_verbs(done.stdout, done.stderr).names == ()
    else:
        assert done.stderr


def test_rdma_without_a_device():
    need(shutil.which("rdma", path=SBIN) is not None, "needs rdma of iproute2")
    need(not Path("/sys/class/infiniband").exists(), "needs a machine without RDMA")
    assert parse_links(run("rdma", "link").stdout) == ()


def test_find_tells_what_may_be_opened(tmp_path):
    """The same words over a folder of files: as a user, those of mode 0 are not named."""
    need(shutil.which("find") is not None, "needs findutils")
    for name, mode in (("uverbs0", 0o666), ("uverbs1", 0), ("umad0", 0o666)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    tmp_path.chmod(0o755)
    words = [str(tmp_path) if each == "/dev/infiniband" else each for each in ACCESS]
    user = ["unshare", "--user", "--map-user=65534"] if os.geteuid() == 0 else []
    need(run(*user, "true").returncode == 0, "needs user namespaces")
    done = subprocess.run([*user, *words], capture_output=True, text=True, check=False, timeout=20)
    found = done.stdout.replace(str(tmp_path), "/dev/infiniband")
    assert parse_access(found) == {"uverbs0"}
