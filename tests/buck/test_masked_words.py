"""The words of a program that gives config values: they are told without them, however they are quoted."""

import json
import shlex
import time
import urllib.parse

import pytest

from aorta.buck.options import BuckContext

STRANGE = 'Pass"word of Q'
ORDINARY = "lower-token"
QUOTED = {
    "as they are": str,
    "JSON": lambda text: json.dumps({"a": text}),
    "Python": repr,
    "shell": shlex.quote,
    "URL": urllib.parse.quote,
}


def masked(words, *values):
    options = [f"config=s.k{number}={value}" for number, value in enumerate(values)]
    return BuckContext.of(options).masked(words)


@pytest.mark.parametrize("form", QUOTED)
def test_values_in_other_quoting(form):
    (word,) = masked([f"--x={QUOTED[form](STRANGE)}"], STRANGE)
    assert "word of" not in urllib.parse.unquote(word)
    assert "[redacted]" in word


@pytest.mark.parametrize(
    "words", [[ORDINARY], ["--token", ORDINARY], [f"--token={ORDINARY}"], [f"s.k0={ORDINARY}"]]
)
def test_a_value_as_labels_have_it_goes_where_it_is_a_word(words):
    assert ORDINARY not in " ".join(masked(words, ORDINARY))


def test_such_a_value_stays_within_other_words():
    assert masked(["t.py", "//app:opt", "opt"], "opt") == ("t.py", "//app:opt", "opt")


def test_words_keep_their_places():
    words = ["", "a\nb", "x=y=z", STRANGE, "é\udcff", "\0"]
    assert masked(words, STRANGE) == ("", "a\nb", "x=y=z", "[redacted]", "é\udcff", "\ufffd")
    assert masked([], STRANGE) == ()
    assert BuckContext().masked(words[:3]) == tuple(words[:3])


def test_a_program_may_have_put_anything_there():
    assert masked([1, None], STRANGE) == ("1", "None")


def test_two_thousand_values_take_no_time():
    values = [f"Value {number} secret" for number in range(1000)] + [
        f"value{number}" for number in range(1000)
    ]
    words = [f"config=s.k{number}={value}" for number, value in enumerate(values)]
    started = time.monotonic()
    told = masked(words, *values)
    assert time.monotonic() - started < 5
    assert {word.partition(".")[2].partition("=")[2] for word in told} == {"[redacted]"}


@pytest.mark.parametrize("form", ["values", "plain"])
def test_an_error_in_an_answer_that_ended_well(project, form):
    project.behave("cquery", exit=0, echo=[{"to": "error", "form": form}])
    ran = project.asked("--buck-option", f"config=s.k={ORDINARY}", "--buck-option", f"config=s.j={STRANGE}")
    assert ran.invocation["status"] == "failure"
    for value in (ORDINARY, STRANGE):
        assert value not in ran.out
    assert "[redacted]" in ran.reasons("buck_invocation")[0]["detail"]


@pytest.mark.parametrize(
    "lines", ["del sys.argv", "sys.argv = [None, 1]", "sys.argv = None", "sys.argv = []"]
)
def test_a_program_without_words_of_its_own(project, lines):
    import subprocess
    import sys

    code = (
        "import sys\nfrom aorta.instrumentation import capture\nfrom aorta.model.codec import dump, to_json\n"
        f"{lines}\nprint(to_json(dump(capture(sections=('buck_invocation',), buck_target='//app:trainer',"
        " buck_context=['config=a.b=Value one']))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.root,
        env=project.environ(),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["buck_invocation"]["status"] == "success"
