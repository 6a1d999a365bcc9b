"""Buck asked by a program: ``capture`` and ``capture_to``."""

import json
import os
import subprocess
import sys

import pytest

from aorta.buck.options import BuckContext
from aorta.instrumentation import capture, capture_to
from aorta.model.codec import dump
from tests.parts.buck import LITERAL

SECTIONS = ("build_system", "buck_invocation", "library_introspection")


@pytest.fixture(autouse=True)
def _here(project, monkeypatch):
    monkeypatch.chdir(project.root)
    for name in list(os.environ):
        if name.startswith("AORTA_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", project.environ()["PATH"])


def taken(**options):
    return dump(capture(sections=SECTIONS, buck_target=LITERAL, **options))


def test_a_list_of_texts(project):
    document = taken(buck_context=["modifier=//c:x", "config=a.b=1"])
    assert document["buck_invocation"]["status"] == "success"
    assert document["buck_invocation"]["option_order"] == ["modifier", "config"]
    assert project.context() == ["-m", "//c:x", "-c", "a.b=1"]


def test_each_way_to_say_the_same():
    said = [
        ["config=a.b=1", "modifier=//c:x"],
        ("config=a.b=1", "modifier=//c:x"),
        BuckContext.of(["config=a.b=1", "modifier=//c:x"]),
        BuckContext.grouped(modifiers=["//c:x"], configs=["a.b=1"]),
    ]
    found = {taken(buck_context=each)["buck_invocation"]["context_fingerprint"] for each in said}
    assert len(found) == 1


def test_the_default_and_nothing():
    assert taken(buck_context="default")["buck_invocation"]["context_source"] == "default_confirmed"
    assert taken()["buck_invocation"]["context_source"] == "unspecified"


@pytest.mark.parametrize(
    "options",
    [
        {"buck_context": ["flag=hunter2notreal"]},
        {"buck_context": ["config=x=hunter2notreal"]},
        {"buck_context": "config=a.b=hunter2notreal"},
        {"buck_context": 3},
        {"buck_context": [3]},
        {"buck_context": {"config": "hunter2notreal"}},
        {"buck_timeout": 0},
        {"buck_timeout": float("nan")},
        {"buck_libraries": {"a": "("}},
        {"buck_libraries": {"": "x"}},
    ],
)
def test_what_cannot_be_meant_is_a_value_error(project, options):
    with pytest.raises(ValueError) as caught:
        taken(**options)
    assert "hunter2notreal" not in str(caught.value)
    assert project.calls() == []


@pytest.mark.parametrize("target", ["//a:b?x", "", "a b", "//a:b[x]", "-c"])
def test_targets_that_cannot_be_meant(project, target):
    with pytest.raises(ValueError):
        capture(sections=SECTIONS, buck_target=target, buck_context="default")
    assert project.calls() == []


def test_own_libraries(project):
    document = taken(buck_context="default", buck_libraries={"python_tools": "make_py_package_modules"})
    assert "python_tools" in {entry["name"] for entry in document["library_introspection"]}


def test_a_timeout(project):
    project.behave("cquery", hang=True)
    document = taken(buck_context="default", buck_timeout=1.0)
    assert document["buck_invocation"]["status"] == "failure"
    assert [
        reason["kind"]
        for reason in document["collection"]["reasons"]
        if reason["section"] == "buck_invocation"
    ] == ["timed_out"]


def test_capture_to_on_a_client(project, tmp_path):
    capture_to(tmp_path / "x.json", sections=SECTIONS, buck_target=LITERAL, buck_context="default")
    document = json.loads((tmp_path / "x.json").read_text())
    assert document["buck_invocation"]["status"] == "success"
    assert document["library_introspection"]


@pytest.mark.parametrize("context", ["buck2_run", "buck2_action"])
def test_capture_to_in_a_declared_workload(project, tmp_path, context):
    capture_to(
        tmp_path / "x.json",
        sections=(*SECTIONS, "execution_context"),
        probe_invocation=context,
        buck_target=LITERAL,
        buck_context=["config=a.b=hunter2notreal"],
    )
    text = (tmp_path / "x.json").read_text()
    document = json.loads(text)
    assert document["execution_context"]["probe_invocation"] == context
    assert document["buck_invocation"]["status"] == "failure"
    assert document["library_introspection"] is None
    (reason,) = [each for each in document["collection"]["reasons"] if each["section"] == "buck_invocation"]
    assert context in reason["detail"]
    assert document["partial"] is True
    assert "hunter2notreal" not in text
    assert [call for call in project.calls() if call["argv"][0] == "cquery"] == []
    assert project.calls() == []


def test_the_workload_itself_asks_nothing(project, tmp_path):
    """A program that says what it is without a target."""
    capture_to(tmp_path / "x.json", sections=(*SECTIONS, "execution_context"), probe_invocation="buck2_run")
    document = json.loads((tmp_path / "x.json").read_text())
    assert document["buck_invocation"]["status"] == "not_requested"
    assert project.queries() == []


def test_a_context_tells_nothing_when_it_is_shown():
    context = BuckContext.of(["config=a.b=hunter2notreal", "mode=x", "modifier=//c:y"])
    assert "hunter2notreal" not in repr(context) + str(context) + repr(context.options) + str(context.argv)


def test_a_working_directory_that_is_gone(project):
    place = project.folder / "gone"
    place.mkdir()
    code = (
        "import os, sys\nos.rmdir(os.getcwd())\nfrom aorta.instrumentation import capture\n"
        "from aorta.model.codec import dump, to_json\n"
        f"print(to_json(dump(capture(sections={SECTIONS!r}, buck_target={LITERAL!r}, buck_context='default'))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        env=project.environ(),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["library_introspection"] is None
    assert document["buck_invocation"]["status"] != "success"
