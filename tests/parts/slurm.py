"""A real Slurm of two nodes on this machine, for as long as a ``with`` block lasts.

The login host and every node are network, UTS and mount namespaces of their own: a host name, an address,
a ``/sys`` with their own interfaces, a machine id and a small local disk. All processes live in one process
namespace. Its first process is ours to end, and the kernel ends all others with it, also when the tests die:
the daemons, the steps, whatever a task left behind.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.parts.needs import need

ROOT = Path(__file__).resolve().parents[2]
NODES = ("node1", "node2")
ADDRESSES = {"login": "10.77.0.1", "node1": "10.77.0.11", "node2": "10.77.0.12"}
START_S = 30
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: The first process of the namespace: it collects those that lost their parent.
REAPER = """
import os, time
while True:
    try:
        os.wait()
    except ChildProcessError:
        time.sleep(0.05)
"""

#: How a host furnishes its namespaces before it waits: NAME FOLDER.
HOST = """
set -e
hostname "$1"
mount --bind "$2/hosts" /etc/hosts
[ ! -e /etc/machine-id ] || mount --bind "$2/$1.machine-id" /etc/machine-id
mount -t tmpfs -o size=1m local "$2/local"
mount -t sysfs sysfs "$2/sys"
mount --rbind /sys/fs/cgroup "$2/sys/fs/cgroup"
mount --rbind "$2/sys" /sys
touch "$2/$1.up"
exec sleep infinity
"""

CONFIGURATION = """
ClusterName=tests
SlurmctldHost=login({login})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PropagateResourceLimits=NONE
ReturnToService=2
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=30
MessageTimeout=20
NodeName=node1 NodeAddr={node1} CPUs=16 RealMemory=4000
NodeName=node2 NodeAddr={node2} CPUs=16 RealMemory=4000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


class Cluster:
    """A running cluster. ``folder`` is seen by all hosts, ``local`` is each host's own and holds 1 MB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.local = folder / "local"
        self.configuration = folder / "slurm.conf"
        self.hosts: dict[str, int] = {}

    def entering(self, host: str, cwd: Path) -> list[str]:
        """Return the words before a command that is to run on a host."""
        spaces = ["--net", "--uts", "--mount", "--pid"]
        return ["nsenter", "--target", str(self.hosts[host]), *spaces, f"--wd={cwd}", "--"]

    def start(
        self, *words: object, cwd: Path, host: str = "login", env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """Start a command on a host. Its environment has nothing of a launcher but what ``env`` says."""
        return subprocess.Popen(
            [*self.entering(host, cwd), *map(str, words)],
            env={**self.environment(), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *words: object, cwd: Path, host: str = "login", env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command on a host and return how it ended, with its output."""
        with self.start(*words, cwd=cwd, host=host, env=env) as process:
            try:
                out, err = process.communicate(timeout=100)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def environment(self) -> dict[str, str]:
        """Return the environment of commands: ours, as little as they need."""
        return {
            "PATH": PATH,
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": f"{ROOT}:{ROOT}/collectors",
            "SLURM_CONF": str(self.configuration),
            **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")},
        }


@contextlib.contextmanager
def two_nodes() -> Iterator[Cluster]:
    """Bring up a login host and two nodes, yield the cluster when its nodes are idle, and end it all."""
    need(os.geteuid() == 0, "needs root, for namespaces")
    for program in ("munged", "slurmctld", "slurmd", "srun"):
        need(shutil.which(program, path=PATH) is not None, f"needs Slurm: there is no {program}")
    # Not below a folder of the tests: the path of a socket is short, and munge wants it open to all.
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    folder.chmod(0o755)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        cluster = Cluster(folder)
        started: list[subprocess.Popen[bytes]] = []
        stack.callback(_end, started)
        _write(cluster)
        _namespaces(cluster, started)
        _daemons(cluster, started)
        yield cluster


