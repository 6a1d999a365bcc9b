"""Config values that aorta was not given itself, and one given as a word too many."""

import pytest

from tests.parts.buck import LITERAL
from tests.parts.buck_secrets import SECRETS

TARGET = ("--buck-target", LITERAL)


@pytest.mark.parametrize("form", ["plain", "values", "rust", "json"])
def test_values_in_a_mode_file_that_buck2_says_again(project, clean, form):
    lines = [
        word for pair in SECRETS.pairs() if "\n" not in pair and "\r" not in pair for word in ("-c", pair)
    ]
    path = project.mode("mode/a", *lines)
    project.behave("cquery", exit=3, echo=[{"to": "stderr", "form": form}, {"to": "error", "form": form}])
    ran = clean(project.asked("--buck-option", "mode=mode/a"), path)
    assert ran.invocation["status"] == "failure"
    ran = clean(project.aorta("env", "record", "x.jsonl", *TARGET, "--buck-option", "mode=mode/a"), path)
    assert ran.code == 0


def test_a_mode_file_with_a_pair_that_is_none(project, clean):
    path = project.mode("mode/a", "-c", f"undotted={SECRETS.values[1]}")
    ran = clean(project.asked("--buck-option", "mode=mode/a"), path)
    assert ran.invocation["status"] == "failure"


def test_a_word_too_many_is_not_told(project, clean):
    """``--buck-option`` forgotten before its word."""
    for value in SECRETS.values[::9]:
        ran = clean(project.aorta("env", "probe", *TARGET, f"config=a.b={value}", "-o", "-"))
        assert ran.code == 2
