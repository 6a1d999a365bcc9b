"""What is told of a question that buck2 did not answer."""

import pytest

from aorta.buck.answers import parse_rows
from aorta.collect import CommandAnswer
from aorta.host.protocol import Completed
from aorta.model.vocabulary import Outcome, ReasonKind
from aorta_collectors.buck.failures import TOLD, complaint, read


def answered(stdout="", *, code=0, stderr="", truncated=False):
    outcome = Outcome.EXIT if code else Outcome.OK
    done = Completed(outcome=outcome, exit_code=code, stdout=stdout, stderr=stderr, truncated=truncated)
    return CommandAnswer(
        kind=ReasonKind.FAILED if code else None, value=done, subject="buck2 x", detail="exit"
    )


def number(text):
    return int(text)


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("noise\nCommand failed: \nUnknown target\nDid you mean\n", "Unknown target Did you mean"),
        ("Command failed: at once", "at once"),
        ("Command failed: first\nCommand failed: second\n", "second"),
        ("only\nlast line \n\n", "last line"),
        ("", ""),
        (" \n", ""),
        ("x" * 10_000, "x" * TOLD),
    ],
)
def test_complaints(stderr, said):
    assert complaint(stderr) == said


def test_a_good_answer():
    assert read(answered("7"), number, "the question") == (7, None)


def test_an_answer_that_is_none():
    value, gap = read(answered("x"), number, "the question")
    assert value is None
    assert gap.kind is ReasonKind.UNPARSED
    assert gap.detail.startswith("the question: ")


def test_a_cut_answer_is_not_read():
    value, gap = read(answered("7", truncated=True), number, "the question")
    assert value is None
    assert (gap.kind, gap.detail) == (ReasonKind.UNPARSED, "the question answered more than is read")


def test_the_exit_status_and_the_complaint_are_told():
    _, gap = read(answered("7", code=3, stderr="Command failed: no\n"), number, "the question")
    assert (gap.kind, gap.detail) == (ReasonKind.FAILED, "the question ended with exit status 3: no")
    _, gap = read(answered(code=11), number, "the question")
    assert gap.detail == "the question ended with exit status 11 since it cannot reach its daemon"


def test_a_time_limit_names_the_option():
    answer = CommandAnswer(kind=ReasonKind.TIMED_OUT, subject="buck2 x", detail="no end after 1 s")
    _, gap = read(answer, number, "the question")
    assert (gap.kind, gap.subject) == (ReasonKind.TIMED_OUT, "buck2 x")
    assert "--buck-timeout" in gap.detail


def test_an_error_in_the_answer_stands_for_a_complaint():
    text = '{"//a:b": {"$error": "Unknown target"}}'
    _, gap = read(answered(text, code=3), parse_rows, "the question")
    assert gap.detail == "the question ended with exit status 3: Unknown target"
    _, gap = read(answered("no json", code=3), parse_rows, "the question")
    assert gap.detail == "the question ended with exit status 3"
    _, gap = read(answered(text), parse_rows, "the question")
    assert (gap.kind, gap.detail) == (ReasonKind.FAILED, "the question: Unknown target")
