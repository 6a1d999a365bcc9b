"""Whatever a source tree of torch holds: no exception but the one that says so, nothing made up."""

import re
import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from aorta_collectors.pytorch.cmake_cache import parse_cache
from aorta_collectors.pytorch.ninja import CODEGEN_FLAGS, TARGETS, Compiled, parse_line
from aorta_collectors.pytorch.ninja_file import BuildFile, parse_statement, parse_words
from aorta_collectors.pytorch.submodules import parse_checkout, parse_recorded

MANY = settings(max_examples=2000, deadline=None, derandomize=True)
COMMIT = "0123456789abcdef" * 2 + "01234567"
WORDS = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(
            [
                "-D",
                "-U",
                "A",
                "USE_MKL",
                "=",
                "1",
                '"',
                "'",
                "\\",
                " ",
                "\t",
                "$",
                "--offload-arch=",
                "gfx942",
                ",",
            ]
            + [
                "torch_hip_EXPORTS",
                "--no-offload-arch=all",
                "-ffast-math",
                "-fdenormal-fp-math=",
                "\udcff",
                "\n",
            ]
        ),
    ),
    max_size=14,
).map("".join)
PIECES = st.lists(
    st.sampled_from(
        [
            b"build ",
            b"a.o",
            b": ",
            b":",
            b"HIP_COMPILER__torch_hip_Release",
            b"HIP_COMPILER",
            b" ",
            b"\n",
            b"\r\n",
        ]
        + [
            b"$",
            b"$\n",
            b"$$",
            b"$:",
            b"#",
            b"  DEFINES = -DA",
            b"  FLAGS = -O3",
            b"  DEFINES=-Dc10_hip_EXPORTS",
        ]
        + [b"\n\n", b".hip.o.cmake", b"rule ", b"\xff", b"=", b"x"]
    ),
    max_size=40,
).map(b"".join)


@MANY
@given(st.one_of(st.text(max_size=200), WORDS))
def test_words_hide_nothing_and_are_those_of_the_shell(text):
    words = parse_words(text)
    try:
        whole = shlex.split(text, comments=False)
    except ValueError:
        return
    # The shell knows blanks of ASCII only, and takes what is special within double quotes as it is.
    if "\\" not in text and re.fullmatch(r"[ -~]*", text):
        assert words == whole


@MANY
@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12), max_size=6
    )
)
def test_quoted_words_are_found_again(words):
    assert parse_words(" ".join(map(shlex.quote, words))) == words


@MANY
@given(WORDS, WORDS)
def test_compile_lines_never_raise(defines, flags):
    line = parse_line("HIP_COMPILER__torch_hip_Release", defines, flags)
    assert line.target in TARGETS
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) for name in line.defines)
    assert all(name in defines or name in flags for name in line.defines)
    assert line.flags <= set(CODEGEN_FLAGS)
    assert all(arch and "," not in arch for arch in line.archs)


@MANY
@given(PIECES, st.integers(1, 30))
def test_pieces_make_no_difference(text, size):
    found = [list(fed(text, step)) for step in (size, len(text) or 1)]
    assert found[0] == found[1]
    compiled = Compiled()
    for statement in found[0]:
        assert statement.rule.startswith("HIP_COMPILER")
        compiled.add(statement)
    assert compiled.count == len(found[0])
    assert all(gathered.told().compile_lines for gathered in compiled.targets.values())


def fed(text, size):
    file = BuildFile()
    for place in range(0, len(text), size):
        yield from file.feed(text[place : place + size])
    yield from file.feed(b"", last=True)


@MANY
@given(st.one_of(PIECES, st.binary(max_size=200)))
def test_statements_never_raise(text):
    found = parse_statement(text)
    assert found is None or found.rule.startswith("HIP_COMPILER")


@MANY
@given(
    st.lists(
        st.one_of(
            st.text(max_size=40),
            st.sampled_from(
                ["USE_A:BOOL=ON", '"USE_A:B":STRING=x', "USE_A=1", "//c", "#", "'", '"', ":", "=", "\r"]
            ),
        ),
        max_size=8,
    ).map("\n".join)
)
def test_caches_never_raise(text):
    for name, (kind, value) in parse_cache(text).items():
        assert name in text
        assert value in text
        assert kind == "UNINITIALIZED" or kind in text


@MANY
@given(st.text("ABC_:", min_size=1, max_size=10), st.text("ab =;:'/", max_size=10))
def test_an_entry_as_cmake_writes_it_is_read(name, value):
    shown = f'"{name}"' if ":" in name else name
    held = f"'{value}'" if value != value.strip(" ") or value[:1] == value[-1:] == "'" else value
    assert parse_cache(f"{shown}:STRING={held}\n") == {name: ("STRING", value)}


@MANY
@given(
    st.one_of(
        st.text(max_size=120),
        st.lists(
            st.sampled_from([COMMIT, "160000 commit ", "\t", "third_party/", "aiter", "\n", " ", "HEAD"])
        ).map("".join),
    )
)
def test_answers_of_git_are_commits_or_none(text):
    commit = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")
    try:
        assert commit.fullmatch(parse_checkout(text))
    except ValueError as error:
        assert str(error)
    for name, recorded in parse_recorded(text).items():
        assert commit.fullmatch(recorded)
        assert name in text
