"""A runtime's word counts with an id; its daemon's unit is on the host."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "ctr-crio-conmon"

LINES = {
    f"0::/kubepods.slice/kubepods-pod6666.slice/crio-{'6f' * 32}.scope/container": True,
    f"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{'7a' * 32}.scope/container": True,
    f"0::/system.slice/docker-{'8b' * 32}.scope": True,
    "0::/system.slice/docker.service": False,
    "0::/system.slice/crio.service": False,
    f"0::/kubepods.slice/crio-conmon-{'6f' * 32}.scope": False,
    f"0::/system.slice/crio-conmon-{'6f' * 32}.scope": False,
}


@pytest.mark.parametrize(("line", "detected"), LINES.items())
def test_lines(line, detected):
    host = FakeHost({"/proc/self/cgroup": f"{line}\n"})
    assert collect(host, "container_detected").value is detected
    identity = collect(host, "isolation").value["container_id"]
    assert (identity is not None) == detected
