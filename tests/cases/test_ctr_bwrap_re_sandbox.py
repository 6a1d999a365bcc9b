"""A sandbox that nothing names."""

from aorta.testing import FakeHost, collect

CASE = "ctr-bwrap-re-sandbox"

HOST = FakeHost(
    {
        "/proc/self/cgroup": "0::/\n",
        "/proc/1/comm": "bwrap\n",
        "/proc/self/mountinfo": (
            "95 80 0:51 / / rw,nosuid,nodev - tmpfs tmpfs rw\n"
            "96 95 259:2 /usr /usr ro,nosuid,nodev - ext4 /dev/nvme0n1p2 rw\n"
            "97 95 0:52 / /proc rw - proc proc rw\n"
        ),
    },
    links={"/proc/self/ns/mnt": "mnt:[4026532777]"},
    env={"AORTA_PROBE_INVOCATION": "buck2_action"},
)


def test_baremetal_is_never_said_without_isolation():
    assert collect(HOST, "container_detected").value is True
    assert collect(HOST, "runtime_context").value["type"] == "baremetal"
    assert collect(HOST, "execution_context").value["probe_invocation"] == "buck2_action"


def test_root_and_first_process_are_signs():
    fired = {
        each["name"] for each in collect(HOST, "isolation").value["signals"] if each["outcome"] == "fired"
    }
    assert {"root-mount", "pid1-command"} <= fired
