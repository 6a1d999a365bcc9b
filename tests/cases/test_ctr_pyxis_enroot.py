"""enroot under Slurm: the job's cgroup, a root that is not root."""

import errno

from aorta.testing import FakeHost, collect

CASE = "ctr-pyxis-enroot"

FILES = {
    "/proc/self/cgroup": "0::/system.slice/slurmstepd.scope/job_960/step_0/user/task_0\n",
    "/proc/self/uid_map": "         0       1000          1\n",
    "/proc/self/mountinfo": (
        "811 700 0:61 / / rw,relatime - overlay overlay "
        "rw,lowerdir=/run/enroot/overlay/lower,upperdir=/run/enroot/overlay/upper\n"
    ),
}
LINKS = {"/proc/self/ns/mnt": "mnt:[4026538274]", "/proc/1/ns/mnt": errno.EACCES}
ENV = {"ENROOT_ROOTFS": "/run/enroot/x", "SLURM_JOB_ID": "960"}


def test_it_is_a_container_of_enroot():
    host = FakeHost(FILES, links=LINKS, env=ENV)
    assert collect(host, "container_detected").value is True
    assert collect(host, "isolation").value["runtime"] == "enroot"


def test_a_marker_left_in_the_image_does_not_make_it_docker():
    host = FakeHost({**FILES, "/.dockerenv": ""}, links=LINKS, env=ENV)
    assert collect(host, "isolation").value["runtime"] == "enroot"
    assert collect(host, "runtime_context").value["type"] == "baremetal"


def test_the_root_user_is_shown_as_another_users():
    signals = collect(FakeHost(FILES, links=LINKS, env=ENV), "isolation").value["signals"]
    (namespace,) = [each for each in signals if each["name"] == "user-namespace"]
    assert (namespace["outcome"], namespace["value"]) == ("fired", "0 1000 1")
