import errno
import hashlib

from aorta.testing import FakeHost, collect

BOOT = {"/proc/sys/kernel/random/boot_id": "11111111-2222-4333-8444-555555555555\n"}
MNT = {"/proc/self/ns/mnt": "mnt:[4026531841]"}
CGROUP = {"/proc/self/ns/cgroup": "cgroup:[4026531835]"}


def look(files=None, links=None):
    return collect(FakeHost(files, links=links), "probe_namespace")


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def test_the_mount_namespace_of_this_boot():
    result = look(BOOT, MNT)
    known = digest("mnt", "11111111-2222-4333-8444-555555555555", "mnt:[4026531841]")
    assert result.value == f"mnt:{known}" == "mnt:22184ad52bc4f240"
    assert result.reasons == ()


def test_another_boot_or_namespace_is_another_value():
    other_boot = {"/proc/sys/kernel/random/boot_id": "other\n"}
    values = {
        look(BOOT, MNT).value,
        look(other_boot, MNT).value,
        look(BOOT, {"/proc/self/ns/mnt": "mnt:[7]"}).value,
    }
    assert len(values) == 3


def test_without_a_boot_id_it_is_local():
    result = look({}, MNT)
    assert result.value == f"mnt-local:{digest('mnt', 'mnt:[4026531841]')}"
    assert result.kinds("boot_id") == ["absent"]


def test_the_cgroup_namespace_is_the_fallback():
    result = look(BOOT, {"/proc/self/ns/mnt": errno.EACCES, **CGROUP})
    assert result.value.startswith("cgroup-ns:")
    assert result.kinds("mount_namespace") == ["denied"]
    assert look({}, CGROUP).value.startswith("cgroup-ns-local:")


def test_nothing_readable_is_null_and_never_the_cgroup_text():
    result = look({**BOOT, "/proc/self/cgroup": "0::/\n"})
    assert result.value is None
    assert result.kinds("mount_namespace") == result.kinds("cgroup_namespace") == ["absent"]
