"""Whatever buck2, git and mercurial print, and whatever is typed as an option: no exception, nothing made up."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aorta.buck.answers import parse_cells, parse_platforms, parse_rows
from aorta.buck.labels import check_target, parse_configured, parse_label
from aorta.buck.libraries import Libraries, parse_library
from aorta.buck.options import BuckContext, parse_option
from aorta.buck.roots import roots_of
from aorta.host.protocol import Masked
from aorta.host.scrub import Scrub
from aorta_collectors.buck.failures import complaint
from aorta_collectors.buck.revision import first_line, parse_git, parse_hg
from aorta_collectors.providers.buck_checkout import parse_root, parse_version
from tests.parts.hostile import Row, check_damage, check_long, check_noise

MANY = settings(max_examples=1000, deadline=None, derandomize=True)

TRAINER = "root//app:trainer (root//platforms:mi350-opt#4a2b9c1d0e3f5a67)"
PYTHON = "toolchains//:python (root//p:mi350#aaaaaaaaaaaaaaaa) (root//p:linux-exec#bbbbbbbbbbbbbbbb)"
ROWS_TEXT = json.dumps({"//app:trainer": [PYTHON, "prelude//os:linux (<unbound>)", TRAINER]}, indent=2)
FAILED = json.dumps(
    {"//app:nope": {"$error": "Unknown target `nope` from package `root//app`.\nmore"}}, indent=2
)
PLATFORMS = json.dumps({TRAINER: {"buck.execution_platform": "root//platforms:mi350-re"}}, indent=2)
CELLS = json.dumps({"root": "/src/repo", "other": "/src/repo/other"}, indent=2)
SHA = "0123456789abcdef0123456789abcdef01234567"
COMPLAINT = (
    "[2026-08-22T14:10:00.123-07:00] Build ID: 63069516-038e-484b-8d52-0360ac9ac1b1\n"
    "Command failed: \nUnknown target `nope` from package `root//app`.\nDid you mean one of the 2 targets?\n"
)


def said(option):
    return [option.name, option.value]


def parts(label):
    return [part for part in (label.cell, label.package, label.name) if part]


ANY = "crlf trailing ended blank"
TABLE = [
    Row("rows", parse_rows, (ROWS_TEXT, json.dumps([TRAINER], indent=1)), ANY, words=None),
    Row("failed rows", parse_rows, (FAILED,), "", words=None),
    Row("platforms", parse_platforms, (PLATFORMS,), ANY, words=None),
    Row("cells", parse_cells, (CELLS,), ANY, words=None),
    Row("cells in lines", parse_cells, ("root: /src/repo\nother: /src/repo/other\n",), ANY, words=None),
    Row("label", parse_label, ("root//app:trainer", "//app/x:trainer", "//app", ":x"), "", words=parts),
    Row(
        "configured label",
        parse_configured,
        (TRAINER, PYTHON, "root//:x (<unspecified>)", "root//:x"),
        "",
        words=lambda row: [*parts(row.label), row.configuration or "", row.execution or ""],
    ),
    Row(
        "target",
        check_target,
        ("//app:trainer", "root//app:trainer", "//app/...", "//app:"),
        "",
        words=lambda t: [t],
    ),
    Row(
        "option", parse_option, ("mode=@root//mode/opt", "config=a.b=c d=e", "modifier=//c:x"), "", words=said
    ),
    # Python warns of what an expression will mean one day.
    Row(
        "library",
        parse_library,
        ("rccl=:rccl$", "x=(a|b)=c"),
        "",
        words=lambda pair: [*pair],
        raises=(ValueError, FutureWarning, DeprecationWarning),
        long=False,
    ),
    Row("git", parse_git, (f"{SHA}\n",), "crlf trailing ended", words=lambda found: [found] if found else []),
    Row(
        "hg",
        parse_hg,
        ("0123456789ab+\n", "warning: x\n0123456789ab\n"),
        "crlf trailing ended before",
        words=lambda found: [found] if found else [],
    ),
    Row(
        "version of buck2",
        parse_version,
        (f"buck2 2026-08-15-{SHA}\n", "buck2 <version unavailable>\n"),
        f"{ANY} before after",
        r"(?m)^buck2 (2026-08-15-\w|<version unavailable>)",
    ),
    Row("root", parse_root, ("/src/repo\n",), f"{ANY} before after", r"\A/src/repo\Z"),
    Row("complaint", complaint, (COMPLAINT, "x\nlast\n"), "trailing", words=lambda text: text.split()),
    Row("first line", first_line, ("\nfatal: x\nmore\n",), ANY, words=lambda text: text.split()),
]


@MANY
@given(number=st.integers(0, 2**32), text=st.text(max_size=30))
def test_damage_brings_no_exception_and_nothing_made_up(number, text):
    for row in TABLE:
        check_damage(row, number, text)


@MANY
@given(number=st.integers(0, 2**32))
def test_noise_changes_nothing(number):
    for row in TABLE:
        if row.noise:
            check_noise(row, number)


@pytest.mark.parametrize("row", [row for row in TABLE if row.long], ids=str)
def test_no_text_takes_for_ever(row):
    check_long(row)


@settings(MANY, max_examples=400)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text() | st.just("$error"), x),
        max_leaves=12,
    )
)
def test_any_json_is_rows_or_refused(value):
    text = json.dumps(value)
    for parse in (parse_rows, parse_platforms, parse_cells):
        try:
            found = parse(text)
        except ValueError as error:
            assert len(str(error)) < 1000
            continue
        if parse is parse_rows:
            assert all(row.text in text or json.dumps(row.text)[1:-1] in text for row in found)


NAME = st.text("abcxyz019_.-", min_size=1, max_size=6)
PACKAGE = st.lists(NAME, max_size=3).map("/".join)
CONFIGURATION = st.sampled_from(
    ["root//p:x#0123456789abcdef", "root//p:y#0123456789abcdef", "<unspecified>", "<unbound>"]
)


@MANY
@given(cell=NAME, package=PACKAGE, name=NAME, first=CONFIGURATION, second=st.none() | CONFIGURATION)
def test_labels_are_taken_apart_as_they_were_put_together(cell, package, name, first, second):
    text = f"{cell}//{package}:{name} ({first})" + (f" ({second})" if second else "")
    row = parse_configured(text)
    assert (row.label.cell, row.label.package, row.label.name) == (cell, package, name)
    assert (row.configuration, row.execution, row.text) == (first, second, text)
    assert str(parse_label(str(row.label))) == str(row.label)


@MANY
@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"), st.sampled_from(["", "p", "p/q"]), st.sampled_from("xy"), CONFIGURATION
        ),
        max_size=6,
    ),
    st.sampled_from(["//p:x", "a//p:x", ":x", "zz//p:x", "//:y", "//p"]),
)
def test_a_root_is_what_was_asked_for(rows, target):
    found = roots_of(
        [parse_configured(f"{cell}//{package}:{name} ({cfg})") for cell, package, name, cfg in rows], target
    )
    wanted = parse_label(target)
    assert all(row.label.name == wanted.name for row in found)
    assert len({str(row.label) for row in found}) <= 1
    assert all(row.configuration != "<unbound>" for row in found)


@MANY
@given(
    st.sampled_from(["torch", "rccl", "hipblaslt", "rocblas", "miopen", "triton", "aiter", "fbgemm"]), NAME
)
def test_a_library_is_never_a_part_of_a_name(library, more):
    """A target beside a library is none: torchvision, rccl-tests."""
    assert Libraries({}).names(parse_label(f"//x:{library}q{more}")) == []


@MANY
@given(st.text("abcdefghijklmnop0123456789", min_size=16, max_size=40), st.integers(12, 40))
def test_of_a_long_secret_that_was_cut_off_little_is_left(secret, at):
    masked = Masked(value=f"a.b={secret}", shown="a.b=[redacted]", secret=secret)
    assert secret[:12] not in Scrub([masked]).diagnostics(f"Error: bad value {secret[:at]}")


FEW = st.lists(st.sampled_from(["mode=a", "config=a.b=1", "config=a.b=2", "modifier=a"]), max_size=2)


@settings(MANY, max_examples=25)
@given(FEW, FEW)
def test_equal_fingerprints_are_equal_command_lines(one, other):
    first, second = BuckContext.of(one), BuckContext.of(other)
    assert (first.fingerprint() == second.fingerprint()) == (one == other)


def test_a_secret_of_six_digits():
    masked = Masked(value="a.b=482917", shown="a.b=[redacted]", secret="482917")
    assert "482917" not in Scrub([masked]).diagnostics("pin 482917, 'a.b=482917' \"482917\"")
