"""Snapshots of a Buck client and of a workload, taken on the stand-in for buck2."""

import json
import re
import subprocess
import sys

import pytest

from tests.parts.buck import LITERAL, Project
from tests.parts.compared import Found


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def snapshot(project, *words, **env):
    command = [sys.executable, "-m", "aorta", "env", "probe", "--json", *words]
    done = subprocess.run(
        command,
        cwd=project.root,
        env=project.environ(**env),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    return json.loads(done.stdout)


def client(project, *options):
    return snapshot(project, "--buck-target", LITERAL, *options)


CONFIG = ("--buck-option", "config=a.b=1")


def test_two_clients_of_one_context_have_no_difference(project):
    """Also where the daemon was started anew, which gives configurations another hash, and in another order."""
    one, other = client(project, *CONFIG), client(project, "--buck-config", "a.b=1")
    assert Found(one, other).kinds == ([], [], [])
    text = json.dumps(other)
    hashes = set(re.findall(r"#([0-9a-f]{16})\b", text))
    assert hashes
    for number, each in enumerate(sorted(hashes)):
        text = text.replace(each, f"{number:016x}")
    other = json.loads(text)
    other["library_introspection"].reverse()
    found = Found(one, other)
    assert found.kinds == ([], [], [])
    assert found.comparison.views.a == "client"


def test_another_value_of_the_configuration_is_another_fingerprint(project):
    found = Found(client(project, *CONFIG), client(project, "--buck-option", "config=a.b=2"))
    assert found.differences == ["buck_invocation.context_fingerprint"]
    assert not found.unknown


def test_an_unspecified_context_has_no_fingerprint_to_compare(project):
    found = Found(client(project, *CONFIG), client(project))
    assert "buck_invocation.context_fingerprint" in found.unknown
    assert "buck_invocation.context_source" in found.differences


def test_a_client_and_a_workload_are_two_views(project):
    workload = snapshot(project, "--execution-context", "buck2_run", BUCK_RUN_BUILD_ID="1")
    found = Found(client(project, *CONFIG), workload)
    assert found.comparison.views.differ
    assert {"library_introspection", "execution_context.likely_execution_platform"} <= set(found.unknown)
    assert "execution_context.probe_invocation" in found.differences
    print(found.differences)
    assert all(path.startswith("execution_context.") for path in found.differences)
