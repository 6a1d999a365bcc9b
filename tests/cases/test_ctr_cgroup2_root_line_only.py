"""cgroup v2 shows only `0::/`: the files that docker lays into /etc tell."""

from aorta.testing import FakeHost, collect

CASE = "ctr-cgroup2-root-line-only"

ID = "0f" * 32
HOST = FakeHost(
    {
        "/proc/self/cgroup": "0::/\n",
        "/proc/self/mountinfo": "".join(
            f"{number} 496 254:1 /docker/containers/{ID}/{name} /etc/{name} rw,relatime - ext4 /dev/vda1 rw\n"
            for number, name in ((504, "resolv.conf"), (505, "hostname"), (506, "hosts"))
        ),
    }
)


def test_runtime_and_id_come_from_the_mount_table():
    assert collect(HOST, "container_detected").value is True
    assert collect(HOST, "runtime_context").value["type"] == "docker"
    assert collect(HOST, "docker").value["container_id"] == ID
