"""The application ignores SIGCHLD: a tool that failed silently is no success."""

import json
import os
import subprocess
import sys
from pathlib import Path

CASE = "sigchld-ignored-by-host-process"

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import json, signal, sys
from typing import Annotated
{setup}
from aorta.instrumentation import capture
from aorta.model.codec import dump
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector
from aorta.plugin.discovery import discover


@collector(section="acme.block", model=Annotated[str | None, Fact("x")], provenance=Provenance.PROCESS)
def collect(ctx):
    "What a tool says."
    answer = ctx.command(["acme-tool"])
    return answer.stdout if ctx.take(answer, "") else None


snapshot = capture(registry=discover([collect], outside=False), sections=["acme.block"])
print(json.dumps([dump(snapshot), signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN]))
"""


def captured(tmp_path, script, setup):
    tool = tmp_path / "acme-tool"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "collectors")])
    environ = {**os.environ, "PYTHONPATH": paths, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(setup=setup)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


IGNORE = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"


def test_a_silent_failure_is_no_success(tmp_path):
    document, still_ignored = captured(tmp_path, "exit 3", IGNORE)
    assert document["extensions"]["acme.block"]["data"] is None
    assert document["partial"]
    (reason,) = [one for one in document["collection"]["reasons"] if one["section"] == "acme.block"]
    assert reason["kind"] == "failed"
    (command,) = document["collection"]["collectors"]["acme.block"]["commands"]
    assert command["outcome"] == "exit"
    # It is the application's to change.
    assert still_ignored


def test_a_success_is_one(tmp_path):
    document, still_ignored = captured(tmp_path, "echo seen", IGNORE)
    assert document["extensions"]["acme.block"]["data"] == "seen\n"
    assert not document["partial"]
    assert still_ignored


def test_ignored_since_before_the_interpreter_started(tmp_path):
    document, _ = captured(
        tmp_path,
        "exit 3",
        "import os\nif signal.getsignal(signal.SIGCHLD) != signal.SIG_IGN:\n    signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.executable, [sys.executable, '-c', sys.orig_argv[2]])",
    )
    assert document["extensions"]["acme.block"]["data"] is None
    assert document["partial"]
