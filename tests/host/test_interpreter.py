"""Processes asked for torch and for themselves: however they end, what they told counts, and garbage does not."""

import json
import os
import signal
import sys
import threading

import pytest

from aorta.host import interpreter
from aorta.host.interpreter import FIRST_LINE, Interpreters, NoInterpreterError, noise, report
from aorta.host.live import LiveHost
from aorta.host.protocol import OUTPUT_LIMIT, Completed
from aorta.host.redaction import Redaction
from aorta.host.torch_report import VERSIONS
from aorta.model.redact import redact
from aorta.model.vocabulary import Outcome

FACTS = {
    "version": "3.8.1",
    "path": ["/sp", 7, None],
    "editable": {"a": "/a", "b": 3},
    "prefix": "/usr",
}
ELSEWHERE = {"torch": [True, "/t"], "a": [], "b": 7, "c": ["/c", "/c"], "d": [False], "e": [True, 5]}
#: What any of an interpreter's words may be in place of an answer.
GARBAGE = (
    "",
    "\n\n \n",
    "[" * 100_000,
    '{"a":' * 50_000,
    "9" * 1_000_000,
    '{"imported": ' + "9" * 1_000_000 + "}",
    "null\ntrue\n7\n[]\n{}",
    '{"part": 7}\n{"part": []}\n{"part": [1, 2]}\n{"part": [1, 2, 3, 4]}',
    "\ufffd\0\x1b[31m",
    '{"imported": tru',
    '{"\\ud800": 1}',
)


