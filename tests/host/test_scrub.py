"""What a command prints, without what it was given in secret."""

import json
import shlex
import time
import urllib.parse

import pytest

from aorta.host.live import LiveHost
from aorta.host.protocol import Masked
from aorta.host.scrub import HEAD, Scrub
from aorta.model.vocabulary import Outcome

LONG_S = 30

SECRETS = [
    "hunter2-not-real",
    'with "quotes" and \\ and more',
    "two\nlines of it",
    "größer als ascii",
    "it's quoted",
    "-DX=123456 -DY=789012",
    "%41%42%43%44",
    "https://user@host/path?x=1",
    "x" * 5000,
]


def masked(secret, *, ordinary=False):
    return Masked(value=f"a.b={secret}", shown="a.b=[redacted]", secret=secret, ordinary=ordinary)


FORMS = {
    "as it is": str,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON without escapes": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "Python": lambda text: repr(text)[1:-1],
    "shell": shlex.quote,
    "URL": urllib.parse.quote,
    "URL, all": lambda text: urllib.parse.quote(text, safe=""),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", SECRETS)
def test_every_form(form, secret):
    said = f"error: bad value {FORMS[form](secret)} of a.b"
    told = Scrub(["x", masked(secret)]).diagnostics(said)
    assert told.startswith("error: bad value ")
    assert told.endswith(" of a.b")
    assert FORMS[form](secret) not in told
    assert not any(len(word) > 5 and word in told for word in secret.split())


@pytest.mark.parametrize("length", [HEAD, HEAD + 3, 30])
def test_a_message_that_was_cut_off(length):
    secret = "abcdefghijklmnopqrstuvwxyz0123456789"
    told = Scrub([masked(secret)]).diagnostics(f"bad: {secret[:length]}...")
    assert told == "bad: [redacted]..."


@pytest.mark.parametrize(("said", "told"), [("exit 42.", "exit [redacted]."), ("x424 y42z", "x424 y42z")])
def test_a_short_one_is_taken_out_where_it_is_a_word(said, told):
    assert Scrub([masked("42")]).diagnostics(said) == told


def test_the_pair_is_shown_as_it_may_be():
    assert Scrub([masked("1")]).diagnostics("invalid a.b=1") == "invalid a.b=[redacted]"


@pytest.mark.parametrize(
    ("ordinary", "good", "told"),
    [
        (True, True, '["root//p:mi350"]'),
        (True, False, '["root//p:[redacted]"]'),
        (False, True, '["root//p:[redacted]"]'),
        (False, False, '["root//p:[redacted]"]'),
    ],
)
def test_ordinary_words_stay_in_a_good_answer(ordinary, good, told):
    scrub = Scrub([masked("mi350", ordinary=ordinary)])
    assert scrub.output('["root//p:mi350"]', good=good) == told


def test_what_is_no_answer_is_a_diagnostic():
    assert Scrub([masked("mi350", ordinary=True)]).output("echo mi350", good=True) == "echo [redacted]"


def test_the_longest_goes_first():
    told = Scrub([masked("abcd"), masked("abcdefgh")]).diagnostics("abcdefgh abcd")
    assert told == "[redacted] [redacted]"


def test_the_end_of_an_output_that_was_cut():
    scrub = Scrub([masked("abcdefghij")])
    assert "abc" not in scrub.diagnostics(scrub.cut("text ............ abcde"))
    assert Scrub([]).cut("text") == "text"


def test_a_command_that_prints_what_it_was_given():
    secret = masked("s3cret-word-of-a-kind")
    script = 'printf "%s" "$1"; printf "%s" "$1" >&2; exit 3'
    done = LiveHost().run(["sh", "-c", script, "sh", secret], timeout=LONG_S)
    assert (done.outcome, done.exit_code) == (Outcome.EXIT, 3)
    assert (done.stdout, done.stderr) == ("a.b=[redacted]",) * 2


def test_nothing_secret_nothing_changed():
    text = "any [redacted] text"
    assert Scrub(["a", "b"]).diagnostics(text) == Scrub([]).output(text, good=False) == text


@pytest.mark.parametrize(
    "printed",
    [
        b"the value \xff\xfehidden-part\xffsecond-part is odd",
        "the value \ufffd\ufffdhidden-part\ufffdsecond-part is odd".encode(),
        rb"the value \xFF\xFEhidden-part\xFFsecond-part is odd",
    ],
)
def test_bytes_that_are_no_text(printed):
    scrub = Scrub(("x", masked(b"\xff\xfehidden-part\xffsecond-part".decode("utf-8", "surrogateescape"))))
    for text in (
        scrub.diagnostics(printed.decode("utf-8", "replace")),
        scrub.output(printed.decode("utf-8", "replace"), good=False),
    ):
        assert "hidden" not in text
        assert "second" not in text
        assert text.startswith("the value ")


def test_what_a_program_escapes_divides_a_secret():
    scrub = Scrub(("x", masked("first-part\u200bsecond-part\x07third-part")))
    text = scrub.diagnostics(r"first-part\u{200b}second-part\u{7}third-part")
    assert not any(part in text for part in ("first", "second", "third"))


def test_a_secret_that_no_system_could_pass():
    # A program may give what no command line can hold.
    assert "lone" not in Scrub(("x", masked("lone-part\ud800"))).diagnostics("lone-part?")


def test_all_forms_of_one_go_though_they_begin_alike():
    secret = """a-long-beginning'second "third" of\\it"""
    forms = (
        str,
        lambda text: json.dumps(text)[1:-1],
        repr,
        shlex.quote,
        urllib.parse.quote,
        lambda text: json.dumps(json.dumps(text)),
    )
    told = Scrub(("x", masked(secret))).diagnostics("; ".join(form(secret) for form in forms))
    assert not any(part in told for part in ("beginning", "second", "third"))


def test_escapes_that_a_program_carries_out():
    assert "second" not in Scrub(("x", masked("first\\nsecond"))).diagnostics("first\nsecond")


def test_a_message_that_was_cut_off_within_an_escaped_form():
    secret = 'a-long-beginning"and-a-second-part'
    told = Scrub(("x", masked(secret))).diagnostics(json.dumps(secret)[1:30])
    assert told == "[redacted]"


def test_many_secrets_take_no_time():
    scrub = Scrub([masked(f"Value {number} of many") for number in range(2000)])
    started = time.monotonic()
    assert "of many" not in scrub.diagnostics("Value 1999 of many\n" * 2000)
    assert time.monotonic() - started < 5
