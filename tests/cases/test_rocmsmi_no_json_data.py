"""Prose and success where JSON was asked for: a reason with the first line, never {}."""

from aorta.testing import FakeHost, collect

CASE = "rocmsmi-no-json-data"

TOOL = "/usr/local/bin/rdhc"


def test_prose_is_no_empty_block():
    line = ("sudo", "-n", TOOL, "--quick", "--json", "/dev/stdout")
    host = FakeHost(files={TOOL: "#!"}, commands={line: "\nWARNING: No JSON data to report\nmore\n"})
    result = collect(host, "system_health", sudo=True)
    assert result.value is None
    (reason,) = result.reasons
    assert (reason.kind.value, reason.partial) == ("unparsed", True)
    assert "No JSON data" in reason.detail
    assert "more" not in reason.detail.splitlines()[-1].rpartition("report")[2]
