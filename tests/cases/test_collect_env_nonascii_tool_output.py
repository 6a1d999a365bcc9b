"""A tool prints bytes that are not ASCII, under a C locale: the report is valid UTF-8 all the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

CASE = "collect-env-nonascii-tool-output"

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
from typing import Annotated
from aorta.instrumentation import capture_to
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector
from aorta.plugin.discovery import discover


@collector(section="acme.model", model=Annotated[str | None, Fact("x")], provenance=Provenance.PROCESS)
def collect(ctx):
    "What lscpu says."
    return ctx.take(ctx.command(["lscpu"]), "").stdout


capture_to("env.json", registry=discover([collect], outside=False), sections=["acme.model", "env_vars"])
"""


def test_bytes_of_two_encodings(tmp_path):
    tool = tmp_path / "lscpu"
    # UTF-8, then a lone byte of Latin-1
    tool.write_bytes(
        b"#!/bin/sh\nprintf '\\115\\157\\144\\145\\154\\154\\156\\141\\155\\145: Ger\\303\\244t\\344'\n"
    )
    tool.chmod(0o755)
    environ = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "collectors")]),
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    made = json.loads((tmp_path / "env.json").read_bytes().decode("utf-8"))
    assert made["extensions"]["acme.model"]["data"] == "Modellname: Gerät\N{REPLACEMENT CHARACTER}"
