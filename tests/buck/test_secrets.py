"""Fifty config values in every channel: no part of any stands in anything that aorta writes."""

import json
import subprocess
import sys

import pytest

from aorta.buck.options import BuckContext
from aorta.instrumentation import capture
from aorta.model.codec import dump, to_json
from tests.parts.buck import LITERAL
from tests.parts.buck_secrets import SECRETS

FORMS = (
    "plain",
    "values",
    "json",
    "json_unicode",
    "json_twice",
    "rust",
    "shell",
    "python",
    "url",
    "indented",
    "upper_key",
)
TARGET = ("--buck-target", LITERAL)


def ordered(pairs=None):
    return [word for pair in pairs or SECRETS.pairs() for word in ("--buck-option", f"config={pair}")]


def grouped():
    return [word for pair in SECRETS.pairs() for word in ("--buck-config", pair)]


def test_the_values_reach_buck2(project, clean):
    ran = clean(project.asked(*ordered()))
    assert (ran.code, ran.invocation["status"]) == (0, "success")
    assert project.context() == [word for pair in SECRETS.pairs() for word in ("-c", pair)]
    assert ran.invocation["config_keys"] == [f"s{number}.key{number}" for number in range(50)]
    again = clean(project.asked(*grouped()))
    assert again.invocation["context_fingerprint"] == ran.invocation["context_fingerprint"]