def _write(cluster: Cluster) -> None:
    folder = cluster.folder
    for name in ("local", "sys", "state"):
        (folder / name).mkdir()
    hosts = [f"{address} {name}" for name, address in ADDRESSES.items()]
    (folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", *hosts, ""]))
    for number, name in enumerate(ADDRESSES):
        (folder / f"{name}.machine-id").write_text(f"{number:032x}\n")
    cluster.configuration.write_text(CONFIGURATION.format(folder=folder, **ADDRESSES))
    (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
    key = folder / "munge.key"
    key.touch(0o400)
    with open(os.open(key, os.O_WRONLY), "wb") as stream:
        stream.write(os.urandom(128))


def _namespaces(cluster: Cluster, started: list["subprocess.Popen[bytes]"]) -> None:
    """Start the reaper, the switch and the hosts, and join these by wires."""
    alone = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--net"]
    guarded = ["setpriv", "--pdeathsig", "KILL", *alone, sys.executable, "-S", "-c", REAPER]
    outside = _start(cluster, started, "switch", *guarded)
    switch = _first_child(outside)
    _ip(switch, "link add br0 type bridge")
    _ip(switch, "link set br0 up")
    for name, address in ADDRESSES.items():
        entering = ["nsenter", "--target", str(switch), "--pid", "--mount", "--"]
        own = ["unshare", "--net", "--uts", "--mount", "--propagation", "slave"]
        command = [*entering, *own, "sh", "-c", HOST, "-", name, str(cluster.folder)]
        host = _first_child(_start(cluster, started, name, *command))
        _wait_for(cluster, lambda name=name: (cluster.folder / f"{name}.up").exists(), started)
        cluster.hosts[name] = host
        _ip(switch, f"link add {name} type veth peer name eth0 netns {host}")
        _ip(switch, f"link set {name} master br0 up")
        for line in ("link set lo up", "link set eth0 up", f"addr add {address}/24 dev eth0"):
            _ip(host, line)


def _ip(pid: int, line: str) -> None:
    """Run ``ip`` in the network of a process."""
    subprocess.run(["nsenter", "--target", str(pid), "--net", "ip", *line.split()], check=True, timeout=10)


def _daemons(cluster: Cluster, started: list["subprocess.Popen[bytes]"]) -> None:
    folder = cluster.folder
    files = [f"--{name}={folder}/munge.{end}" for name, end in {"key-file": "key", "socket": "sock"}.items()]
    files += [
        f"--pid-file={folder}/munge.pid",
        f"--log-file={folder}/munged.log",
        f"--seed-file={folder}/seed",
    ]
    _start(cluster, started, "munged", *cluster.entering("login", folder), "munged", "--foreground", *files)
    _wait_for(cluster, (folder / "munge.sock").exists, started)
    configured = ["-D", "-f", str(cluster.configuration)]
    _start(cluster, started, "slurmctld", *cluster.entering("login", folder), "slurmctld", "-c", *configured)
    for node in NODES:
        (folder / f"spool-{node}").mkdir()
        _start(cluster, started, node, *cluster.entering(node, folder), "slurmd", "-N", node, *configured)

    def idle() -> bool:
        told = cluster.run("sinfo", "--noheader", "--format=%T %D", cwd=folder)
        return told.stdout.split() == ["idle", "2"]

    _wait_for(cluster, idle, started)


def _start(cluster: Cluster, started: list["subprocess.Popen[bytes]"], name: str, *words: str) -> int:
    with open(cluster.folder / f"{name}.out", "wb") as output:
        process = subprocess.Popen(
            words,
            env=cluster.environment(),
            cwd=cluster.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    started.append(process)
    return process.pid


def _first_child(pid: int) -> int:
    """Return the process that a program which entered a process namespace forked to be in it."""
    file = Path(f"/proc/{pid}/task/{pid}/children")
    until = time.monotonic() + START_S
    while not (children := file.read_text().split()):
        assert time.monotonic() < until, "it did not start"
        time.sleep(0.01)
    return int(children[0])


def _wait_for(cluster: Cluster, condition, started: list["subprocess.Popen[bytes]"]) -> None:
    until = time.monotonic() + START_S
    while not condition():
        ended = [process.args for process in started if process.poll() is not None]
        if ended or time.monotonic() > until:
            texts = [
                f"{path.name}:\n{path.read_text()[-1500:]}" for path in cluster.folder.glob("*.[lo][ou][gt]")
            ]
            raise AssertionError("\n".join(["Slurm did not come up", *map(str, ended), *texts]))
        time.sleep(0.05)


def _end(started: list["subprocess.Popen[bytes]"]) -> None:
    """End the first process of the namespace, and all others with it; wait until they are gone."""
    for process in started:
        process.kill()
    for process in started:
        process.wait(timeout=20)
