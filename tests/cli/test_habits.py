"""Words that are typed by habit: what is meant is said, without the value that was typed."""

import pytest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-c", "a.b=hunter2"], "--buck-option config=KEY=VALUE"),
        (["--config=a.b=hunter2"], "--buck-option config=KEY=VALUE"),
        (["-m", "//c:x"], "--buck-option modifier=M"),
        (["@mode/opt"], "--buck-option mode=PATH"),
        (["--target-platforms", "//p:x"], "--buck-option mode=FILE"),
    ],
)
@pytest.mark.parametrize("command", [["env", "probe"], ["env", "record", "x.jsonl"]])
def test_an_option_of_buck2(cli, command, words, said):
    ran = cli(*command, "--buck-target", "//app:trainer", *words)
    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)
    assert said in ran.err
    assert "hunter2" not in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["env", "prob"], "did you mean probe?"),
        (["validat", "pair"], "did you mean validate?"),
        (["env", "xyzzy"], "see aorta env --help"),
    ],
)
def test_a_command_that_there_is_not(cli, words, said):
    ran = cli(*words)
    assert (ran.code, ran.out, len(ran.lines)) == (2, "", 1)
    assert said in ran.err


def test_one_target(cli):
    ran = cli.probe("--buck-target", "//a:b", "--buck-target", "//c:d")
    assert (ran.code, len(ran.lines)) == (2, 1)
    assert "one target a snapshot" in ran.err


def test_a_target_without_an_answer_is_told(cli):
    ran = cli.probe(
        "--buck-target",
        "//a:b",
        "--section",
        "buck_invocation",
        "-o",
        "x.json",
        env={"PATH": "/usr/bin:/bin"},
    )
    assert ran.code == 0
    assert any(
        "the Buck target has no answer: //a:b was not asked about: buck2: not on PATH" in line
        for line in ran.lines
    )
