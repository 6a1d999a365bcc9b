"""The hook by which a plugin names libraries of Buck graphs: a broken one costs its own patterns."""

import types

import pytest

from aorta.buck.endless import is_endless
from aorta.buck.labels import parse_label
from aorta.buck.libraries import Libraries
from aorta.collect.request import Request
from aorta.instrumentation.extensions import extended
from aorta.plugin import buck_libraries
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost


def plugin(function, name="site_buck"):
    module = types.ModuleType(name)
    function.__module__ = name
    module.libraries = buck_libraries(function)
    return module


def wishes(*plugins, libraries=None):
    registry = discover(list(plugins), variable="")
    request = Request(buck_target="//app:trainer", buck_timeout=10, buck_libraries=libraries or {})
    return extended(request, registry, FakeHost()), registry


def test_a_plugin_that_only_names_libraries():
    def libraries():
        return {"site": "^site//comms:all$"}

    found, registry = wishes(plugin(libraries))
    assert found.buck_libraries == {"site": "^site//comms:all$"}
    assert found.complaints == ()
    [record] = [record for record in registry.plugins if record.name == "site_buck"]
    assert (record.status, record.sections) == ("loaded", ())


def test_the_callers_word_is_first():
    def libraries():
        return {"site": "a", "other": "b"}

    found, _ = wishes(plugin(libraries), libraries={"site": "c"})
    assert found.buck_libraries == {"site": "c", "other": "b"}


def test_a_target_may_be_of_several_libraries():
    """A pattern of one's own takes no entry of a built-in library away."""

    def libraries():
        return {"everything": "."}

    found, _ = wishes(plugin(libraries), libraries={"mine": ":torch$"})
    known = Libraries(found.buck_libraries)
    assert known.names(parse_label("site//comms:all")) == ["everything"]
    assert sorted(known.names(parse_label("site//third_party:torch"))) == ["everything", "mine", "pytorch"]


def test_a_single_function():
    @buck_libraries
    def libraries():
        return {"x": "y"}

    assert wishes(libraries)[0].buck_libraries == {"x": "y"}


def boom():
    raise OSError("token=hunter2-not-real")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda: 3, "int is no mapping"),
        (lambda: {"x": "("}, "no regular expression"),
        (lambda: {"x y": "z"}, "no name of a library"),
        (lambda: {"x": 3}, "has no pattern"),
        (boom, "OSError"),
        (lambda: {"x": "(a+)+$"}, "the pattern of x repeats what it repeats, and may never end"),
    ],
)
def test_a_broken_one_costs_its_own_patterns(function, said):
    def good():
        return {"good": "g"}

    found, _ = wishes(plugin(function, "broken"), plugin(good, "good_one"))
    assert found.buck_libraries == {"good": "g"}
    [complaint] = found.complaints
    assert "broken" in complaint
    assert said in complaint
    assert "hunter2" not in complaint


def test_it_is_not_called_without_a_target():
    called = []
    registry = discover([plugin(lambda: called.append(1))], variable="")
    extended(Request(), registry, FakeHost())
    assert called == []


def test_one_that_is_left_out():
    def libraries():
        return {"x": "y"}

    registry = discover([plugin(libraries)], variable="no:site_buck")
    assert extended(Request(buck_target="//a:b"), registry, FakeHost()).buck_libraries == {}


def test_one_that_wants_an_argument_is_left_out_when_it_is_found():
    found, registry = wishes(plugin(lambda more: {}, "broken"))
    assert found.buck_libraries == {}
    [record] = [record for record in registry.plugins if record.name == "broken"]
    assert record.status == "failed"
    assert "aorta_buck_libraries" in record.detail


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*b",
        "((.*)*)*x",
        "(?:a?b?)*c",
        "(?=(a*)*b)",
        ".*.*.*.*.*x",
        "(a{1,99}){1,99}",
        "(x(y(z+))*)*",
    ],
)
def test_a_pattern_that_may_never_end(pattern):
    assert is_endless(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "^site//comms:all$",
        "a",
        "^x//(a|b)/.*:[a-z_]+$",
        "(?:ab)*",
        "x{3}",
        "(a|b)?c",
        r"//third[-_]party/\w+:",
    ],
)
def test_a_pattern_that_ends(pattern):
    assert not is_endless(pattern)
