"""Options that cannot be meant: exit status 2, one line that says what to write, and no value in it."""

import pytest

from tests.parts.buck import LITERAL

SECRET = "hunter2notreal"


def refused(project, *words, command="probe"):
    out = ("-o", "-") if command == "probe" else ("x.jsonl",)
    ran = project.aorta("env", command, *out, *words)
    assert ran.code == 2, ran.err
    assert ran.out == ""
    assert project.calls() == []
    assert SECRET not in ran.err
    message = ran.lines[-1]
    assert message
    assert "Traceback" not in ran.err
    assert len(ran.lines) <= 4
    return message


@pytest.mark.parametrize(
    ("option", "way_out"),
    [
        (f"flag={SECRET}", "mode=PATH"),
        (f"token={SECRET}", "config=KEY=VALUE"),
        (SECRET, "mode=PATH"),
        ("", "mode=PATH"),
        ("mode", "mode=PATH"),
        ("mode=", "mode=PATH"),
        ("mode=@", "mode=PATH"),
        ("modifier=", "modifier=M"),
        ("config=", "config=SECTION.KEY=VALUE"),
        ("config=noequals", "config=SECTION.KEY=VALUE"),
        (f"config=={SECRET}", "config=SECTION.KEY=VALUE"),
        (f"config= ={SECRET}", "config=SECTION.KEY=VALUE"),
        (f"config=undotted={SECRET}", "config=SECTION.KEY=VALUE"),
        (f"config=.b={SECRET}", "config=SECTION.KEY=VALUE"),
        (f"config=a.={SECRET}", "config=SECTION.KEY=VALUE"),
        (f"config=a b.c={SECRET}", "-c KEY=VALUE"),
        (f"@mode/opt -c a.b={SECRET}", "config=KEY=VALUE"),
        (f"-c a.b={SECRET}", "config=KEY=VALUE"),
        (f"--config=a.b={SECRET}", "config=KEY=VALUE"),
        (f"buck2 cquery @mode/opt -c a.b={SECRET} 'deps(%s)' //a:b", "config=KEY=VALUE"),
        (f"mode=mode/opt -c a.b={SECRET}", "one option for each"),
        (f"modifier=//c:x -c a.b={SECRET}", "one option for each"),
        (f"config=a.b={SECRET} -c a.c=2 @mode/opt", "one option for each"),
        (f"config=a.b={SECRET} -m //c:x", "one option for each"),
        (f"Config=a.b={SECRET}", "config=KEY=VALUE"),
        (f" config=a.b={SECRET}", "config=KEY=VALUE"),
    ],
)
@pytest.mark.parametrize("command", ["probe", "record"])
def test_one_option(project, option, way_out, command):
    message = refused(project, "--buck-target", LITERAL, "--buck-option", option, command=command)
    assert way_out in message


@pytest.mark.parametrize(
    ("words", "way_out"),
    [
        (["--buck-config", f"undotted={SECRET}"], "SECTION.KEY=VALUE"),
        (["--buck-config", "a.b"], "SECTION.KEY=VALUE"),
        (["--buck-mode-file", ""], "PATH"),
        (["--buck-modifier", " "], "M"),
    ],
)
def test_grouped_options(project, words, way_out):
    assert way_out in refused(project, "--buck-target", LITERAL, *words)


@pytest.mark.parametrize(
    "words",
    [
        ["--buck-option", f"config=a.b={SECRET}"],
        ["--buck-config", f"a.b={SECRET}"],
        ["--buck-mode-file", "mode/a"],
        ["--buck-modifier", "//c:x"],
        ["--buck-default-context"],
    ],
)
def test_a_context_without_a_target(project, words):
    assert "--buck-target" in refused(project, *words)


@pytest.mark.parametrize(
    "words",
    [
        ["--buck-option", f"config=a.b={SECRET}", "--buck-config", f"a.c={SECRET}"],
        ["--buck-option", "mode=mode/a", "--buck-mode-file", "mode/b"],
        ["--buck-option", "mode=mode/a", "--buck-modifier", "//c:x"],
        ["--buck-option", "mode=mode/a", "--buck-default-context"],
        ["--buck-mode-file", "mode/a", "--buck-default-context"],
    ],
)
def test_mixed_forms(project, words):
    assert "--buck-" in refused(project, "--buck-target", LITERAL, *words)


@pytest.mark.parametrize(
    ("target", "way_out"),
    [
        ("//app:trainer?mi350", "modifier=mi350"),
        ("//app:trainer?a+b", "modifier=b"),
        ("//app:trainer[x]", "//app:trainer"),
        ("//app:trainer#x", "//app:trainer"),
        ("//app:a=b", "alias("),
        ("//app:a~b", "alias("),
        ("//app:a!b", "alias("),
        ("//app:a+b", "alias("),
        ("//app:a,b", "alias("),
        ("", "//app:trainer"),
        (" ", "//app:trainer"),
        ("trainer", "//app:trainer"),
        ("-c", "mode=PATH"),
        ("--json", "mode=PATH"),
        (f"//app:trainer -c a.b={SECRET}", "config=KEY=VALUE"),
        ("//app:a%sb", "alias("),
        ("//app:a)b", "alias("),
        ("//app:a\nb", "label"),
    ],
)
def test_targets(project, target, way_out):
    assert way_out in refused(project, "--buck-target", target, "--buck-default-context")


@pytest.mark.parametrize("context", ["buck2_run", "buck2_action"])
def test_a_target_in_a_declared_workload(project, context):
    message = refused(
        project, "--buck-target", LITERAL, "--buck-default-context", "--execution-context", context
    )
    assert "--execution-context" in message or context in message


@pytest.mark.parametrize("library", ["noequals", "=x", "a=", "a=(", "a b=x", "=", f"{'n' * 100}=x"])
def test_libraries(project, library):
    refused(project, "--buck-target", LITERAL, "--buck-default-context", "--buck-library", library)


def test_a_library_with_two_patterns(project):
    """The second one must not take the place of the first unsaid."""
    two = ("--buck-library", "site=:a$", "--buck-library", "site=:b$")
    assert "site has two patterns" in refused(
        project, "--buck-target", LITERAL, "--buck-default-context", *two
    )


@pytest.mark.parametrize(
    ("option", "key", "value"),
    [
        ("config=build.cflags=-DX=1 -DY=2", "build.cflags", "-DX=1 -DY=2"),
        ("config=remote.token=hunter2-not-real", "remote.token", "hunter2-not-real"),
        ("config=a.url=http://x/?a=b&c=d,e", "a.url", "http://x/?a=b&c=d,e"),
        ("config=root//a.b.c=x//y", "root//a.b.c", "x//y"),
        ("config=a.b=", "a.b", ""),
        ("config=a.b== =", "a.b", "= ="),
        ("config=a.b= x ", "a.b", " x "),
        ("config=a.b='quoted \"text\"'", "a.b", "'quoted \"text\"'"),
        ("config=a.b=two\nlines", "a.b", "two\nlines"),
        ("config=a.b=é漢", "a.b", "é漢"),
    ],
)
def test_values_are_split_once_and_left_alone(project, option, key, value):
    ran = project.asked("--buck-option", option, sections=("buck_invocation",))
    assert ran.code == 0, ran.err
    assert project.context() == ["-c", f"{key}={value}"]
    assert ran.invocation["config_keys"] == [key]
    assert ran.invocation["status"] == "success"
