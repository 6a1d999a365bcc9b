"""The four sources of plugins; a broken one costs itself and leaves a record."""

import sys

import pytest

from aorta.instrumentation import capture
from aorta.model.codec import dump
from aorta.model.sections import ORDER
from aorta.plugin import discovery
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost

PLUGIN = '''
"""A plugin."""
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector


@collector(section="{section}", model=Annotated[str | None, Fact("A word.")], provenance=Provenance.PROCESS)
def collect(ctx: Context) -> str:
    """A word."""
    return "seen"
'''


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A directory on sys.path; what is imported from it is forgotten again."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def write(folder, name, text=None, section=None):
    (folder / f"{name}.py").write_text(
        text if text is not None else PLUGIN.format(section=section or f"{name}.word")
    )


def install(folder, distribution, *, version="1.2", **points):
    info = folder / f"{distribution}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[aorta.collectors]\n{lines}")


def record(registry, name):
    (found,) = [one for one in registry.plugins if one.name == name]
    return found


def document(registry, **wishes):
    return dump(capture(registry=registry, host=FakeHost(), **wishes))


def test_the_built_in_ones():
    registry = discover(outside=False)
    assert {one.source for one in registry.plugins} == {"builtin"}
    assert {one.status for one in registry.plugins} == {"loaded"}
    assert list(registry.collectors) == [name for name in ORDER if name in registry.collectors]


def test_an_argument(site):
    write(site, "acme_a")
    import acme_a

    for given, source in [(acme_a, "argument"), ("acme_a", "argument")]:
        registry = discover([given], variable="")
        assert record(registry, "acme_a").source == source
        assert document(registry)["extensions"]["acme_a.word"] == {"schema": "acme_a.word/1", "data": "seen"}
    registry = discover([acme_a.collect], variable="")
    assert record(registry, "acme_a.collect").module == "acme_a"
    assert "acme_a.word" in registry.collectors


def test_an_argument_that_is_any_holder(site):
    write(site, "acme_h")
    import acme_h

    class Holder:
        """Holds a function."""

        collect = staticmethod(acme_h.collect)

    for holder in (Holder, Holder()):
        assert record(discover([holder], variable=""), "Holder").sections == ("acme_h.word",)
    both = discover([Holder(), Holder()], variable="")
    assert [one.status for one in both.plugins if one.name == "Holder"] == ["loaded", "failed"]


def test_the_variable(site, monkeypatch):
    write(site, "acme_v")
    monkeypatch.setenv("AORTA_PLUGINS", " acme_v ,, no:rccl")
    registry = discover()
    assert record(registry, "acme_v").source == "environment"
    assert "rccl" in registry.blocked
    assert discover(outside=False).blocked == {}


def test_an_entry_point(site):
    write(site, "acme_e")
    install(site, "acme-tools", version="3.4", acme="acme_e")
    registry = discover(variable="")
    found = record(registry, "acme")
    assert (found.source, found.version, found.module, found.sections) == (
        "entry_point",
        "3.4",
        "acme_e",
        ("acme_e.word",),
    )
    assert document(registry)["extensions"]["acme_e.word"]["data"] == "seen"


def test_an_entry_point_that_is_a_function(site):
    write(site, "acme_f")
    install(site, "acme-f", acme="acme_f:collect")
    assert record(discover(variable=""), "acme").sections == ("acme_f.word",)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("raise ValueError('token=hunter2hunter2')", "ValueError: token=[redacted]"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("import sys; sys.exit('bye')", "SystemExit: bye"),
        ("class Own(BaseException): pass\nraise Own", "Own"),
        ("class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute", "Mute"),
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("def x(:", "SyntaxError: "),
        ("x = 1", "no @collector, @provider, @env_names or @buck_libraries in it"),
    ],
)
@pytest.mark.parametrize("source", ["argument", "environment", "entry_point"])
def test_a_broken_one_costs_itself(site, text, detail, source):
    write(site, "broken", text)
    write(site, "fine")
    if source == "entry_point":
        install(site, "broken-dist", broken="broken", fine="fine")
    registry = discover(
        ["broken", "fine"] if source == "argument" else [],
        variable="broken,fine" if source == "environment" else "",
    )
    found = record(registry, "broken")
    assert (found.status, found.source) == ("failed", source)
    assert detail in found.detail
    made = document(registry)
    assert made["extensions"]["fine.word"]["data"] == "seen"
    envelope = dict.fromkeys(("extensions", "collection", "captured_at", "partial", "partial_reasons"))
    assert {**made, **envelope} == {**document(discover(outside=False)), **envelope}
    (line,) = made["partial_reasons"]
    assert line.startswith("collection: the plugin broken is left out: ")
    (told,) = [one for one in made["collection"]["plugins"] if one["name"] == "broken"]
    assert (told["status"], told["source"]) == ("failed", source)


def test_an_entry_point_to_nowhere(site):
    install(site, "gone", gone="module_that_is_gone", half="json:nothing_there")
    registry = discover(variable="")
    assert "ModuleNotFoundError" in record(registry, "gone").detail
    assert "AttributeError" in record(registry, "half").detail