def lines(*objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


ALL = lines(
    {"imported": True}, {"part": ["version", "2.9.1", ""]}, {"part": ["config", None, "E: x"]}, {"done": True}
)


def done(stdout="", outcome=Outcome.OK, **more):
    return Completed(outcome=outcome, stdout=stdout, **more)


def test_a_whole_report():
    told = report(done(ALL, stderr="noise"))
    assert told == {
        "how": "child",
        "imported": True,
        "error": None,
        "done": True,
        "parts": {"version": "2.9.1"},
        "errors": {"config": "E: x"},
        "ended": "",
        "hung": False,
        "noise": "noise",
    }


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_between_the_lines_changes_nothing(garbage):
    whole = report(done(ALL))
    assert report(done(f"{garbage}\n{ALL}")) == whole | {
        "parts": whole["parts"] | report(done(garbage))["parts"]
    }
    assert report(done(f"{ALL}{garbage}"))["parts"]["version"] == "2.9.1"
    alone = report(done(garbage))
    assert (alone["parts"].get("version"), alone["done"], alone["ended"]) == (
        None,
        False,
        "it ended without an answer",
    )


def test_a_report_cut_anywhere_keeps_its_whole_lines():
    parts = [{"part": [name, "x", ""]} for name in VERSIONS]
    text = lines({"imported": True}, *parts, {"done": True})
    for length in range(len(text)):
        told = report(done(text[:length], Outcome.SIGNAL, exit_code=-11))
        # The last line counts without its line feed.
        whole = text[:length].count("\n") + (text[length] == "\n")
        assert len(told["parts"]) == max(0, min(whole - 1, len(parts)))
        assert told["imported"] is (True if whole else None)
        assert told["ended"] == "it was ended by SIGSEGV"


@pytest.mark.parametrize(
    ("end", "words", "hung"),
    [
        ({"outcome": Outcome.SIGNAL, "exit_code": -6}, "it was ended by SIGABRT", False),
        ({"outcome": Outcome.SIGNAL, "exit_code": -33}, "it was ended by signal 33", False),
        ({"outcome": Outcome.SIGNAL, "exit_code": -signal.SIGALRM}, "it was ended by SIGALRM", True),
        ({"outcome": Outcome.SIGNAL}, "signal", False),
        ({"outcome": Outcome.EXIT, "exit_code": 3}, "it ended with exit status 3", False),
        ({"outcome": Outcome.EXIT, "detail": "its exit status was lost"}, "its exit status was lost", False),
        (
            {"outcome": Outcome.EXIT, "exit_code": 1, "stderr": "\nfirst words\nlast words\n\n"},
            "it ended with exit status 1 (first words)",
            False,
        ),
        (
            {
                "outcome": Outcome.EXIT,
                "exit_code": 1,
                "stderr": "x\nTraceback (most recent call last):\n  f\nE: y\n",
            },
            "it ended with exit status 1 (E: y)",
            False,
        ),
        ({"outcome": Outcome.TIMED_OUT}, "it did not end in time", True),
        ({"outcome": Outcome.ABANDONED}, "it did not end in time, and not when it was killed", True),
    ],
)
def test_how_it_ended(end, words, hung):
    told = report(done(ALL, **end))
    assert (told["ended"], told["hung"]) == (words, hung)
    assert (told["parts"], told["done"]) == ({"version": "2.9.1"}, True)
    # The alarm is for the end alone: before it is some other alarm.
    early = report(done("", **end))
    assert early["hung"] is (hung and end["outcome"] is not Outcome.SIGNAL)


def test_noise_keeps_both_ends():
    assert noise("x" * interpreter.NOISE_LIMIT, redact) == "x" * interpreter.NOISE_LIMIT
    kept = noise("start" + "x" * 1_000_000 + "end", redact)
    assert kept.startswith("start") and kept.endswith("end")
    assert "… 996008 characters …" in kept
    assert len(kept) < interpreter.NOISE_LIMIT + 50


TOKEN = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ"


@pytest.mark.parametrize("back", range(0, len(TOKEN) + 12, 3))
def test_no_cut_leaves_a_part_of_a_secret(back):
    """Wherever it stands in what torch prints and raises, and at the cuts above all."""
    half = interpreter.NOISE_LIMIT // 2
    secret, known = f" HF_TOKEN={TOKEN} ", "the-value-of-DB_PASSWORD"
    hide = Redaction([known]).text
    for text in (secret, f" {TOKEN} ", f" https://user:{TOKEN}@host ", f" {known} "):
        flood = "x" * (half - back) + text + "y" * 50_000 + text + "z" * (half - back)
        error = "x" * (interpreter.ERROR_LIMIT - back) + text
        told = interpreter.shown(
            {**report(done(ALL)), "noise": flood, "error": error, "errors": {"hip": error}, "ended": error},
            hide,
        )
        for part in (TOKEN[3:9], TOKEN[-6:], known[:8], known[-8:]):
            assert part not in json.dumps(told), part
        assert len(told["error"]) <= interpreter.ERROR_LIMIT
        assert len(told["noise"]) < interpreter.NOISE_LIMIT + 50
    failed = report(done("", Outcome.EXIT, exit_code=1, stderr="x" * (200 - back) + secret))
    assert TOKEN[3:9] not in failed["ended"]


class Run:
    """Runs nothing: gives an answer, and keeps what it was asked."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def __call__(self, argv, stdin, timeout):
        self.asked.append((argv, json.loads(stdin), timeout))
        return self.answer


def test_another_interpreter_is_asked_once():
    told = ({"interpreter": 7}, {"interpreter": {"version": "3"}}, {"interpreter": FACTS})
    run = Run(done("noise\n" + lines(*told, {"elsewhere": 7}, {"elsewhere": ELSEWHERE})))
    asked = Interpreters(run, "/usr/bin/other", limit_s=3)
    assert asked.facts() is asked.facts()
    assert asked.facts() == {
        **FACTS,
        "path": ["/sp"],
        "editable": {"a": "/a"},
        "elsewhere": {"torch": [True, "/t"]},
        "asked": "/usr/bin/other",
    }
    ((argv, wish, timeout),) = run.asked
    assert argv[:3] == ["/usr/bin/other", "-c", FIRST_LINE]
    assert (wish, timeout) == ({"ask": "interpreter", "path": None, "cwd": os.getcwd()}, 3)


def test_finders_that_do_not_answer_cost_nothing_else():
    run = Run(done(lines({"elsewhere": ELSEWHERE}, {"interpreter": FACTS}), Outcome.TIMED_OUT))
    facts = Interpreters(run, "/x").facts()
    assert (facts["version"], facts["elsewhere"]) == ("3.8.1", None)


@pytest.mark.parametrize(
    "answer", [*map(done, GARBAGE), done(lines({"interpreter": {"path": 1}})), done("", Outcome.TIMED_OUT)]
)
def test_what_is_no_interpreter_is_asked_once_too(answer):
    run = Run(answer)
    asked = Interpreters(run, "/bin/true")
    for _ in range(2):
        with pytest.raises(NoInterpreterError) as caught:
            asked.facts()
        assert caught.value.strerror.startswith("no usable Python interpreter: it ")
    assert len(run.asked) == 1


@pytest.mark.parametrize(
    ("outcome", "detail", "words"),
    [
        (Outcome.NOT_FOUND, "", "it is not there"),
        (Outcome.NOT_FOUND, "/net did not answer", "it is not there (/net did not answer)"),
        (Outcome.DENIED, "Exec format error", "it cannot be executed (Exec format error)"),
    ],
)
def test_one_that_cannot_be_started(outcome, detail, words):
    asked = Interpreters(Run(done("", outcome, detail=detail)), "/x")
    with pytest.raises(NoInterpreterError) as caught:
        asked.facts()
    assert caught.value.strerror == f"no usable Python interpreter: {words}"
    with pytest.raises(NoInterpreterError) as caught:
        asked.torch(5)
    assert caught.value.strerror == f"no process can be started to import it: {words}"


def test_the_double_gets_this_process_s_search_path_and_nothing_else(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", "relative", "/absolute", 7])
    run = Run(done(ALL))
    assert Interpreters(run).torch(5)["parts"] == {"version": "2.9.1"}
    ((argv, wish, timeout),) = run.asked
    assert argv[:4] == [sys.executable, "-I", "-S", "-c"]
    assert wish["path"] == [str(tmp_path), f"{tmp_path}/relative", "/absolute"]
    assert (wish["ask"], wish["prefix"], timeout) == ("torch", sys.prefix, 5)
    assert wish["cache"].startswith("/tmp/aorta-")


def test_a_working_directory_that_is_gone(monkeypatch, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    run = Run(done(lines({"interpreter": FACTS})))
    Interpreters(run, "/x").facts()
    assert run.asked[0][1]["cwd"] is None


def test_no_interpreter_at_all(monkeypatch):
    monkeypatch.setattr(interpreter, "interpreter", lambda: None)
    with pytest.raises(NoInterpreterError, match="no Python interpreter can be started"):
        Interpreters(Run(done())).torch(5)
    monkeypatch.undo()
    monkeypatch.setattr(interpreter.torch_report, "__loader__", object())
    with pytest.raises(NoInterpreterError, match="no Python interpreter can be started"):
        Interpreters(Run(done()), "/x").torch(5)


@pytest.mark.parametrize("program", ["/bin/sh", "/bin/sleep", "/bin/false"])
def test_an_application_that_embeds_python_is_no_interpreter(host, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(NoInterpreterError, match="it ended with exit status"):
        host.interpreters.torch(10)


def test_a_python_that_begins_is_one_however_it_ends():
    failed = {"outcome": Outcome.EXIT, "exit_code": 1, "stderr": "MemoryError"}
    assert "MemoryError" in Interpreters(Run(done("\n", **failed))).torch(5)["ended"]
    assert "MemoryError" in Interpreters(Run(done("", **failed)), "/x").torch(5)["ended"]


def test_caches_are_removed_whoever_comes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(interpreter, "CACHES_IN", str(tmp_path))
    written, go_on = threading.Event(), threading.Event()

    def run(argv, stdin, timeout):
        place = json.loads(stdin)["cache"]
        os.makedirs(f"{place}/deep")
        written.set()
        assert go_on.wait(20)
        os.makedirs(f"{place}/late")
        return done(ALL)

    asked = Interpreters(run)
    thread = threading.Thread(target=asked.torch, args=(5,))
    thread.start()
    assert written.wait(20)
    asked.clean()
    assert list(tmp_path.iterdir()) == []
    go_on.set()
    thread.join(20)
    assert list(tmp_path.iterdir()) == []
    asked.clean()


@pytest.fixture
def host():
    made = LiveHost(env={"PYTHONPATH": None})
    yield made
    made.close()


def wrapped(tmp_path, text):
    path = tmp_path / "wrapper"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_eight_megabytes_of_words_before_the_answer(host, tmp_path):
    """The answer is lost with what is too much, and that is no answer."""
    program = wrapped(
        tmp_path, f'head -c {OUTPUT_LIMIT + 100} /dev/zero | tr "\\0" x; echo; exec {sys.executable} "$@"'
    )
    asked = Interpreters(host._ask_program, program)
    with pytest.raises(NoInterpreterError, match="without an answer"):
        asked.facts()
    program = wrapped(tmp_path, f'head -c 1000000 /dev/zero | tr "\\0" x; exec {sys.executable} "$@"')
    assert Interpreters(host._ask_program, program).facts()["version"] == sys.version.split()[0]


def test_what_is_asked_arrives_when_sigchld_is_ignored(host, monkeypatch):
    """Then the program is started by another one, which hands its standard input on."""
    monkeypatch.setattr("aorta.host.child.signal.getsignal", lambda _: signal.SIG_IGN)
    facts = Interpreters(host._ask_program, sys.executable).facts()
    assert facts["version"] == sys.version.split()[0]
    told = Interpreters(host._ask_program).torch(20)
    assert (told["how"], told["ended"]) == ("child", "")
    assert told["imported"] is not None


def test_a_shell_in_place_of_python_executes_nothing(host, tmp_path):
    for shell in ("/bin/sh", "/bin/bash"):
        trace = tmp_path / "executed"
        program = wrapped(tmp_path, f'cd {tmp_path}; PATH={tmp_path}; exec {shell} "$@"')
        for name in ("import", "from", "exec", "def", "class"):
            (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >>{trace}\n")
            (tmp_path / name).chmod(0o755)
        with pytest.raises(NoInterpreterError, match="exit status"):
            Interpreters(host._ask_program, program).facts()
        assert not trace.exists()
