"""Under Kubernetes the id in the mount table is the pod sandbox's."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "ctr-k8s-sandbox-id-in-mountinfo"

SANDBOX = "9c" * 32
MOUNTS = (
    f"1290 1281 254:1 /docker/containers/{SANDBOX}/hostname /etc/hostname rw - ext4 /dev/vda1 rw\n"
    "1291 1281 254:1 /kubelet/pods/11111111-2222-4333-8444-555555555555/etc-hosts /etc/hosts rw - ext4 /dev/vda1 rw\n"
)


@pytest.mark.parametrize("env", [{"KUBERNETES_SERVICE_HOST": "192.0.2.1"}, {}])
def test_the_sandbox_is_never_the_container(env):
    host = FakeHost({"/proc/self/cgroup": "0::/\n", "/proc/self/mountinfo": MOUNTS}, env=env)
    assert collect(host, "container_detected").value is True
    result = collect(host, "docker")
    assert result.value["container_id"] is None
    assert result.kinds("container_id") == ["absent"]
