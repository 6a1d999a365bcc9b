"""A tool that ignores SIGTERM and has a child: the section ends in time and nothing is left behind."""

import os
import time
from pathlib import Path

import pytest

from aorta.host.live import LiveHost
from aorta.testing import collect
from aorta_collectors import system_health

CASE = "tool-ignores-sigterm-and-leaves-children"


def left(marker):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = Path(f"/proc/{name}/environ").read_bytes()
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if marker.encode() in environ and state not in "ZX":
            found.append(int(name))
    return found


@pytest.mark.parametrize(
    "body", ["trap '' TERM; sleep 300 & wait", "trap '' TERM HUP; (trap '' TERM; exec sleep 300) & sleep 300"]
)
def test_it_ends_in_time(tmp_path, monkeypatch, body):
    tool, fake_sudo = tmp_path / "rdhc", tmp_path / "sudo"
    tool.write_text(f"#!/bin/sh\n{body}\n")
    fake_sudo.write_text('#!/bin/sh\nshift; exec "$@"\n')
    tool.chmod(0o755)
    fake_sudo.chmod(0o755)
    monkeypatch.setattr(system_health, "TIMEOUT_S", 1.0)
    host = LiveHost(env={"PATH": f"{tmp_path}:/usr/bin:/bin", "AORTA_TEST_MARKER": str(tmp_path)})
    started = time.monotonic()
    try:
        result = collect(host, "system_health", sudo=True, timeouts={"system_health": 5.0})
    finally:
        host.close()
    assert time.monotonic() - started < 8
    assert (result.value, result.kinds()) == (None, ["timed_out"])
    until = time.monotonic() + 3
    while left(str(tmp_path)) and time.monotonic() < until:
        time.sleep(0.05)
    assert left(str(tmp_path)) == []
