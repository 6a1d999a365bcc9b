"""Values are split once and told nowhere, also where buck2 itself repeats them."""

import pytest

from tests.parts.buck import LITERAL, Project

CASE = "buck-option-parsing-edge-cases"

SECRET = "hunter2-not-real"
GOOD = {
    "config=build.cflags=-DX=1 -DY=2": ["-c", "build.cflags=-DX=1 -DY=2"],
    f"config=remote.token={SECRET}": ["-c", f"remote.token={SECRET}"],
    "mode=@root//mode/dev": ["@root//mode/dev"],
    "modifier=//constraints:linux": ["-m", "//constraints:linux"],
}
BAD = (
    "config=noequals",
    "config==x",
    "flag=--local-only",
    "mode=",
    f"config=token={SECRET}",
    f"key={SECRET}",
)


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    made.mode("mode/dev", "-c", "a.b=1")
    return made


def test_each_good_one(project):
    words = [word for option in GOOD for word in ("--buck-option", option)]
    ran = project.asked(*words)
    assert ran.invocation["status"] == "success"
    assert project.context() == [word for given in GOOD.values() for word in given]
    assert ran.invocation["config_keys"] == ["build.cflags", "remote.token"]
    assert ran.invocation["mode_files"] == ["root//mode/dev"]
    assert ran.invocation["modifiers"] == ["//constraints:linux"]
    assert SECRET not in ran.out + ran.err
    assert "-DX" not in ran.out + ran.err


@pytest.mark.parametrize("option", BAD)
def test_each_bad_one(project, option):
    ran = project.asked("--buck-option", option)
    assert (ran.code, ran.out) == (2, "")
    assert SECRET not in ran.err
    assert project.calls() == []


@pytest.mark.parametrize(
    "text", ["Error: invalid config `remote.token={}`", "bad value {}", '["remote.token={}"]']
)
def test_buck2_repeats_it(project, text):
    project.behave("cquery", exit=3, stdout=text.format(SECRET), stderr=f"{text.format(SECRET)}\n")
    ran = project.asked("--buck-option", f"config=remote.token={SECRET}", env={"AORTA_DEBUG": "1"})
    assert ran.invocation["status"] == "failure"
    (reason,) = ran.reasons("buck_invocation")
    assert text.partition("{")[0].strip() in reason["detail"]
    assert SECRET not in ran.out + ran.err
    recorded = project.aorta(
        *("env", "record", "x.jsonl", "--buck-target", LITERAL),
        *("--buck-option", f"config=remote.token={SECRET}"),
    )
    assert recorded.code == 0
    assert SECRET not in (project.root / "x.jsonl").read_text() + recorded.err
