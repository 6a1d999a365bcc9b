"""A tool that prints without end: bounded memory, bounded artifact, a reason instead of a value."""

import resource
import time

import pytest

from aorta.host.live import LiveHost
from aorta.testing import collect
from aorta_collectors import system_health

CASE = "output-bounded-stderr"

FLOOD = "head -c 500000000 /dev/zero | tr '\\0' e >&2 & head -c 500000000 /dev/zero | tr '\\0' o; wait; exec sleep 60"


@pytest.mark.parametrize("limit", [3.0])
def test_a_flood(tmp_path, monkeypatch, limit):
    tool, fake_sudo = tmp_path / "rdhc", tmp_path / "sudo"
    tool.write_text(f"#!/bin/sh\n{FLOOD}\n")
    fake_sudo.write_text('#!/bin/sh\nshift; exec "$@"\n')
    tool.chmod(0o755)
    fake_sudo.chmod(0o755)
    monkeypatch.setattr(system_health, "TIMEOUT_S", limit)
    host = LiveHost(env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    try:
        result = collect(host, "system_health", sudo=True)
    finally:
        host.close()
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert time.monotonic() - started < limit + 5
    assert result.value is None
    assert result.kinds() in (["timed_out"], ["unparsed"], ["failed"])
    assert grown_mb < 64
    assert len("".join(reason.detail for reason in result.reasons)) < 4096


def test_a_report_beyond_all_measure(tmp_path):
    from aorta.testing import FakeHost

    tool = "/usr/local/bin/rdhc"
    line = ("sudo", "-n", tool, "--quick", "--json", "/dev/stdout")
    flood = '{"test_results": "' + "x" * 3_000_000 + '"}'
    result = collect(FakeHost(files={tool: "#!"}, commands={line: flood}), "system_health", sudo=True)
    assert (result.value, result.kinds()) == (None, ["unparsed"])
