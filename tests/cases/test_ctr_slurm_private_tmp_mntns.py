"""A Slurm job's private /tmp is isolation, but no container."""

from aorta.testing import FakeHost, collect

CASE = "ctr-slurm-private-tmp-mntns"

HOST = FakeHost(
    {
        "/proc/self/cgroup": "0::/system.slice/slurmstepd.scope/job_77/step_0/user/task_0\n",
        "/proc/self/mountinfo": (
            "29 1 259:2 / / rw,relatime shared:1 - xfs /dev/nvme0n1p2 rw\n"
            "640 29 0:60 /77/.77/_tmp /tmp rw - xfs /dev/nvme0n1p4 rw\n"
        ),
    },
    links={
        "/proc/self/ns/mnt": "mnt:[4026534242]",
        "/proc/1/ns/mnt": "mnt:[4026531841]",
        "/proc/self/root": "/",
    },
)


def test_detected_by_the_namespace_alone():
    assert collect(HOST, "container_detected").value is True
    assert collect(HOST, "runtime_context").value["type"] == "baremetal"
    isolation = collect(HOST, "isolation").value
    assert (isolation["container"], isolation["runtime"]) == (False, "none")
    fired = {signal["name"] for signal in isolation["signals"] if signal["outcome"] == "fired"}
    assert fired == {"private-mount-namespace", "private-tmp"}
