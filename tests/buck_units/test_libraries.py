"""Which targets are which libraries, by patterns that a caller may add to."""

import pytest

from aorta.buck.labels import parse_label
from aorta.buck.libraries import BUILTIN, Libraries, check_libraries, parse_library
from aorta.buck.options import BuckError


def names(label, **more):
    return Libraries(more).names(parse_label(label))


@pytest.mark.parametrize("library", BUILTIN)
def test_each_library_has_a_target_of_its_own(library):
    target = {"ainic": "rccl-net", "rccl_net_plugin": "aws-ofi-rccl", "rocm": "hip_runtime"}.get(
        library, library
    )
    for end in ("", "_lib", "-shared"):
        assert names(f"root//x:{target}{end}") == [library]
    for label in (
        f"root//x:not{target}",
        f"root//x:{target}_test",
        f"root//{target}:BUCK",
        f"root//x/{target}:y",
    ):
        assert names(label) == []


def test_a_pattern_sees_the_whole_label():
    assert names("cell//comms/lib:all", site="^cell//comms/.*:all$") == ["site"]
    assert names("other//comms/lib:all", site="^cell//comms/.*:all$") == []


def test_a_pattern_of_a_built_in_name_adds_to_it():
    assert names("root//x:mine", rccl=":mine$") == ["rccl"]
    assert names("root//x:rccl", rccl=":mine$") == ["rccl"]


@pytest.mark.parametrize(
    ("text", "pair"), [("a=b", ("a", "b")), (" a =b=c ", ("a", "b=c ")), ("a.b+c-d=.", ("a.b+c-d", "."))]
)
def test_a_library_in_one_word(text, pair):
    assert parse_library(text) == pair


@pytest.mark.parametrize("text", ["a", "=b", "a=", "a b=c", "a=(", "a=*", f"{'n' * 65}=x"])
def test_what_is_no_library(text):
    with pytest.raises(BuckError):
        parse_library(text)


@pytest.mark.parametrize("patterns", [{3: "x"}, {"a": None}, {"a": b"x"}])
def test_what_a_program_may_not_give(patterns):
    with pytest.raises(BuckError):
        check_libraries(patterns)
