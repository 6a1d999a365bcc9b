"""Whatever a package's text or metadata holds: no exception, nothing made up, no long time."""

import json
import re
import time
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aorta_collectors.packages.build_record import parse_target
from aorta_collectors.packages.commit import bare_commit, commit_in_text, commit_in_version
from aorta_collectors.packages.constants import parse_constants
from aorta_collectors.packages.direct_url import editable_project, parse_direct_url
from aorta_collectors.packages.ownership import lists, parse_record
from aorta_collectors.packages.pep440 import is_version, same_version

MANY = settings(max_examples=800, deadline=None, derandomize=True)
NAMES = ("__version__", "version", "git_version")
COMMIT = re.compile(r"[0-9a-f]{7,40}")

PIECES = st.sampled_from(
    [
        *NAMES,
        " = ",
        "=",
        "+=",
        "==",
        "'1.0'",
        '"1.0"',
        "'",
        '"',
        '"""',
        "\\",
        "#",
        ";",
        ":",
        "(",
        ")",
        "[",
        "]",
    ]
    + [
        "\n",
        "\r\n",
        "\n    ",
        "\t",
        "if x",
        "else",
        "try",
        "import ",
        "from . import ",
        "del ",
        "f",
        "b",
        "r",
        ",",
    ]
    + ["\x0c", "\u2028", "\ufeff", "\udcff", "é", "1", "0x", "$", "?", "!", "lambda: "]
)
SOURCES = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map("".join))
WORDS = st.sampled_from(
    ["1.8.0", "+", ".", "g", "git", "0123abc", "deadbee", "a272dfa8", "gfx90a1bc", "d20240101", "rocm7.2.1"]
    + ["-", "_", "dev", "post1", "a0", "!", "v", "Unknown", "9" * 80, "٣", "\n", " "]
)
VERSIONS = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=8).map("".join))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.just("file:///a")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["url", "dir_info", "editable", "version", "variant", "x"]), inner, max_size=4
        ),
    ),
    max_leaves=12,
)


@MANY
@given(SOURCES)
def test_what_a_source_assigns_stands_in_it(text):
    found = parse_constants(text, NAMES)
    assert set(found) <= set(NAMES)
    assert all(value in text and "\n" not in value for value in found.values())


@MANY
@given(SOURCES)
def test_what_a_source_assigns_is_what_the_interpreter_would_assign(text):
    """Where all of a text can be run, what was told of it is so."""
    found = parse_constants(text, NAMES)
    scope: dict = {}
    try:
        exec(compile(text, "source", "exec"), {"__builtins__": {}}, scope)
    except Exception:
        return
    assert {name: scope.get(name) for name in found} == found


@MANY
@given(VERSIONS)
def test_versions(text):
    for found in (commit_in_version(text), commit_in_text(text), bare_commit(text)):
        assert found is None or (COMMIT.fullmatch(found) and found in text.lower())
    if is_version(text):
        assert same_version(text, text.strip())
    assert same_version(text, "1.8.0") in (True, False)


@MANY
@given(st.one_of(st.text(max_size=60), JSON.map(json.dumps)))
def test_json(text):
    try:
        told = parse_target(text)
        assert set(told) <= {"__version__", "__variant__"}
    except ValueError:
        pass
    try:
        path = parse_direct_url(text)
        assert path.startswith("/")
        assert len(path) > 1
    except ValueError:
        pass


@MANY
@given(st.text(alphabet='ab/.",\n\r \0é', max_size=60))
def test_records(text):
    assert all(parse_record(text))
    lists(text, "/home", "/home/a/b", ("/home/a",))


@pytest.mark.parametrize(
    "text",
    ["(" * 200_000, "__version__ = " + "'" * 200_000, "__version__ = '" + "\\" * 200_000]
    + ["\n".join(" " * depth + "if __version__:" for depth in range(400)), "__version__ = 1\n" * 15_000]
    + ["__version__" + "[" * 100_000, "__version__ = '1'; " * 12_000],
    ids=range(7),
)
def test_hostile_sources_take_no_long_time(text):
    begun = time.monotonic()
    parse_constants(text[: 1 << 18], NAMES)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "text", ["1" * 200_000, "1." * 100_000, "+g" * 100_000, "a" * 200_000, '"' * 200_000]
)
def test_hostile_words_take_no_long_time(text):
    begun = time.monotonic()
    commit_in_version(text)
    commit_in_text(text)
    bare_commit(text)
    is_version(text)
    parse_record(text)
    assert time.monotonic() - begun < 5


@MANY
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=12))
def test_a_path_is_found_again_in_its_url(name):
    path = f"/src/{name}x"
    text = json.dumps({"url": f"file://{quote(path)}", "dir_info": {"editable": True}})
    assert editable_project(text) == path
