"""What buck2 may answer, and what is said of it."""

import json
import signal

import pytest

from tests.parts.buck import LITERAL, PLATFORM, TARGET

CONFIGURED = f"{TARGET} ({PLATFORM}#0123456789abcdef)"
TORCH = f"root//third_party/torch:torch ({PLATFORM}#0123456789abcdef)"


def answered(project, text, **more):
    project.behave("cquery", stdout=text, **more)
    return project.asked("--buck-default-context")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([TORCH, CONFIGURED]),
        json.dumps({LITERAL: [TORCH, CONFIGURED]}),
        json.dumps({TARGET: [TORCH, CONFIGURED]}, indent=4) + "\n\n",
        json.dumps({"x": [TORCH], "y": [CONFIGURED, TORCH]}),
    ],
)
def test_lists_and_objects(project, text):
    ran = answered(project, text)
    assert ran.invocation["status"] == "success"
    assert ran.invocation["configured_root_target"] == CONFIGURED
    (entry,) = ran.libraries
    assert entry == {
        "name": "pytorch",
        "source": "buck",
        "revision": None,
        "target": "root//third_party/torch:torch",
        "configured_target": TORCH,
        "role": "target",
    }


@pytest.mark.parametrize("text", ["[]", f'{{"{LITERAL}": []}}'])
def test_an_empty_graph_is_an_answer(project, text):
    ran = answered(project, text)
    assert ran.invocation["status"] == "success"
    assert ran.libraries == []
    assert ran.invocation["configured_root_target"] is None


def test_a_graph_without_a_known_library(project):
    project.describe(targets={TARGET: {"deps": ["root//lib:numbers"]}, "root//lib:numbers": {}})
    ran = project.asked("--buck-default-context")
    assert (ran.invocation["status"], ran.libraries) == ("success", [])
    assert not ran.reasons("library_introspection")


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "",
        "[1,2,3]",
        "3",
        "null",
        '"x"',
        '{"a": 1}',
        '{"a": [1]}',
        f'["{TARGET}", null]',
        '["not a label"]',
        "{",
        "[" * 5000,
        '["' + "x" * 100,
        f'{{"{LITERAL}": [',
    ],
)
def test_odd_answers(project, text):
    ran = answered(project, text)
    assert ran.code == 0
    assert ran.invocation["status"] == "failure"
    assert ran.libraries is None
    (reason,) = ran.reasons("buck_invocation")
    assert reason["kind"] == "unparsed"
    assert len(reason["detail"]) <= 1000
    assert ran["execution_context"]["likely_execution_platform"] is None


def test_an_error_for_the_literal_with_a_good_exit_status(project):
    ran = answered(project, json.dumps({LITERAL: {"$error": "Unknown target `trainer`\nmore"}}))
    assert ran.invocation["status"] == "failure"
    assert ran.libraries is None
    assert any("Unknown target `trainer`" in reason["detail"] for reason in ran.reasons("buck_invocation"))


def test_a_target_that_is_not_there(project):
    ran = project.asked("--buck-default-context", target="//app:nope")
    assert ran.code == 0
    assert ran.invocation["status"] == "failure"
    assert ran.libraries is None
    (reason,) = ran.reasons("buck_invocation")
    assert reason["kind"] == "failed"
    assert "Unknown target `nope` from package `root//app`" in reason["detail"]
    assert ran["build_system"]["kind"] == "buck2"


@pytest.mark.parametrize("code", [*range(1, 13), 130, 141])
def test_exit_codes(project, code):
    ran = answered(project, "", exit=code, stderr="Command failed: the reason why\n")
    assert ran.code == 0
    assert (ran.invocation["status"], ran.libraries) == ("failure", None)
    (reason,) = ran.reasons("buck_invocation")
    assert "the reason why" in reason["detail"]
    assert str(code) in reason["detail"]


def test_an_answer_of_a_command_that_failed_is_none(project):
    ran = answered(project, json.dumps([TORCH, CONFIGURED]), exit=3, stderr="")
    assert (ran.invocation["status"], ran.libraries) == ("failure", None)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_buck2_dies_of_a_signal(project, number):
    project.behave("cquery", signal=int(number))
    ran = project.asked("--buck-default-context")
    assert (ran.invocation["status"], ran.libraries) == ("failure", None)
    (reason,) = ran.reasons("buck_invocation")
    assert reason["kind"] == "failed"
    assert "signal" in reason["detail"].lower()


