"""/dev/kfd is there and cannot be opened: each errno is told, presence stays presence."""

import pytest

from aorta.testing import FakeHost, collect
from tests.parts.gpu_hosts import CPU, MI300X, kfd

CASE = "kfd-open-errnos"

LOADED = "ROCk module is loaded\n"
REFUSED = "Unable to open /dev/kfd read-write: "
NOBODY = "Failed to get user name to check for video group membership\n"
RED, PLAIN = "\x1b[31m", "\x1b[0m"

TEXTS = [
    (f"{LOADED}{REFUSED}Permission denied\n{NOBODY}", "EACCES", "denied", "group"),
    (f"{REFUSED}Operation not permitted\n", "EPERM", "denied", "cgroup"),
    (
        f"ROCk module version 6.7.0 is loaded\n{REFUSED}Invalid argument\nroot is member of nogroup group\n",
        "EINVAL",
        "failed",
        "",
    ),
    (f"{LOADED}{REFUSED}Cannot allocate memory\nuser is member of render group\n", "ENOMEM", "failed", ""),
    (f"{LOADED}{RED}{REFUSED}No such file or directory{PLAIN}\n{NOBODY}", "ENOENT", "failed", "container"),
]


@pytest.mark.parametrize(("text", "name", "kind", "hint"), TEXTS)
@pytest.mark.parametrize("section", ["amdgpu_driver", "gpu_arch"])
def test_each_errno(section, text, name, kind, hint):
    host = FakeHost(
        files=kfd(CPU, MI300X), nodes={"/dev/kfd": "c"}, commands={"rocminfo": {"exit": 1, "stdout": text}}
    )
    result = collect(host, section)
    field = {"amdgpu_driver": "kfd_device_accessible", "gpu_arch": "runtime_targets"}[section]
    (reason,) = [reason for reason in result.reasons if reason.field == field]
    assert (reason.kind.value, reason.partial) == (kind, True)
    assert name in reason.detail
    assert hint in reason.detail
    if section == "amdgpu_driver":
        assert result.value["kfd_device_present"] is True
        assert result.value["kfd_device_accessible"] is False
        assert result.value["kfd_open_error"] == name
    else:
        assert result.value["gfx_targets"] == ["gfx942"]
        assert result.value["runtime_targets"] is None
