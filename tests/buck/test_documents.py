"""The documents of a Buck client: their schema, their form of 1.x, their fields, their replays."""

import json

import jsonschema
import pytest

from aorta.validate.document import Document, UnreadableError
from aorta.validate.finding import ERROR
from aorta.validate.judge import judge
from aorta.validate.options import Options
from tests.parts.buck import LITERAL, REMOTE, SECTIONS, TARGET
from tests.parts.checkouts import git_checkout


@pytest.fixture(scope="module")
def schema():
    """The schema that the command prints, checked once."""
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "aorta", "schema", "show"], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


#: A target and its options, a secret among them.
ASKED = (
    *("--buck-target", LITERAL),
    *("--buck-option", "mode=mode/opt"),
    *("--buck-option", "config=a.b=hunter2notreal"),
)


@pytest.fixture
def taken(project):
    """Write a full snapshot of a client and return it."""
    git_checkout(project.root)
    project.mode("mode/opt", "-c", "a.b=1")
    ran = project.aorta("env", "probe", *ASKED, "-o", "client.json")
    assert ran.code == 0, ran.err
    return json.loads((project.root / "client.json").read_text())


def test_a_whole_document(project, taken, schema):
    assert list(schema.iter_errors(taken)) == []
    assert taken["buck_invocation"]["status"] == "success"
    assert taken["schema_version"].startswith("2.")


@pytest.mark.parametrize("target", ["//app:nope", "//third_party/..."])
def test_documents_of_what_failed(project, schema, target):
    for words in (["--buck-default-context"], []):
        ran = project.asked(*words, target=target)
        assert list(schema.iter_errors(ran.document)) == []


def test_odd_rows_fit_the_schema(project, schema):
    rows = [
        "root//t:torch",
        "//t:rccl (root//p:x#0123456789abcdef)",
        "root//t:triton (a) (b)",
        f"{TARGET} (<unspecified>)",
        "root//:miopen ()",
    ]
    project.behave("cquery", stdout=json.dumps({LITERAL: rows}))
    ran = project.asked("--buck-default-context")
    assert ran.invocation["status"] == "success"
    assert list(schema.iter_errors(ran.document)) == []
    assert {entry["name"] for entry in ran.libraries} == {"pytorch", "rccl", "triton", "miopen"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("library_introspection[0].source", "buck"),
        ("library_introspection[0].role", "target"),
        ("buck_invocation.status", "success"),
        ("buck_invocation.option_order[1]", "config"),
        ("buck_invocation.config_keys", ["a.b"]),
        ("buck_invocation.mode_file_contents[0].mode", "mode/opt"),
        ("execution_context.likely_execution_platform", REMOTE),
        ("build_system.revision_source", "git"),
        # The mode file was written after the commit, and is not known to git.
        ("build_system.dirty", False),
    ],
)
def test_fields(project, taken, field, value):
    ran = project.aorta("env", "show", "client.json", "--field", field)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out) == value


def test_the_form_of_1_17(project, taken):
    ran = project.aorta("env", "show", "client.json", "--as", "1.17")
    assert ran.code == 0, ran.err
    old = json.loads(ran.out)
    assert old["schema_version"] == "1.17"
    assert set(old["build_system"]) == {"kind", "buck2_version", "repo_root", "revision"}
    assert set(old["buck_invocation"]) == {
        "status",
        "target",
        "context_source",
        "mode_files",
        "config_keys",
        "modifiers",
        "option_order",
        "context_fingerprint",
        "configured_root_target",
        "comparison",
    }
    for name in (
        "status",
        "target",
        "context_source",
        "mode_files",
        "config_keys",
        "option_order",
        "comparison",
    ):
        assert old["buck_invocation"][name] == taken["buck_invocation"][name]
    assert old["buck_invocation"]["context_fingerprint"]
    assert set(old["execution_context"]) == {"probe_invocation", "likely_execution_platform"}
    # One row a library, and none that only a build tool uses.
    names = [entry["name"] for entry in old["library_introspection"]]
    assert sorted(names) == ["hipblaslt", "pytorch", "rccl"]
    for entry in old["library_introspection"]:
        assert set(entry) == {"name", "source", "revision", "target", "configured_target"}
        assert entry["target"] + " (" == entry["configured_target"][: len(entry["target"]) + 2]
    assert isinstance(old["library_introspection_alternates"], list)
    assert "hunter2notreal" not in ran.out


