import errno

from aorta.testing import FakeHost, collect

ROOT = "29 1 259:2 / / rw - ext4 /dev/sda1 rw\n23 29 0:22 / /proc rw - proc proc rw\n"


def test_detected_and_not():
    assert collect(FakeHost({"/.dockerenv": ""}), "container_detected").value is True
    result = collect(FakeHost({"/proc/self/mountinfo": ROOT}), "container_detected")
    assert result.value is False
    assert result.reasons == ()


def test_mounts_of_ones_own_are_enough():
    links = {"/proc/self/ns/mnt": "mnt:[2]", "/proc/1/ns/mnt": "mnt:[1]"}
    host = FakeHost({"/proc/self/mountinfo": ROOT}, links=links)
    assert collect(host, "container_detected").value is True
    assert collect(host, "isolation").value["container"] is False


def test_one_readable_sign_is_enough_for_false():
    host = FakeHost({"/proc/self/mountinfo": errno.EACCES, "/proc/self/cgroup": "0::/\n"})
    result = collect(host, "container_detected")
    assert (result.value, result.reasons) == (False, ())


def test_no_sign_at_all_is_null_with_a_reason():
    result = collect(FakeHost(), "container_detected")
    assert result.value is None
    assert result.kinds() == ["absent"]
    denied = {"/proc/self/mountinfo": errno.EACCES, "/proc/self/cgroup": errno.EACCES}
    assert collect(FakeHost(denied), "container_detected").kinds() == ["denied"]
