"""dpkg's state decides: rc is removed, hi is installed and held, iU is not configured."""

from aorta.testing import FakeHost, collect
from aorta_collectors.gpu.driver_packages import parse_dpkg

CASE = "dpkg-removed-but-config-left"

STATES = ("dpkg-query", "-W", "-f=${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n")
REMOVED = "rc \tamdgpu-dkms\t1:6.8.5.60200-2009582.22.04\tall\n"
FIRMWARE = "iU \tamdgpu-dkms-firmware\t1:6.12.12.60401-2164967.22.04\tall\n"


def test_a_removed_driver_is_no_driver():
    host = FakeHost(dirs=["/sys/module"], commands={(*STATES, "amdgpu-dkms*"): REMOVED + FIRMWARE})
    value = collect(host, "amdgpu_driver").value
    for field in ("package_name", "package_version", "package_full_name", "package_manager"):
        assert value[field] is None
    assert value["status"] == "absent"


def test_held_is_installed_and_unpacked_is_flagged():
    held = "hi \tamdgpu-dkms\t1:6.4.60401-2164967.22.04\tall\n"
    ((package,), unfinished) = parse_dpkg(REMOVED + held)
    assert (package.version, unfinished) == ("1:6.4.60401-2164967.22.04", [])
    assert parse_dpkg(held.replace("hi", "iU")) == ([], ["amdgpu-dkms iU"])
    assert parse_dpkg(held.replace("hi", "iF")) == ([], ["amdgpu-dkms iF"])
