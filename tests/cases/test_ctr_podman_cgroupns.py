"""podman's marker file names docker.io, the registry of its image."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "ctr-podman-cgroupns"

CONTENT = (
    'engine="podman-4.9.4"\nname="trainer"\nid="3c3c3c3c"\nimage="docker.io/rocm/pytorch:latest"\n'
    'imageid="4d4d4d4d"\nrootless=1\n'
)
MOUNT = "1118 1116 0:27 /../../../../../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw,seclabel,nsdelegate\n"


@pytest.mark.parametrize("content", [CONTENT, ""])
def test_the_marker_means_podman_with_and_without_content(content):
    host = FakeHost(
        {"/proc/self/cgroup": "0::/\n", "/run/.containerenv": content, "/proc/self/mountinfo": MOUNT}
    )
    assert collect(host, "container_detected").value is True
    assert collect(host, "runtime_context").value["type"] == "podman"
