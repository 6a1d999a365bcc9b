"""An LXC guest whose cgroup file shows / everywhere."""

import errno

from aorta.testing import FakeHost, collect

CASE = "ctr-lxc-all-root-paths"

CGROUP = "9:cpu,cpuacct:/\n8:pids:/\n7:devices:/\n3:freezer:/\n2:memory:/\n1:name=systemd:/\n"
HOST = FakeHost(
    {
        "/proc/self/cgroup": CGROUP,
        "/run/systemd/container": "lxc\n",
        "/proc/1/environ": errno.EACCES,
        "/usr/bin/docker": "",
    },
    commands={"docker --version": "Docker version 28"},
)


def test_the_file_that_all_may_read_names_it():
    assert collect(HOST, "container_detected").value is True
    result = collect(HOST, "isolation")
    assert result.value["runtime"] == "lxc"
    assert "denied" not in result.kinds()
    # The type keeps its four old values.
    assert collect(HOST, "runtime_context").value["type"] == "baremetal"


def test_a_docker_binary_is_no_evidence():
    host = FakeHost({"/proc/self/cgroup": CGROUP, "/usr/bin/docker": "", "/proc/self/stat": ""})
    assert collect(host, "container_detected").value is False
