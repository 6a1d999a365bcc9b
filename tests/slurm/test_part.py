"""The cluster itself: it ends with the tests, however these end."""

import shutil
import signal
import subprocess
import sys

import pytest

from tests.parts.probing import ROOT, gone, left_behind
from tests.parts.slurm import two_nodes

HOLDER = """
import sys
from tests.parts.slurm import two_nodes
with two_nodes() as cluster:
    cluster.start("srun", "-N2", "-n2", "sh", "-c", "trap '' TERM; setsid sleep 300", cwd=cluster.folder)
    print(cluster.folder, flush=True)
    sys.stdin.read()
"""


def test_it_ends_with_an_error_in_a_test():
    with pytest.raises(KeyError), two_nodes() as cluster:
        folder = cluster.folder
        assert left_behind(str(folder))
        raise KeyError
    assert gone(str(folder)) == {}
    assert not folder.exists()


def test_it_ends_when_the_tests_are_killed():
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        folder = process.stdout.readline().strip()
        try:
            assert left_behind(folder)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert gone(folder) == {}
        finally:
            shutil.rmtree(folder)