def test_the_gate_takes_the_form_of_1_17_as_a_clients(project, taken):
    """What the established line says of a client is enough for the rules about one."""
    old = json.loads(project.aorta("env", "show", "client.json", "--as", "1.17").out)
    names = ["client.json", "workload.json"]
    wanted = Options(libraries=("pytorch", "rccl"))
    for document in (taken, old):
        verdict = judge(names, [Document(names[0], document), UnreadableError("not here")], wanted)
        found = {finding.rule for finding in verdict.findings if finding.severity == ERROR}
        assert found == {"file.readable"}
        assert {"client.schema", "client.status", "client.library"} <= verdict.asked


def test_nothing_asked_in_the_form_of_1_17(project):
    (project.root / "x.json").write_text(project.probe().out)
    ran = project.aorta("env", "show", "x.json", "--as", "1.17")
    old = json.loads(ran.out)
    assert old["buck_invocation"]["status"] == "not_requested"
    assert old["library_introspection"] == []
    assert old["library_introspection_alternates"] == []


def test_a_failed_query_in_the_form_of_1_17(project):
    (project.root / "x.json").write_text(project.asked("--buck-default-context", target="//app:nope").out)
    old = json.loads(project.aorta("env", "show", "x.json", "--as", "1.17").out)
    assert old["buck_invocation"]["status"] == "failure"
    assert old["library_introspection"] == []
    assert old["partial"] is True
    assert any("nope" in reason for reason in old["partial_reasons"])


def test_a_replay_tells_the_same(project):
    git_checkout(project.root)
    project.mode("mode/opt", "-c", "a.b=1")
    first = project.asked(*ASKED[2:])
    assert project.aorta("env", "record", "host.jsonl", *ASKED).code == 0
    calls = len(project.calls())
    (project.bin / "buck2").unlink()
    replayed = project.probe("--replay", "host.jsonl", *ASKED)
    assert replayed.code == 0, replayed.err
    for section in SECTIONS:
        assert replayed[section] == first[section], section
    assert len(project.calls()) == calls
    assert "hunter2notreal" not in (project.root / "host.jsonl").read_text()


def test_a_replay_of_a_recording_without_the_target(project):
    assert project.aorta("env", "record", "host.jsonl").code == 0
    ran = project.asked("--buck-default-context", "--replay", "host.jsonl")
    assert ran.code == 0, ran.err
    assert ran.invocation["status"] == "failure"
    assert ran.reasons("buck_invocation", "not_recorded")
    assert ran.libraries is None
    ran = project.probe("--replay", "host.jsonl")
    assert ran.invocation["status"] == "not_requested"


def test_a_replay_without_the_target_of_a_recording_with_one(project):
    words = ("--buck-target", LITERAL, "--buck-default-context")
    assert project.aorta("env", "record", "host.jsonl", *words).code == 0
    ran = project.probe("--replay", "host.jsonl")
    assert ran.invocation["status"] == "not_requested"
    assert ran["build_system"]["kind"] == "buck2"


def test_another_value_of_a_config_is_not_told_as_recorded(project):
    """A recording holds no values: only what was asked with the same words up to them is answered."""
    words = ("--buck-target", LITERAL, "--buck-option")
    assert project.aorta("env", "record", "host.jsonl", *words, "config=a.b=hunter2notreal").code == 0
    same = project.probe("--replay", "host.jsonl", *words, "config=a.b=hunter2notreal")
    assert same.invocation["status"] == "success"
    other = project.probe("--replay", "host.jsonl", *words, "config=a.c=hunter2notreal")
    assert other.invocation["status"] == "failure"


def test_a_declared_workload_from_its_environment(project):
    ran = project.asked("--buck-default-context", env={"AORTA_PROBE_INVOCATION": "buck2_action"})
    assert (ran.code, ran.out) == (2, "")
    assert project.calls() == []


def test_the_summary(project, taken):
    ran = project.aorta("env", "show", "client.json")
    assert ran.code == 0
    assert "hunter2notreal" not in ran.out
    assert LITERAL in ran.out
    ran = project.aorta(
        "env", "probe", "--buck-target", LITERAL, "--buck-default-context", "--summary", "-o", "x.json"
    )
    assert ran.code == 0
    assert LITERAL in ran.out + ran.err