def test_texts_that_are_no_utf8(project):
    project.behave("cquery", exit=3, stdout="", stderr_base64="Q29tbWFuZCBmYWlsZWQ6IP/+IG9kZAo=")
    ran = project.asked("--buck-default-context")
    (reason,) = ran.reasons("buck_invocation")
    assert "odd" in reason["detail"]
    json.dumps(ran.document).encode()


def test_errors_are_bounded(project):
    project.behave(
        "cquery", exit=3, stdout="", stderr="Command failed: the reason\n", stderr_bytes=50_000_000
    )
    ran = project.asked("--buck-default-context")
    assert ran.invocation["status"] == "failure"
    assert all(len(reason["detail"]) <= 1000 for reason in ran.reasons())
    assert len(ran.out) < 200_000


def test_much_more_than_is_kept(project):
    project.behave("cquery", stdout="", stdout_bytes=50_000_000)
    ran = project.asked("--buck-default-context")
    assert ran.code == 0
    assert (ran.invocation["status"], ran.libraries) == ("failure", None)
    assert ran.elapsed_s < 30


def test_a_large_graph(project):
    names = [f"root//lib/package_{number}:target_{number}" for number in range(40_000)]
    project.describe(
        targets={TARGET: {"deps": [*names, "root//t:torch"]}, "root//t:torch": {}, **dict.fromkeys(names, {})}
    )
    ran = project.asked("--buck-default-context")
    assert ran.invocation["status"] == "success"
    assert ran.invocation["dependency_count"] >= 40_000
    assert [entry["name"] for entry in ran.libraries] == ["pytorch"]


def test_noise_beside_a_good_answer(project):
    project.behave("cquery", stderr="WARNING: something\n" * 1000)
    ran = project.asked("--buck-default-context")
    assert ran.invocation["status"] == "success"
    assert ran.err == ""


def test_no_buck2(project):
    (project.bin / "buck2").unlink()
    ran = project.asked("--buck-default-context")
    assert ran.code == 0
    assert ran["build_system"]["kind"] in ("none", None)
    assert ran.invocation["status"] == "buck_not_detected"
    assert ran.libraries is None
    (reason,) = ran.reasons("buck_invocation")
    assert "buck2" in str(reason)
    assert "PATH" in reason["detail"]
    assert ran.document["partial"] is True


def test_no_buck2_and_nothing_asked(project, tmp_path):
    (project.bin / "buck2").unlink()
    ran = project.probe(cwd=tmp_path)
    assert ran["build_system"]["kind"] == "none"
    assert not ran.document["partial"]


def test_no_project(project, tmp_path):
    ran = project.asked("--buck-default-context", cwd=tmp_path)
    assert ran.code == 0
    assert ran["build_system"]["kind"] == "none"
    assert ran["build_system"]["repo_root"] is None
    assert ran.invocation["status"] in ("buck_not_detected", "failure")
    assert ran.libraries is None
    assert any("project" in reason["detail"] for reason in ran.reasons("buck_invocation"))


def test_buck2_may_not_be_executed(project):
    (project.bin / "buck2").chmod(0o644)
    ran = project.asked("--buck-default-context")
    assert ran["build_system"]["kind"] is None
    assert ran.libraries is None
    assert ran.reasons(kind="denied")


def test_buck2_is_no_program(project):
    (project.bin / "buck2").write_text("\x7fELF nonsense")
    ran = project.asked("--buck-default-context")
    assert ran.code == 0
    assert ran["build_system"]["kind"] is None
    assert ran.libraries is None


@pytest.mark.parametrize(
    "version", ["<version unavailable>", "0123456789abcdef0123456789abcdef01234567 <build-id>", "x"]
)
def test_versions_are_as_they_are_told(project, version):
    project.describe(version=version)
    assert project.probe(sections=("build_system",))["build_system"]["buck2_version"] == version


def test_a_version_that_is_not_told(project):
    project.behave("--version", exit=1, stdout="", stderr="Command failed: x\n")
    ran = project.asked("--buck-default-context")
    assert ran["build_system"]["kind"] == "buck2"
    assert ran["build_system"]["buck2_version"] is None
    assert [reason["field"] for reason in ran.reasons("build_system") if "version" in reason["field"]]
    assert ran.invocation["status"] == "success"
