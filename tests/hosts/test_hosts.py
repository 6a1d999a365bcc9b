"""Twelve recorded hosts: what a snapshot of each says, against the statements beside its recording."""

import functools
import glob
import json
import os
import subprocess
import sys

import pytest
import yaml

from aorta.host.replay import open_recording
from aorta.instrumentation.environment import capture
from aorta.model.codec import dump, to_json
from aorta.model.sections import ORDER
from aorta.plugin.discovery import discover
from tests.hosts.check_expect import chosen, failures, sections_of

HERE = os.path.dirname(__file__)
HOSTS = sorted(os.path.basename(path)[: -len(".jsonl")] for path in glob.glob(f"{HERE}/*.jsonl"))
ENVELOPE = {"partial", "partial_reasons", "schema_version", "schema_compat", "captured_at", "collection"}


def recording(name):
    return os.path.join(HERE, f"{name}.jsonl")


def statements(name):
    with open(os.path.join(HERE, f"{name}.expect.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


@functools.cache
def delivered():
    return frozenset(discover(outside=False).collectors) | ENVELOPE


def document(name):
    return json.loads(to_json(dump(capture(host=open_recording(recording(name)), detail="full"))))


@pytest.mark.parametrize("name", HOSTS)
def test_every_statement_of_the_delivered_sections_holds(name):
    assert failures(document(name), chosen(statements(name), delivered())) == []


@pytest.mark.parametrize("name", HOSTS)
def test_no_statement_is_about_something_unknown(name):
    assert sections_of(statements(name)) <= {*ORDER, *ENVELOPE}


def test_all_hosts_are_here():
    assert len(HOSTS) == 12
    assert all(len(statements(name)) > 40 for name in HOSTS)


@pytest.mark.parametrize("name", HOSTS)
def test_a_replay_is_repeatable(name):
    """Only what is measured of the capture itself may differ."""
    first, second = document(name), document(name)
    for one in (first, second):
        one.pop("collection")
    assert first == second


@pytest.mark.parametrize("name", HOSTS)
def test_the_program_says_the_same(name, tmp_path):
    out = tmp_path / "env.json"
    command = ["env", "probe", "--extended", "--replay", recording(name), "-o", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "aorta", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = json.loads(out.read_text(encoding="utf-8"))
    assert failures(printed, chosen(statements(name), delivered())) == []
    assert printed["collection"]["host_kind"] == "replay"