def test_the_search_finds_what_is_told(project):
    """The test can fail: a file with one of the values in any form is found."""
    for value in SECRETS.values:
        for text in (value, json.dumps({"x": value}), repr(value), f"x {value[:40]}"):
            (project.folder / "leak").write_text(text)
            assert SECRETS.in_files([project.folder], [project.folder / "buck2.json"]), (value, text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("code", [0, 3])
def test_buck2_says_them_again(project, clean, form, code):
    for place in ("stderr", "stdout", "error"):
        project.behave("cquery", exit=code, echo=[{"to": place, "form": form}])
        ran = clean(project.asked(*ordered()))
        assert ran.code == 0
        assert ran.invocation["status"] == ("failure" if code or place != "stderr" else "success")


@pytest.mark.parametrize(
    ("place", "code", "forms"),
    [
        ("stderr", 3, ("values", "rust", "json", "shell", "python", "url")),
        ("error", 3, ("values",)),
        ("error", 3, ("rust",)),
        ("error", 0, ("json",)),
    ],
)
def test_each_value_alone(project, place, code, forms):
    """One is not masked because another one is: 50 programs' worth of captures in one process."""
    program = (
        "import json, sys\nfrom aorta.instrumentation import capture\nfrom aorta.model.codec import dump, to_json\n"
        "for pair in json.load(open(sys.argv[1])):\n"
        "    print(to_json(dump(capture(sections=('buck_invocation',), buck_target='//app:trainer',"
        " buck_context=['config=' + pair]))))\n"
    )
    project.behave("cquery", exit=code, echo=[{"to": place, "form": form} for form in forms])
    (project.folder / "pairs.json").write_text(json.dumps(SECRETS.pairs()))
    done = subprocess.run(
        [sys.executable, "-c", program, project.folder / "pairs.json"],
        cwd=project.root,
        env=project.environ(),
        capture_output=True,
        text=True,
        timeout=55,
    )
    assert done.returncode == 0, done.stderr
    assert len(project.queries()) >= 50
    assert SECRETS.in_text(done.stdout) == []
    assert SECRETS.in_text(done.stderr) == []


@pytest.mark.parametrize("shift", range(0, 40, 8))
@pytest.mark.parametrize("place", ["stderr", "stdout"])
def test_what_is_printed_is_cut_in_the_middle_of_one(project, clean, place, shift):
    project.behave("cquery", exit=3, echo=[{"to": place, "form": "values", "repeat": 500, "shift": shift}])
    clean(project.asked(*ordered()))


@pytest.mark.parametrize("option", ["--progress", "--summary", "--extended"])
def test_options_of_the_command(project, clean, option):
    project.behave("cquery", exit=3, echo=[{"to": "stderr", "form": "plain"}])
    clean(
        project.aorta("env", "probe", *TARGET, *ordered(), option, "-o", "x.json", env={"AORTA_DEBUG": "1"})
    )
    assert (project.root / "x.json").exists()
    clean(project.aorta("env", "show", "x.json"))


def test_the_words_of_the_command_are_told_without_them(project, clean):
    ran = clean(project.asked(*ordered()))
    argv = ran.document["collection"]["argv"]
    assert "--buck-target" in argv
    assert any("s7.key7" in word for word in argv)
    ran = clean(project.asked(*grouped()))
    assert any("s7.key7" in word for word in ran.document["collection"]["argv"])
    words = [f"--buck-option=config={pair}" for pair in SECRETS.pairs()]
    clean(project.asked(*words))
    clean(project.asked(*(f"--buck-config={pair}" for pair in SECRETS.pairs())))


def test_a_recording_and_its_replay(project, clean):
    for number, echo in enumerate(
        ([], [{"to": "stderr", "form": "rust"}], [{"to": "stdout", "form": "json"}])
    ):
        project.behave("cquery", exit=3 if echo else 0, echo=echo)
        name = f"host{number}.jsonl"
        ran = clean(project.aorta("env", "record", name, *TARGET, *ordered(), "--progress"))
        assert ran.code == 0
        sections = "build_system,buck_invocation,library_introspection,execution_context"
        words = ("env", "probe", "--replay", name, "--section", sections, "-o", "-")
        replayed = clean(project.aorta(*words, *TARGET, *ordered()))
        assert replayed.code == 0
        assert replayed.invocation["status"] == ("failure" if echo else "success")


def test_a_deadline_that_cuts(project, clean):
    project.behave(
        "cquery", hang=True, echo=[{"to": "stderr", "form": "plain"}, {"to": "stdout", "form": "json"}]
    )
    ran = clean(project.asked(*ordered(), "--deadline", "3", env={"AORTA_DEBUG": "1"}))
    assert ran.libraries is None
    ran = clean(project.asked(*ordered(), "--buck-timeout", "1", "--progress", env={"AORTA_DEBUG": "1"}))
    assert ran.reasons("buck_invocation", "timed_out")


@pytest.mark.parametrize("output", ["/dev/full", "/proc/none/x.json", "x.json/y.json"])
def test_a_document_that_cannot_be_written(project, clean, output):
    (project.root / "x.json").write_text("")
    ran = project.aorta("env", "probe", *TARGET, *ordered(), "-o", output, env={"AORTA_DEBUG": "1"})
    assert ran.code != 0
    clean(ran)


def test_buck2_that_is_none(project, clean):
    for text in ("exit 9", 'echo "$@" >&2; exit 3', 'printf "%s\\n" "$@"; exit 0', "kill -SEGV $$"):
        project.script(text)
        clean(project.asked(*ordered(), env={"AORTA_DEBUG": "1"}))
    (project.bin / "buck2").chmod(0o644)
    clean(project.asked(*ordered()))
    (project.bin / "buck2").unlink()
    clean(project.asked(*ordered()))


def test_a_query_that_is_refused_names_the_pair(project, clean):
    """The texts of buck2 itself, which quote what is wrong."""
    pairs = [f"cells.k={value}" for value in SECRETS.values[:5]]
    ran = clean(project.asked(*ordered(pairs)))
    assert ran.invocation["status"] == "failure"
    (reason,) = ran.reasons("buck_invocation")
    assert "Specifying cells" in reason["detail"]


# Values that the caller did not give: they stand in a mode file


def test_values_in_a_mode_file(project, clean):
    lines = [
        word for pair in SECRETS.pairs() if "\n" not in pair and "\r" not in pair for word in ("-c", pair)
    ]
    path = project.mode("mode/a", *lines)
    ran = clean(project.asked("--buck-option", "mode=mode/a"), path)
    assert ran.invocation["status"] == "success"
    assert ran.invocation["mode_files_digest"]
    ran = clean(project.aorta("env", "record", "x.jsonl", *TARGET, "--buck-option", "mode=mode/a"), path)
    assert ran.code == 0


# Mistakes at the command line


@pytest.mark.parametrize(
    "words",
    [
        ["--buck-option", "{}"],
        ["--buck-option", "flag={}"],
        ["--buck-option", "config={}"],
        ["--buck-option", "config=={}"],
        ["--buck-option", "config=undotted={}"],
        ["--buck-option", "-c a.b={}"],
        ["--buck-option", "mode=m -c a.b={}"],
        ["--buck-config", "undotted={}"],
        ["--buck-config", "={}"],
        ["--buck-option", "config=a.b={}", "--buck-config", "a.c={}"],
        ["--buck-option", "config=a.b={}", "--buck-default-context"],
        ["--buck-configs", "a.b={}"],
        ["--buck-configs=a.b={}"],
        ["-c", "a.b={}"],
        ["-ca.b={}"],
        ["--config=a.b={}"],
        ["--buck-library", "a.b c={}"],
        ["--buck-target", "config=a.b={}"],
        ["--buck-target", "//app:trainer -c a.b={}"],
        ["--buck-default-context=config=a.b={}"],
    ],
)
def test_mistakes_name_no_value(project, clean, words):
    for value in SECRETS.values[::9]:
        mistake = [word.format(value) for word in words]
        ran = project.aorta("env", "probe", *TARGET, *mistake, "-o", "-", env={"AORTA_DEBUG": "1"})
        assert ran.code == 2, ran.err
        clean(ran)


def test_a_context_without_a_target(project, clean):
    ran = clean(project.aorta("env", "probe", *ordered(), "-o", "-", env={"AORTA_DEBUG": "1"}))
    assert ran.code == 2


# The library


def test_what_a_program_is_told(project, monkeypatch):
    monkeypatch.chdir(project.root)
    for value in SECRETS.values:
        for wrong in (
            [f"flag={value}"],
            [f"config={value}"] if "=" not in value else [f"config=={value}"],
            [f"config=x={value}"],
            [("config", "a.b", value)],
            {"config": value},
            f"config=a.b={value}",
            [f"config=a.b={value}", 3],
            [f"config=a.b={value}\0"],
            [value],
        ):
            with pytest.raises(ValueError) as caught:
                capture(sections=("buck_invocation",), buck_target=LITERAL, buck_context=wrong)
            chain = [caught.value, caught.value.__cause__, caught.value.__context__]
            told = "\n".join(f"{each} {each!r}" for each in chain if each is not None)
            assert SECRETS.in_text(told) == [], wrong
    assert project.calls() == []


def test_a_context_that_is_shown():
    context = BuckContext.of([f"config={pair}" for pair in SECRETS.pairs()])
    shown = f"{context} {context!r} {context.options} {context.argv} {context.names('config')} {context.fingerprint()}"
    assert SECRETS.in_text(shown) == []


def test_a_program_whose_own_words_hold_them(project, monkeypatch):
    """The argv of the document is that of the program, whatever its options are called."""
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("PATH", project.environ()["PATH"])
    monkeypatch.setattr(
        sys, "argv", ["train.py", *(f"--buck={pair}" for pair in SECRETS.pairs()), *SECRETS.values]
    )
    context = [f"config={pair}" for pair in SECRETS.pairs()]
    document = dump(capture(sections=("buck_invocation",), buck_target=LITERAL, buck_context=context))
    assert SECRETS.in_text(to_json(document)) == []
