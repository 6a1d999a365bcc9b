"""Labels of targets: taken apart by component, told from what a query does not take."""

import pytest

from aorta.buck.labels import Label, check_target, is_pattern, parse_configured, parse_label
from aorta.buck.options import BuckError
from aorta.buck.words import Role

HASH = "0123456789abcdef"


def label_of(cell, package, name):
    return Label(cell=cell, package=package, name=name)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("root//app:trainer", label_of("root", "app", "trainer")),
        ("//app:trainer", label_of(None, "app", "trainer")),
        ("@root//app:trainer", label_of("root", "app", "trainer")),
        ("//app", label_of(None, "app", "app")),
        ("//a/b/c", label_of(None, "a/b/c", "c")),
        ("root//:top", label_of("root", "", "top")),
        (":near", label_of(None, None, "near")),
        ("//a:b/c.d-e", label_of(None, "a", "b/c.d-e")),
    ],
)
def test_parts(text, label):
    assert parse_label(text) == label


@pytest.mark.parametrize("text", ["", "app", "app:trainer", ":", "//", "//app:", "root//", "//app/"])
def test_what_is_no_label(text):
    with pytest.raises(ValueError, match=r"is no label|names no target"):
        parse_label(text)


@pytest.mark.parametrize("text", ["root//app:trainer", "//app:trainer", ":near", "root//:top"])
def test_a_label_is_written_as_it_was_read(text):
    assert str(parse_label(text)) == text


@pytest.mark.parametrize(
    ("text", "configuration", "execution"),
    [
        (f"root//a:b (root//p:opt#{HASH})", f"root//p:opt#{HASH}", None),
        (f"root//a:b (p#{HASH}) (q#{HASH})", f"p#{HASH}", f"q#{HASH}"),
        ("root//a:b (<unbound>)", "<unbound>", None),
        ("root//a:b (<unspecified>)", "<unspecified>", None),
        ("root//a:b", None, None),
    ],
)
def test_rows(text, configuration, execution):
    row = parse_configured(text)
    assert (row.text, str(row.label)) == (text, "root//a:b")
    assert (row.configuration, row.execution) == (configuration, execution)


@pytest.mark.parametrize(
    ("text", "roots", "role"),
    [
        ("//a:b (p)", {"p"}, Role.TARGET),
        ("//a:b (p)", {"p", "q"}, Role.TARGET),
        ("//a:b (x)", {"p"}, Role.EXEC),
        ("//a:b (p) (x)", {"p"}, Role.TOOLCHAIN),
        ("//a:b (<unbound>)", {"p"}, Role.OTHER),
        ("//a:b (p)", set(), Role.OTHER),
        ("//a:b", set(), Role.OTHER),
        ("//a:b (<unspecified>)", {"<unspecified>"}, Role.TARGET),
    ],
)
def test_the_role_is_told_by_the_configuration(text, roots, role):
    assert parse_configured(text).role(frozenset(roots)) is role


@pytest.mark.parametrize(
    ("typed", "full", "means"),
    [
        ("//app:trainer", "root//app:trainer", True),
        ("alias//app:trainer", "root//app:trainer", True),
        ("//app:trainer", "root//x/app:trainer", False),
        ("//app:trainer", "root//app:trainer2", False),
        (":trainer", "root//anywhere:trainer", True),
        (":trainer", "root//app:my_trainer", False),
    ],
)
def test_what_a_typed_label_may_mean(typed, full, means):
    assert parse_label(typed).may_mean(parse_label(full)) is means


@pytest.mark.parametrize(
    "text", ["//app:trainer", ":trainer", "root//a/b", "//app:", "//app/...", "//a:b-c.d_e/f"]
)
def test_targets_that_a_query_takes(text):
    assert check_target(text) == check_target(f" {text} ") == text


def test_a_file_of_options_is_never_named_by_a_target():
    """As a word of a command line, what begins with @ would be one."""
    assert check_target("@root//app:trainer") == "root//app:trainer"
    with pytest.raises(BuckError, match="no label"):
        check_target("@:trainer")


@pytest.mark.parametrize("sign", list("=~!+,;&()'\"<>|^`\\$%{}"))
def test_signs_that_a_query_does_not_take(sign):
    with pytest.raises(BuckError, match="alias"):
        check_target(f"//app:a{sign}b")


@pytest.mark.parametrize(
    ("text", "several"), [("//a:", True), ("//a/...", True), ("//a", False), (":a", False)]
)
def test_patterns(text, several):
    assert is_pattern(text) is several


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("", "an empty target"),
        ("//a:b //c:d", "a part of a command"),
        ("-c", "a part of a command"),
        ("//a:b\x07", "unprintable"),
        ("//a:b?x+y", "write //a:b and the option modifier=x and modifier=y"),
        ("//a:b?", "the option modifier=M"),
        ("//a:b[x]", "write //a:b"),
        ("//a:b#x", "write //a:b"),
        ("trainer", "no label"),
        ("//", "names no target"),
    ],
)
def test_a_target_that_cannot_be_meant_is_told_with_a_way_out(text, way_out):
    with pytest.raises(BuckError) as caught:
        check_target(text)
    assert way_out in str(caught.value)
