"""bubblewrap with a PID namespace of its own."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "ctr-bwrap-own-pid-namespace"

STATUS = "NoNewPrivs:\t1\nSeccomp:\t2\nNSpid:\t2\n"
SANDBOX = {
    "/proc/self/uid_map": "      1000       1000          1\n",
    "/proc/self/status": STATUS,
    "/proc/1/comm": "bwrap\n",
    "/proc/self/mountinfo": (
        "95 80 0:51 / / rw,nosuid,nodev,relatime - tmpfs tmpfs rw\n"
        "96 95 259:2 /usr /usr ro,nosuid,nodev,relatime - ext4 /dev/nvme0n1p2 rw\n"
    ),
}
VARIANTS = {
    "as it is": SANDBOX,
    "fake root": {**SANDBOX, "/proc/self/uid_map": "0 1000 1\n"},
    "a shell as pid 1": {**SANDBOX, "/proc/1/comm": "bash\n", "/proc/self/uid_map": "0 0 4294967295\n"},
    "no /proc": {"/usr/bin/env": "", "/bin/sh": ""},
    "the wrapper's name alone": {"/proc/1/comm": "bwrap\n"},
}


@pytest.mark.parametrize("files", VARIANTS.values(), ids=VARIANTS)
def test_a_sandbox_is_detected(files):
    assert collect(FakeHost(files), "container_detected").value is True
    assert collect(FakeHost(files), "runtime_context").value["type"] == "baremetal"


def test_a_service_of_the_host_with_the_same_restrictions_is_not():
    host = FakeHost(
        {
            "/proc/self/uid_map": "         0          0 4294967295\n",
            "/proc/self/status": STATUS,
            "/proc/1/comm": "systemd\n",
            "/proc/self/mountinfo": "29 1 259:2 / / rw shared:1 - ext4 /dev/nvme0n1p2 rw\n",
        }
    )
    assert collect(host, "container_detected").value is False
