"""`systemd-detect-virt` may say none inside docker: nobody asks it."""

from aorta.testing import FakeHost, collect

CASE = "ctr-systemd-detect-virt-none-in-docker"

HOST = FakeHost(
    {"/.dockerenv": ""},
    commands={"systemd-detect-virt --container": {"exit": 1, "stdout": "none\n"}},
)


def test_the_marker_counts_whatever_the_tool_would_say():
    result = collect(HOST, "container_detected")
    assert result.value is True
    assert not any(reason.partial for reason in result.reasons)
