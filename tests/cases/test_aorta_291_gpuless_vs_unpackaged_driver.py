"""No GPU is no reason; a loaded driver without a package is one, and it says that containers look so."""

from aorta.testing import FakeHost, collect

CASE = "aorta-291-gpuless-vs-unpackaged-driver"

STATES = ("dpkg-query", "-W", "-f=${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n")
NONE = {"exit": 1, "stderr": "dpkg-query: no packages found matching amdgpu-dkms\n"}
QUERIES = {(*STATES, "amdgpu-dkms*"): NONE, (*STATES, "amdgpu-kmod*"): NONE}


def test_host_a_has_no_gpu():
    result = collect(FakeHost(commands=QUERIES, dirs=["/sys/class"]), "amdgpu_driver")
    assert result.value["kfd_device_present"] is False
    assert result.value["status"] == "absent"
    assert [reason for reason in result.reasons if reason.partial] == []


def test_host_b_has_a_driver_that_nobody_packaged():
    host = FakeHost(
        files={"/sys/module/amdgpu/version": "6.12.12\n"},
        dirs=["/sys/class/kfd"],
        nodes={"/dev/kfd": "c"},
        commands={**QUERIES, "rocminfo": "Agent 1\n  Name: gfx942\n  Device Type: GPU\n"},
    )
    result = collect(host, "amdgpu_driver")
    assert result.value["kmd_version"] == "6.12.12"
    assert result.value["package_version"] is None
    (reason,) = [reason for reason in result.reasons if reason.partial]
    assert reason.field.startswith("package")
    assert "container" in reason.detail
