"""Commits in versions and attributes."""

import pytest

from aorta_collectors.packages.commit import bare_commit, commit_in_text, commit_in_version, first_commit

SHA = "e2a8e5b8f489fb02bc5a2d065ed9c343d2656b41"


@pytest.mark.parametrize(
    "version, commit",
    [
        ("3.5.1+rocm7.2.1.gita272dfa8", "a272dfa8"),
        ("0.1.11.dev32+g9a469a608", "9a469a608"),
        ("2.0.dev3+5.gdeadbee", "deadbee"),
        ("1.4.0+d20240101", None),
        ("1.0+gfx90a1bc", None),
        ("3.4.0+gitCDDF0FC3", "cddf0fc3"),
        ("3.4.0+7.git1234567", "1234567"),
        ("1.0.gita272dfa8", "a272dfa8"),
        ("0.1.11.dev32+g9a469a608.d20240101", "9a469a608"),
        ("3.3.0+git5389ed79-dirty", "5389ed79"),
        (f"1.0+g{SHA}", SHA),
        ("1.0+g1234567.git7654321", "7654321"),
        ("3.9.0", None),
        ("1.0+fb", None),
        ("1.0+cpu", None),
        ("2.9.1+rocm7.2.1", None),
        ("1.0+git", None),
        ("1.0+git12345", None),
        ("1.0+gita272dfa8z", None),
        (f"1.0+g{SHA}0", None),
        ("1.0+a272dfa8", None),
        ("git+1234567", None),
        ("", None),
        ("1.0+" + "9" * 10_000 + ".gita272dfa8", None),
    ],
)
def test_in_a_version(version, commit):
    assert commit_in_version(version) == commit


@pytest.mark.parametrize(
    "text, commit",
    [
        (SHA, SHA),
        (SHA.upper(), SHA),
        ("0123456", "0123456"),
        ("1.0+gita272dfa8", "a272dfa8"),
        ("012345", None),
        (SHA + "0", None),
        ("unknown", None),
        ("Unknown", None),
        ("dirty", None),
        ("v1.2.3", None),
        (f"{SHA}-dirty", None),
        ("", None),
    ],
)
def test_in_an_attribute(text, commit):
    assert commit_in_text(text) == commit


def test_the_first_attribute_that_is_one_counts():
    assert first_commit([None, "unknown", "", "0123456", "7654321"]) == "0123456"
    assert first_commit([]) is None


@pytest.mark.parametrize(
    "version, commit",
    [
        ("1.8.0a0+0123abc", "0123abc"),
        ("1.8.0a0+0123ABC", "0123abc"),
        (f"1.8.0a0+{SHA}", SHA),
        ("1.8.0+cpu.0123abc", "0123abc"),
        ("1.8.0+d20240101", None),
        ("1.8.0+20240101", None),
        ("1.8.0+D20240101.0123abc", "0123abc"),
        ("1.8.0+cu118", None),
        ("1.8.0", None),
        ("0123abc", None),
    ],
)
def test_without_a_mark(version, commit):
    assert bare_commit(version) == commit
