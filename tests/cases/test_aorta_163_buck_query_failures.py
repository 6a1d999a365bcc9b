"""Each way in which the query fails is one reason; an empty graph is an answer."""

import pytest

from tests.parts.buck import TARGET, Project

CASE = "aorta-163-buck-query-failures"

#: Neither depends on Buck.
OTHERS = ("host", "python_version", "runtime_context")


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def failed(ran, kind):
    assert ran.code == 0
    assert ran.invocation["status"] in ("failure", "buck_not_detected")
    assert ran["library_introspection"] is None
    (reason,) = ran.reasons("buck_invocation")
    assert reason["kind"] == kind
    assert len(reason["detail"]) <= 1000
    assert all(ran[section] is not None for section in OTHERS)
    return reason


def asked(project, *words, **options):
    sections = ("build_system", "buck_invocation", "library_introspection", *OTHERS)
    return project.asked("--buck-default-context", *words, sections=sections, **options)


def test_buck2_is_not_there(project):
    (project.bin / "buck2").unlink()
    ran = asked(project)
    assert ran.invocation["status"] == "buck_not_detected"
    failed(ran, "failed")


def test_it_takes_too_long(project):
    project.behave("cquery", hang=True)
    failed(asked(project, "--buck-timeout", "1"), "timed_out")


def test_a_target_that_is_not_there(project):
    ran = asked(project, target="//app:nope")
    assert "Unknown target `nope` from package `root//app`" in failed(ran, "failed")["detail"]


@pytest.mark.parametrize("text", ["not json", "[1,2,3]", "{}x", '{"a": 3}'])
def test_odd_answers(project, text):
    project.behave("cquery", stdout=text)
    failed(asked(project), "unparsed")


def test_an_empty_graph(project):
    project.behave("cquery", stdout="[]")
    ran = asked(project)
    assert ran.invocation["status"] == "success"
    assert ran["library_introspection"] == []


def test_a_graph_without_a_known_library(project):
    project.describe(targets={TARGET: {}})
    ran = asked(project)
    assert (ran.invocation["status"], ran["library_introspection"]) == ("success", [])
    assert not ran.reasons("library_introspection")
