"""The tool failed under sudo: that is no question of passwords."""

from aorta.testing import FakeHost, collect

CASE = "sudo-failure-vs-tool-failure"

TOOL = "/usr/local/bin/rdhc"
TRACEBACK = "Traceback (most recent call last):\n  ...\nModuleNotFoundError: No module named 'prettytable'\n"


def test_the_tools_last_line_is_the_reason():
    line = ("sudo", "-n", TOOL, "--quick", "--json", "/dev/stdout")
    host = FakeHost(files={TOOL: "#!"}, commands={line: {"exit": 2, "stderr": TRACEBACK}})
    result = collect(host, "system_health", sudo=True)
    (reason,) = result.reasons
    assert (result.value, reason.kind.value) == (None, "failed")
    assert "tool_error" in reason.detail
    assert "prettytable" in reason.detail
    assert "password" not in reason.detail
    assert "Traceback" not in reason.detail
