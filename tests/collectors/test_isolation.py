import errno

from aorta.testing import FakeHost, collect

ROOT = "29 1 259:2 / / rw shared:1 - ext4 /dev/nvme0n1p2 rw\n23 29 0:22 / /proc rw - proc proc rw\n"


def test_a_login_session_of_a_user_is_not_partial():
    host = FakeHost(
        {
            "/proc/self/mountinfo": ROOT,
            "/proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n",
        },
        links={"/proc/self/ns/mnt": "mnt:[1]", "/proc/1/ns/mnt": errno.EACCES},
    )
    result = collect(host, "isolation")
    assert result.value["container"] is False
    assert result.value["runtime"] == "none"
    assert result.value["private_mounts"] is None
    assert [(reason.kind.value, reason.field, reason.partial) for reason in result.reasons] == [
        ("unsupported", "private_mounts", False)
    ]


def test_every_sign_is_shown():
    result = collect(FakeHost({"/proc/self/mountinfo": ROOT}), "isolation")
    signals = {(signal["name"], signal["source"]): signal["outcome"] for signal in result.value["signals"]}
    assert signals["docker-marker", "/.dockerenv"] == "not_fired"
    assert signals["root-mount", "/proc/self/mountinfo"] == "not_fired"
    assert signals["cgroup", "/proc/self/cgroup"] == "unreadable"
    assert signals["environment", "KUBERNETES_SERVICE_HOST"] == "not_fired"
    assert set(result.value["signals"][0]) == {"name", "source", "outcome", "value"}


def test_a_container_without_an_id_says_so_and_is_not_partial():
    result = collect(FakeHost({"/.dockerenv": "", "/proc/self/cgroup": "0::/\n"}), "isolation")
    assert (result.value["container"], result.value["container_id"]) == (True, None)
    assert result.kinds("container_id") == ["absent"]


def test_an_empty_host_claims_nothing():
    result = collect(FakeHost(), "isolation")
    assert result.value["container"] is None
    assert result.value["private_mounts"] is None
    assert result.value["runtime"] == "unknown"
    assert result.kinds("container") == ["absent"]


def test_a_refused_mount_table_is_denied():
    result = collect(FakeHost({"/proc/self/mountinfo": errno.EACCES}), "isolation")
    assert result.kinds("container") == ["denied"]
    assert result.record.status.value == "partial"


def test_what_proc_does_not_show_is_unreadable_and_says_why():
    signals = collect(FakeHost({"/usr/bin/python3": ""}), "isolation").value["signals"]
    of_proc = [signal for signal in signals if signal["source"].startswith("/proc/")]
    assert {signal["name"] for signal in of_proc} >= {
        "pid1-environment",
        "pid1-command",
        "kernel",
        "user-namespace",
    }
    assert {signal["outcome"] for signal in of_proc} == {"unreadable"}
    assert all(signal["value"] for signal in of_proc)


def test_an_id_that_no_mount_table_could_show_is_not_said_to_be_nowhere():
    result = collect(
        FakeHost({"/run/systemd/container": "lxc", "/proc/self/mountinfo": errno.EACCES}), "isolation"
    )
    assert result.value["runtime"] == "lxc"
    assert result.kinds("container_id") == ["denied"]


def test_a_chroot_claims_no_mounts_of_its_own():
    host = FakeHost(
        {"/proc/self/mountinfo": "96 29 0:22 / /proc rw - proc proc rw\n"},
        links={
            "/proc/self/ns/mnt": "mnt:[1]",
            "/proc/1/ns/mnt": errno.EACCES,
            "/proc/self/ns/pid": "pid:[4026531836]",
        },
    )
    result = collect(host, "isolation")
    assert (result.value["container"], result.value["runtime"]) == (True, "sandbox")
    assert result.value["private_mounts"] is None
    assert result.kinds("private_mounts") == ["unsupported"]
