"""A plugin that hangs is cut by its deadline like a built-in one, and named.

What holds the interpreter's lock for ever cannot be stopped from inside the process; a busy loop in
Python, a child process, a sleeping thread and a file system that does not answer can.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from aorta.model.codec import parse_json
from tests.parts.uncovered import UNCOVERED

CASE = "plugin-ignores-global-timeout"

ROOT = Path(__file__).resolve().parents[2]

PLUGIN = """
import os, subprocess, time
from typing import Annotated, Any
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector

@collector(section="acme.hang", model=Annotated[Any, Fact("x")], provenance=Provenance.PROCESS, timeout_s=5)
def collect(ctx):
    "A section."
    {body}
"""

VARIANTS = {
    "blocks in a child process": "subprocess.run(['sleep', '31.7'])",
    "busy loop": "\n    while True: pass",
    "sleeps": "time.sleep(600)",
    "a command of ours": "return ctx.command(['sleep', '600'], timeout=600).detail",
    "reads a pipe that nobody writes": "return open('pipe').read()",
}


def captured(tmp_path, body):
    (tmp_path / "acme_hang.py").write_text(PLUGIN.format(body=body))
    os.mkfifo(tmp_path / "pipe")
    program = textwrap.dedent("""
        from aorta.instrumentation import capture_to
        capture_to("env.json", sections=["acme.hang", "host", "execution_context"], timeouts={"acme.hang": 1.0})
        print("the application goes on", flush=True)
    """)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "collectors"), str(tmp_path)])
    environ = {**UNCOVERED, "PYTHONPATH": paths, "AORTA_PLUGINS": "acme_hang"}
    begun = time.monotonic()
    # Files, not pipes: a child that the plugin started by itself would hold a pipe open.
    with open(tmp_path / "out", "w+") as out, open(tmp_path / "err", "w+") as err:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=environ,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    try:
        code = process.wait(timeout=45)
        elapsed = time.monotonic() - begun
        return (tmp_path / "out").read_text(), (tmp_path / "err").read_text(), code, elapsed
    finally:
        left = [pid for pid in os.listdir("/proc") if pid.isdigit() and session_of(pid) == process.pid]
        if left:
            os.killpg(process.pid, signal.SIGKILL)


def session_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
            return int(stream.read().rpartition(")")[2].split()[3])
    except (OSError, ValueError, IndexError):
        return None


@pytest.mark.parametrize("name", VARIANTS)
def test_it_is_cut_and_named(name, tmp_path):
    out, err, code, elapsed = captured(tmp_path, VARIANTS[name])
    assert (out, code) == ("the application goes on\n", 0), err
    assert elapsed < 15
    made = parse_json((tmp_path / "env.json").read_text())
    assert made["host"]["kernel_release"]
    assert made["collection"]["collectors"]["host"]["status"] in ("ok", "partial")
    record = made["collection"]["collectors"]["acme.hang"]
    assert record["plugin"] == "acme_hang"
    if name == "a command of ours":
        # Cut by the Context before the section's own deadline: its end is told, not lost.
        assert "no end within 0." in made["extensions"]["acme.hang"]["data"]
        return
    assert record["status"] == "timed_out"
    (text,) = [one for one in made["partial_reasons"] if one.startswith("acme.hang")]
    assert "it had 1 s and acme.hang was at" in text
    assert "(plugin acme_hang)" in text
    assert record["hung_at"].startswith(str(tmp_path / "acme_hang.py")) or "(" not in record["hung_at"]


def test_no_process_of_ours_is_left(tmp_path):
    captured(tmp_path, "return ctx.command(['sleep', '601.5'], timeout=600).detail")
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            left.append(Path(f"/proc/{pid}/cmdline").read_bytes())
        except OSError:
            continue
    assert b"sleep\x00601.5\x00" not in left


def test_the_reason_names_the_distribution(tmp_path):
    info = tmp_path / "acme_tools-3.4.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-tools\nVersion: 3.4\n")
    (info / "entry_points.txt").write_text("[aorta.collectors]\nacme-tools = acme_hang\n")
    (tmp_path / "acme_hang.py").write_text(PLUGIN.format(body="time.sleep(600)"))
    program = "from aorta.instrumentation import capture_to; capture_to('env.json', sections=['acme.hang'], deadline_s=4)"
    paths = os.pathsep.join([str(ROOT), str(ROOT / "collectors"), str(tmp_path)])
    environ = {**os.environ, "PYTHONPATH": paths, "AORTA_PLUGINS": ""}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environ, check=True, timeout=100)
    made = json.loads((tmp_path / "env.json").read_text())
    (text,) = made["partial_reasons"]
    assert "the capture had 4 s and acme.hang was at" in text
    assert "(plugin acme-tools)" in text
    (record,) = [one for one in made["collection"]["plugins"] if one["name"] == "acme-tools"]
    assert record["version"] == "3.4"
