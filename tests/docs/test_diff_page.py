"""docs/env-diff.md lists what the comparison leaves out, its options, its statuses and its keys."""

import re

import pytest

from aorta.cli.diff import DIFFERENT, diff
from aorta.cli.errors import Misuse
from aorta.compare import tables
from tests.docs.test_words import options
from tests.parts.compared import known
from tests.parts.pages import text_of

PAGE = "docs/env-diff.md"


def cells(start):
    """Return the inline code of the last cell of the row that begins so."""
    [line] = [line for line in text_of(PAGE).splitlines() if line.startswith(f"| {start} |")]
    return set(re.findall(r"`([^`]+)`", line.split("|")[2]))


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        ("they change by themselves", known().volatile - tables.IDENTITY),
        ("they name a machine, container, task or job", tables.IDENTITY),
        ("they tell of the capture, or of what stands beside them", tables.TELLING),
        ("another one on each machine", tables.SAID),
        ("where something sits in the machine", tables.PLACE),
        ("within one per cent", tables.MEASURED),
    ],
)
def test_what_is_left_out(row, fields):
    assert cells(row) == fields


def test_every_option():
    named = set(re.findall(r"^\| `(--[a-z-]+)", text_of(PAGE), re.MULTILINE))
    assert named == options(diff) - {"--help"}


def test_every_status():
    told = set(re.findall(r"^\| (\d) \|", text_of(PAGE), re.MULTILINE))
    assert told == {"0", str(DIFFERENT), str(Misuse.exit_code)}


def test_the_triage_and_the_words():
    text = text_of(PAGE)
    assert all(f"`{path}`" in text for path in tables.TRIAGE)
    assert all(f"`{word}`" in text for word in tables.UNKNOWN_WORDS)
    assert all(f"`{path}`" in text for path in tables.ORDERED if path.startswith("rocm"))
    groups = text.split("**differences** by weight: ")[1].split(".")[0].lower()
    places = [groups.index(name) for name, _ in tables.GROUPS]
    assert places == sorted(places)
