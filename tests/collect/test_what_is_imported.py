"""A capture of a machine without torch imports what declares the sections about it, not what reads it."""

import json
import subprocess
import sys

import pytest

GROUPS = ("pytorch", "packages", "loaded", "mangled")
DECLARING = {"pytorch.model", "packages.model", "loaded.model"}
LOOKING = {"pytorch.version_module", "packages.target", "packages.pep440", "loaded.found", "loaded.families"}

PROGRAM = """
import json, sys
from aorta.instrumentation import capture
from aorta.testing import FakeHost

host = FakeHost(files={"/proc/self/maps": "7f00-7f01 r--p 0 08:01 42 /usr/lib/libc.so.6\\n"})
capture(host=host, import_strategy=sys.argv[1])
names = (name.partition("aorta_collectors.")[2] for name in sys.modules)
print(json.dumps([name for name in names if "." in name]))
"""


@pytest.mark.parametrize("strategy", ["child", "in_process"])
def test_what_only_torch_needs_is_not_imported(strategy):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, strategy],
        check=True,
        timeout=100,
        capture_output=True,
        text=True,
    )
    imported = {name for name in json.loads(done.stdout) if name.startswith(GROUPS)}
    assert imported == DECLARING | LOOKING
