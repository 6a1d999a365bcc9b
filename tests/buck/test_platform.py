"""The execution platform that buck2 selected for the target."""

import json

import pytest

from tests.parts.buck import EXECUTION, LITERAL, PLATFORM, REMOTE, TARGET

SOURCE = "cquery:buck.execution_platform"
QUERY = "cquery -a"


def told(project, *words, **options):
    ran = project.asked("--buck-default-context", *words, **options)
    context = ran["execution_context"]
    return ran, context["likely_execution_platform"], context["likely_execution_platform_source"]


def test_it_is_the_one_of_the_target(project):
    ran, platform, source = told(project)
    assert (platform, source) == (REMOTE, SOURCE)
    assert not ran.reasons("execution_context")
    assert ran["execution_context"]["probe_invocation"] == "direct"


def test_the_literal_of_a_project_without_platforms_is_kept(project):
    project.describe(execution_platform=None, execution_platforms={})
    _, platform, source = told(project)
    assert (platform, source) == ("<legacy_global_exec_platform>", SOURCE)


def test_no_platform_fits(project):
    project.describe(execution_platforms={TARGET: "<NONE>"})
    ran, platform, source = told(project)
    assert (platform, source) == (None, None)
    assert ran.reasons("execution_context")


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "not json", "", "3", '{"a": {}}', '{"a": {"buck.execution_platform": 3}}', "[" * 3000],
)
def test_odd_answers(project, text):
    project.behave(QUERY, stdout=text)
    ran, platform, source = told(project)
    assert (platform, source) == (None, None)
    assert ran.invocation["status"] == "success"
    assert ran.reasons("execution_context")


def test_the_second_query_fails(project):
    project.behave(QUERY, stdout="", stderr="Command failed: no platform today\n", exit=3)
    ran, platform, source = told(project)
    assert (platform, source) == (None, None)
    assert ran.invocation["status"] == "success"
    assert {entry["name"] for entry in ran.libraries} == {"pytorch", "rccl", "hipblaslt"}
    assert any("no platform today" in reason["detail"] for reason in ran.reasons("execution_context"))


def test_the_second_query_hangs(project):
    project.behave(QUERY, hang=True)
    ran, platform, source = told(project, "--buck-timeout", "2")
    assert (platform, source) == (None, None)
    assert ran.invocation["status"] == "success"
    assert ran.reasons("execution_context", "timed_out")
    assert ran.elapsed_s < 12


def test_the_first_query_fails(project):
    ran, platform, source = told(project, target="//app:nope")
    assert (platform, source) == (None, None)
    assert ran.reasons("execution_context")


def test_several_roots_with_one_platform_or_more(project):
    rows = {
        f"{TARGET} ({PLATFORM}#0123456789abcdef)": {"buck.execution_platform": REMOTE},
        f"{TARGET} (root//p:other#0123456789abcdef)": {"buck.execution_platform": EXECUTION},
    }
    project.behave(QUERY, stdout=json.dumps(rows))
    ran, platform, source = told(project)
    assert (platform, source) == (None, None)
    assert ran.reasons("execution_context")


def test_no_target(project):
    ran = project.probe()
    assert ran["execution_context"]["likely_execution_platform"] is None
    assert ran["execution_context"]["likely_execution_platform_source"] is None
    assert not ran.document["partial"]


def test_no_buck2(project):
    (project.bin / "buck2").unlink()
    _, platform, source = told(project)
    assert (platform, source) == (None, None)


def test_the_context_is_that_of_the_first_query(project):
    project.mode("mode/a", "-m", "//c:x")
    project.asked("--buck-option", "mode=mode/a", "--buck-option", "config=a.b=1")
    first, second = sorted(project.queries(), key=lambda words: "-a" in words)
    context = ["@mode/a", "-c", "a.b=1"]
    assert first == ["cquery", "--console", "none", *context, "deps(%s)", LITERAL, "--json"]
    assert second == ["cquery", "--console", "none", *context, "-a", r"^buck\.execution_platform$", LITERAL]
