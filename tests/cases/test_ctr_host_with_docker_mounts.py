"""A docker host has docker's paths all over its mount table."""

from aorta.testing import FakeHost, collect

CASE = "ctr-host-with-docker-mounts"

HOST = FakeHost(
    {
        "/proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n",
        "/proc/self/mountinfo": (
            "28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
            "871 28 0:52 / /var/lib/docker/overlay2/abcd/merged rw,relatime shared:431 - overlay overlay rw\n"
            "902 28 254:1 /var/lib/docker/containers/1a1a/mounts/shm "
            "/var/lib/docker/containers/1a1a/mounts/shm rw - tmpfs shm rw\n"
        ),
    },
    links={"/proc/self/ns/mnt": "mnt:[4026531841]", "/proc/1/ns/mnt": "mnt:[4026531841]"},
)


def test_the_host_is_no_container():
    assert collect(HOST, "container_detected").value is False
    assert collect(HOST, "runtime_context").value["type"] == "baremetal"
    assert collect(HOST, "docker").value is None
