"""cgroup v1 lines differ from each other: all of them are read."""

from aorta.testing import FakeHost, collect

CASE = "ctr-cgroup1-docker-paths"

ID = "1e" * 32
HOST = FakeHost(
    {
        "/proc/self/cgroup": (
            f"12:rdma:/\n11:memory:/docker/{ID}\n1:name=systemd:/docker/{ID}\n0::/system.slice/containerd.service\n"
        )
    }
)


def test_the_telling_line_wins():
    assert collect(HOST, "container_detected").value is True
    assert collect(HOST, "runtime_context").value["type"] == "docker"
    assert collect(HOST, "docker").value["container_id"] == ID
    assert collect(HOST, "isolation").value["runtime"] == "docker"


def test_the_daemons_unit_alone_names_nothing():
    host = FakeHost({"/proc/self/cgroup": "0::/system.slice/containerd.service\n"})
    assert collect(host, "container_detected").value is False
    assert collect(host, "isolation").value["runtime"] == "unknown"
