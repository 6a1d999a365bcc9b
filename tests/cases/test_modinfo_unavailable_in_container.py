"""modinfo finds nothing: usual in a container, a conflict on a bare host."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "modinfo-unavailable-in-container"

NOT_FOUND = {"exit": 1, "stderr": "modinfo: ERROR: Module amdgpu not found.\n"}
RELEASE = "6.8.0-1-generic"
BARE_ROOT = "22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n"


def host(**extra):
    files = {"/sys/module/amdgpu/version": "6.14.14\n", **extra.pop("files", {})}
    return FakeHost(files=files, commands={"modinfo amdgpu": NOT_FOUND}, **extra)


def reason_of(result):
    return next(reason for reason in result.reasons if reason.field == "module_version")


def test_in_a_container_it_is_information():
    result = collect(host(files={"/.dockerenv": "", "/proc/1/cgroup": "0::/\n"}), "amdgpu_driver")
    assert (result.value["kmd_version"], result.value["module_version"]) == ("6.14.14", None)
    assert not reason_of(result).partial
    assert "container" in reason_of(result).detail


@pytest.mark.parametrize(
    "extra",
    [
        {"dirs": [f"/lib/modules/{RELEASE}"]},
        {"files": {"/proc/self/mountinfo": BARE_ROOT, "/proc/1/cgroup": "0::/init.scope\n"}},
    ],
)
def test_on_a_bare_host_it_is_a_conflict(extra):
    result = collect(host(**extra), "amdgpu_driver")
    assert (result.value["kmd_version"], result.value["module_version"]) == ("6.14.14", None)
    assert (reason_of(result).kind.value, reason_of(result).partial) == ("expected", True)


def test_no_modinfo_at_all():
    result = collect(FakeHost(files={"/sys/module/amdgpu/version": "6.14.14\n"}), "amdgpu_driver")
    assert (result.value["kmd_version"], reason_of(result).kind.value) == ("6.14.14", "no_tool")