def test_metadata_that_cannot_be_read(site, monkeypatch):
    from importlib import metadata

    install(site, "acme-m", acme="acme_m")

    def broken(**_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(metadata, "entry_points", broken)
    registry = discover(variable="")
    assert record(registry, "aorta.collectors").status == "failed"
    assert "rocm" in registry.collectors


def test_ctrl_c_during_an_import(site):
    write(site, "stopped", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        discover(["stopped"], variable="")
    install(site, "stopped", stopped="stopped")
    with pytest.raises(KeyboardInterrupt):
        discover(variable="")


def test_no_section_blocks_but_its_keys_stay(monkeypatch):
    monkeypatch.setenv("AORTA_PLUGINS", "no:rccl")
    made = dump(capture(host=FakeHost()))
    assert made["rccl"] == dict.fromkeys(
        discover(outside=False).collectors["rccl"].model.__attrs_attrs__ and made["rccl"]
    )
    assert set(made["rccl"].values()) == {None}
    assert made["collection"]["collectors"]["rccl"]["status"] == "not_requested"
    (reason,) = [one for one in made["collection"]["reasons"] if one["section"] == "rccl"]
    assert (reason["kind"], reason["detail"]) == ("not_requested", "left out by AORTA_PLUGINS")
    (told,) = [one for one in made["collection"]["plugins"] if one["name"].endswith(".rccl")]
    assert told["status"] == "blocked"
    assert not made["partial"]


TWO = (
    PLUGIN.format(section="duo.one")
    + '''

@collector(section="duo.two", model=Annotated[int | None, Fact("A number.")], provenance=Provenance.PROCESS)
def another(ctx: Context) -> int:
    """A number."""
    return 2
'''
)


def test_no_section_of_several(site):
    write(site, "duo", TWO)
    made = document(discover(["duo"], variable="no:duo.one"))
    assert made["extensions"]["duo.one"]["data"] is None
    assert made["extensions"]["duo.two"]["data"] == 2
    assert made["collection"]["collectors"]["duo.one"]["status"] == "not_requested"


@pytest.mark.parametrize("word", ["no:acme_x", "no:acme"])
def test_an_outside_plugin_that_is_left_out_is_not_imported(site, word):
    write(site, "acme_x", "raise SystemExit")
    install(site, "acme-x", acme="acme_x")
    registry = discover(variable=word)
    found = record(registry, "acme")
    assert (found.status, found.detail) == ("blocked", "left out by AORTA_PLUGINS")
    assert "acme_x" not in sys.modules
    assert record(discover(variable="acme_x,no:acme_x"), "acme_x").status == "blocked"


def test_an_argument_that_is_left_out(site):
    write(site, "acme_y")
    registry = discover(["acme_y"], variable="no:acme_y")
    assert record(registry, "acme_y").status == "blocked"
    assert "acme_y.word" not in registry.collectors


def test_one_plugin_from_two_sources_is_one(site):
    write(site, "acme_t")
    install(site, "acme-t", acme="acme_t")
    registry = discover(["acme_t"], variable="acme_t")
    assert [one.source for one in registry.plugins if one.module == "acme_t"] == ["argument"]


def test_two_plugins_of_one_name(site):
    write(site, "first", section="first.word")
    write(site, "second", section="second.word")
    install(site, "first-dist", same="first")
    install(site, "second-dist", same="second")
    registry = discover(variable="")
    assert sorted(one.status for one in registry.plugins if one.name == "same") == ["failed", "loaded"]
    (failed,) = [one for one in registry.plugins if one.name == "same" and one.status == "failed"]
    assert (
        failed.detail == "another plugin is called same already: first-dist 1.2 (entry_point, module first)"
    )


def test_a_function_imported_from_a_sibling_is_not_registered_twice(site):
    write(site, "sibling_a")
    write(
        site,
        "sibling_b",
        "from sibling_a import collect as collect\n"
        + PLUGIN.format(section="b.word").replace("def collect(", "def mine("),
    )
    registry = discover(["sibling_a", "sibling_b"], variable="")
    assert record(registry, "sibling_a").sections == ("sibling_a.word",)
    assert record(registry, "sibling_b").sections == ("b.word",)


def test_a_plugin_without_a_namespace():
    registry = discover([object()], variable="no:rccl")
    assert record(registry, "object").status == "failed"


def test_every_built_in_collector_is_listed():
    import pkgutil

    import aorta_collectors
    import aorta_collectors.providers as providers
    from aorta.plugin.manager import specs_of

    names = [f"aorta_collectors.{one.name}" for one in pkgutil.iter_modules(aorta_collectors.__path__)]
    names += [f"aorta_collectors.providers.{one.name}" for one in pkgutil.iter_modules(providers.__path__)]
    with_specs = {name for name in names if specs_of(__import__(name, fromlist=["x"]))}
    assert with_specs - set(discovery.BUILTIN) == set()
