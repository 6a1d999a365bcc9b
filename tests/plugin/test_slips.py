"""Slips of authors and users of plugins: each is told in a way that helps."""

import errno
import os
import subprocess
import sys

import pytest

from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost


def test_a_path_of_a_made_up_machine_begins_with_a_slash():
    with pytest.raises(ValueError, match="'sys/x': the paths of a made-up machine begin with /"):
        FakeHost(files={"sys/x": "1"})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"hang": True}, "hang"),
        ({"exitcode": 3}, "exitcode"),
        (errno.EACCES, "int"),
        ({"outcome": "hangs"}, "timed_out"),
    ],
)
def test_an_answer_of_a_command(answer, said):
    with pytest.raises(ValueError, match=said):
        FakeHost(commands={"x": answer})


def test_one_provenance_of_a_fact():
    assert Fact("x", provenance=Provenance.HOST_DEVICE).provenance == (Provenance.HOST_DEVICE,)
    with pytest.raises(TypeError, match="'host' is no Provenance"):
        Fact("x", provenance=("host",))


def test_a_name_that_leaves_nothing_out():
    assert discover(variable="no:rccl,no:nosuch").idle == ("nosuch",)
    assert discover(variable="no:aorta_collectors.rccl,no:host").idle == ()


def test_it_is_told(tmp_path):
    command = [sys.executable, "-m", "aorta", "env", "probe", "--section", "python_version", "-o", "-"]
    env = {**os.environ, "AORTA_PLUGINS": "no:nosuch", "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stderr.splitlines() == [
        "aorta: no:nosuch leaves nothing out: no plugin and no section is called so"
    ]
