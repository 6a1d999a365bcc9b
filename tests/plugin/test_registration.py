"""Every fault of a declaration is found before anything runs, and its text names file and line."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import attrs
import pytest

from aorta.model.fact import Fact
from aorta.model.vocabulary import Detail, Provenance, Scope
from aorta.plugin import RegistrationError, collector, provider
from aorta.plugin.declare import summary_of
from aorta.plugin.registry import Candidate, NeedError, Registry

ROOT = Path(__file__).resolve().parents[2]
HERE = re.escape(__file__)


@attrs.frozen(kw_only=True)
class Good:
    """A good model."""

    size: Annotated[int | None, Fact("Bytes.")] = None


@attrs.frozen(kw_only=True)
class Another:
    """Another good model."""

    size: Annotated[int | None, Fact("Bytes.")] = None


@attrs.frozen(kw_only=True)
class Third:
    """And another."""


@attrs.frozen(kw_only=True)
class Bare:
    """A field without Fact."""

    size: int | None = None


@attrs.frozen(kw_only=True)
class EmptyDoc:
    """A field whose doc is blank."""

    size: Annotated[int | None, Fact(" ")] = None


@attrs.frozen(kw_only=True)
class Deep:
    """A member without Fact, inside a list."""

    parts: Annotated[tuple[Bare, ...] | None, Fact("x")] = None


@attrs.frozen(kw_only=True)
class NoDefault:
    """A field without a default."""

    size: Annotated[int | None, Fact("x")]


@attrs.frozen(kw_only=True)
class Claims:
    """A default that claims something."""

    present: Annotated[bool | None, Fact("x")] = False


@attrs.frozen(kw_only=True)
class NeverNull:
    """A field that cannot be null."""

    size: Annotated[int, Fact("x")] = None


@attrs.frozen(kw_only=True)
class Strange:
    """A type that the document cannot hold."""

    when: Annotated[set[str] | None, Fact("x")] = None


@attrs.frozen(kw_only=True)
class Unmakeable:
    """It refuses to be made."""

    size: Annotated[int | None, Fact("x")] = None

    def __attrs_post_init__(self):
        raise ValueError("never")


def declared(function=None, /, **changes):
    """Return a function under @collector, by default a good one."""
    if function is None:

        def function(ctx):
            """What it is."""

    wishes = {"section": "vendor.good", "model": Good, "provenance": Provenance.PROCESS, **changes}
    return collector(**wishes)(function)


def provided(model, needs=()):
    @provider(model=model, needs=needs)
    def make(ctx):
        """What it is."""

    return make


class Plugin:
    """Holds functions as a module does."""

    def __init__(self, **members):
        self.__dict__.update(members)


def registry(*plugins, source="argument"):
    return Registry(
        Candidate(name=f"p{number}", source=source, plugin=plugin) for number, plugin in enumerate(plugins)
    )


def failure(*functions):
    made = registry(Plugin(**{f"f{n}": function for n, function in enumerate(functions)}))
    (record,) = made.plugins
    assert record.status == "failed"
    assert (made.collectors, made.providers) == ({}, {})
    assert re.search(rf"{HERE}:\d+: ", record.detail), record.detail
    return record.detail


def test_a_good_one():
    made = registry(Plugin(f=declared(), g=provided(Another)))
    assert list(made.collectors) == ["vendor.good"]
    assert list(made.providers) == ["Another"]
    assert made.plugins[0].status == "loaded"
    assert made.plugins[0].sections == ("vendor.good",)
    spec = made.collectors["vendor.good"]
    assert (spec.summary, spec.timeout_s, spec.scope, spec.detail) == (
        "What it is.",
        10.0,
        Scope.PROCESS,
        Detail.COMPACT,
    )
    assert made.providers["Another"].summary == "What it is."


def test_the_summary_is_the_first_line():
    def function():
        """
        The first line.

        More.
        """

    assert summary_of(function) == "The first line."
    assert summary_of(lambda: None) == ""


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"timeout_s": 0}, "has the deadline 0, which is no positive number"),
        ({"timeout_s": -1}, "has the deadline -1"),
        ({"timeout_s": float("inf")}, "has the deadline inf"),
        ({"timeout_s": float("nan")}, "has the deadline nan"),
        ({"timeout_s": True}, "has the deadline True"),
        ({"timeout_s": "5"}, "has the deadline '5'"),
        ({"section": ""}, "has the section '', which is no name"),
        ({"section": "a..b"}, "has the section 'a..b'"),
        ({"section": "vendor.a b"}, "which is no name"),
        ({"section": 5}, "has the section 5"),
        ({"section": "good"}, "of an outside plugin is named 'vendor.name'"),
        ({"provenance": ()}, "declares no provenance"),
        ({"provenance": "process"}, "has the provenance 'process', which is no Provenance"),
        ({"provenance": None}, "has the provenance None, which is no Provenance"),
        ({"scope": "namespace"}, "has the scope 'namespace', which is no Scope"),
        ({"detail": "full"}, "has the detail 'full', which is no Detail"),
        ({"needs": ("Good",)}, "needs 'Good', which is no attrs class"),
        ({"needs": int}, "needs <class 'int'>, which is no attrs class"),
        ({"needs": Another}, "needs Another, which nothing makes"),
        ({"needs": (Another,)}, "needs Another, which nothing makes"),
        ({"needs": (Good,)}, "needs itself: vendor.good -> vendor.good"),
        ({"model": bool}, "without a Fact"),
        ({"model": Annotated[bool, Fact("x")]}, "has a model that cannot be null"),
        ({"model": Annotated[bool | None, Fact("")]}, "without a Fact"),
        ({"model": set}, "has a model that cannot be written"),
        ({"model": Bare}, "has the field size without a Fact"),
        ({"model": EmptyDoc}, "has the field size without a Fact"),
        ({"model": Deep}, r"has the field parts\[\].size without a Fact"),
        ({"model": Annotated[tuple[Bare, ...] | None, Fact("x")]}, r"has the field \[\].size without a Fact"),
        ({"model": NoDefault}, "has the field size without a default"),
        ({"model": Claims}, "has the field present with the default False"),
        ({"model": NeverNull}, "has the field size that cannot be null"),
        ({"model": Strange}, "cannot be written: Strange.when"),
        ({"model": Unmakeable}, "cannot be made without values: ValueError: never"),
    ],
)
def test_faults_of_a_section(changes, text):
    assert re.search(text, failure(declared(**changes)))


def no_argument():
    """x."""


def two(ctx, more):
    """x."""


def other_name(context):
    """x."""


def keyword_only(*, ctx):
    """x."""


def any_number(*ctx):
    """x."""


def also_keywords(ctx, **more):
    """x."""


@pytest.mark.parametrize("function", [no_argument, two, other_name, keyword_only, any_number, also_keywords])
def test_wrong_signatures(function):
    assert "must take exactly one argument, ctx" in failure(declared(function))


def test_a_class_is_no_function():
    class Callable:
        """x."""

        def __call__(self, ctx):
            return None

    (record,) = registry(Plugin(f=declared(Callable))).plugins
    assert record.status == "failed"
    assert "must take exactly one argument, ctx" in record.detail


def test_no_docstring():
    assert "has no docstring" in failure(declared(lambda ctx: None))


def test_a_wrapped_function_is_known_by_what_it_wraps():
    import functools

    def inner(ctx):
        """Inside."""

    @functools.wraps(inner)
    def outer(*args):
        return inner(*args)

    made = registry(Plugin(f=declared(outer)))
    assert made.plugins[0].status == "loaded", made.plugins[0].detail
    assert made.collectors["vendor.good"].place == f"{__file__}:{inner.__code__.co_firstlineno}"


def test_a_provider_makes_an_attrs_class():
    assert "which is no attrs class" in failure(provided(Annotated[int | None, Fact("x")]))


def test_a_plugin_with_nothing_in_it():
    (record,) = registry(Plugin(f=len)).plugins
    assert (record.status, record.detail) == (
        "failed",
        "p0: no @collector, @provider, @env_names or @buck_libraries in it",
    )


def test_a_taken_section_names_both_places():
    first, second = declared(), declared(model=Another)
    made = registry(Plugin(f=first), Plugin(f=second))
    assert made.plugins[1].status == "failed"
    lines = [function.__code__.co_firstlineno for function in (second, first)]
    assert made.plugins[1].detail == (
        f"{__file__}:{lines[0]}: the name 'vendor.good' is taken by {__file__}:{lines[1]}"
    )
    assert made.collectors["vendor.good"].model is Good
    assert "is taken by" in failure(declared(), declared(model=Another))


def test_two_providers_of_one_name_are_told_apart():
    @attrs.frozen(kw_only=True)
    class Good:
        """Another class of that name."""

    made = registry(Plugin(f=provided(Good)), Plugin(f=provided(globals()["Good"])))
    assert made.plugins[1].status == "failed"
    assert "the name 'Good' is taken by" in made.plugins[1].detail
    assert made.providers["Good"].model is Good


def test_a_class_is_made_once():
    assert "makes Good, which" in failure(declared(), declared(section="vendor.other"))


def test_one_function_under_two_names_is_one():
    function = declared()
    made = registry(Plugin(f=function, g=function))
    assert made.plugins[0].sections == ("vendor.good",)


def test_a_cycle_names_all_of_it():
    text = failure(declared(needs=(Another,)), provided(Another, needs=(Good,)))
    assert re.search(
        r"needs itself: (vendor.good -> Another -> vendor.good|Another -> vendor.good -> Another)", text
    )


def test_who_needs_what_was_left_out_is_left_out_too():
    broken = Plugin(f=provided(Another, needs=(Third,)))
    user = Plugin(f=declared(needs=(Another,)))
    fine = Plugin(f=declared(section="vendor.fine", model=Annotated[bool | None, Fact("x")]))
    made = registry(broken, user, fine)
    assert {record.name: record.status for record in made.plugins} == {
        "p0": "failed",
        "p1": "failed",
        "p2": "loaded",
    }
    assert list(made.collectors) == ["vendor.fine"]
    assert made.graph() == {"vendor.fine": set()}


def test_an_outside_plugin_in_a_cycle_with_a_built_in_one_is_at_fault():
    builtin = Candidate(
        name="b", source="builtin", plugin=Plugin(f=declared(section="good", needs=(Another,)))
    )
    outside = Candidate(name="o", source="argument", plugin=Plugin(f=provided(Another, needs=(Good,))))
    with pytest.raises(NeedError, match="good needs Another, which nothing makes"):
        Registry([builtin, outside])


def test_a_built_in_plugin_must_be_right():
    for plugin, text in [
        (Plugin(f=declared(section="vendor.good")), "the built-in section 'vendor.good' has a dot"),
        (Plugin(f=declared(section="good", timeout_s=0)), "deadline"),
        (Plugin(f=declared(section="good", needs=(Another,))), "which nothing makes"),
    ]:
        with pytest.raises(RegistrationError, match=text):
            registry(plugin, source="builtin")


def test_order():
    class Boolean:
        model = Annotated[bool | None, Fact("x")]

    functions = [declared(section=name, model=Boolean.model) for name in ("zz", "b", "yy", "a")]
    candidates = [
        Candidate(name="p", source="builtin", plugin=Plugin(**{f"f{n}": f for n, f in enumerate(functions)}))
    ]
    assert list(Registry(candidates, order=("a", "b")).collectors) == ["a", "b", "zz", "yy"]


def test_members_of_a_plugin_may_be_anything():
    class Evil:
        def __getattr__(self, name):
            raise SystemExit(3)

    class Proud:
        """It answers to every name."""

        def __getattr__(self, name):
            return self

    made = registry(Plugin(f=declared(), evil=Evil(), proud=Proud()))
    assert list(made.collectors) in (["vendor.good"], [])
    assert made.plugins[0].status in ("loaded", "failed")
    made = registry(Plugin(f=declared(), proud=Proud()))
    assert list(made.collectors) == ["vendor.good"]


def test_a_plugin_whose_members_end_the_process():
    class Leaves:
        @property
        def f(self):
            raise SystemExit(3)

    (record,) = registry(Leaves()).plugins
    assert (record.status, record.detail) == ("failed", "SystemExit: 3")


def test_ctrl_c_is_not_swallowed():
    class Stopped:
        @property
        def f(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        registry(Stopped())


def test_a_deadline_beyond_all_measure_is_refused():
    assert "which is no positive number of seconds up to 1e+06" in failure(declared(timeout_s=10**400))


@pytest.mark.parametrize("level", ["", "-O", "-OO"])
def test_built_in_collectors_register_without_docstrings(level):
    command = [
        sys.executable,
        *([level] if level else []),
        "-c",
        "from aorta.plugin.discovery import discover; print(len(discover().collectors))",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/collectors"},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 18
