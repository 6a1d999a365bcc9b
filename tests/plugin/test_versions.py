"""Two of one name, versions of one plugin, a plugin for another aorta, one without metadata: a clear text each."""

import sys

import pytest

from aorta.instrumentation import capture
from aorta.model.codec import dump
from aorta.plugin import HOOKS, RegistrationError, collector, provider
from aorta.plugin.discovery import discover
from aorta.testing import FakeHost
from tests.plugin.test_discovery import PLUGIN, document, install, record, site, write

__all__ = ["site"]

THIS = f"this aorta has version {HOOKS} of the hooks"


def failed(registry):
    (found,) = [one for one in registry.plugins if one.status == "failed"]
    made = document(registry)
    (line,) = made["partial_reasons"]
    assert line.startswith(f"collection: the plugin {found.name} is left out: {found.detail}")
    (told,) = [one for one in made["collection"]["plugins"] if one["status"] == "failed"]
    assert told["detail"] == found.detail
    return found


def test_two_modules_with_one_section(site):
    write(site, "acme_one", section="acme.word")
    write(site, "acme_two", section="acme.word")
    registry = discover(["acme_one", "acme_two"], variable="")
    found = failed(registry)
    assert found.name == "acme_two"
    assert "the name 'acme.word' is taken by" in found.detail
    assert "acme_two.py:" in found.detail
    assert "acme_one.py:" in found.detail
    assert document(registry)["extensions"]["acme.word"]["data"] == "seen"


def test_two_distributions_with_one_entry_point(site):
    write(site, "acme_one")
    write(site, "acme_two")
    install(site, "acme_old", version="1.0", acme="acme_one")
    install(site, "acme_new", version="2.0", acme="acme_two")
    found = failed(discover(variable=""))
    assert (
        found.detail == "another plugin is called acme already: acme_old 1.0 (entry_point, module acme_one)"
    )
    assert (found.name, found.version, found.module) == ("acme", "2.0", "acme_two")


def test_two_distributions_of_one_module(site):
    write(site, "acme_both")
    install(site, "acme_old", version="1.0", acme="acme_both")
    install(site, "acme_new", version="2.0", acme="acme_both")
    found = failed(discover(variable=""))
    assert "acme_old 1.0 (entry_point, module acme_both)" in found.detail
    assert "acme_new 2.0 (entry_point, module acme_both)" in found.detail
    assert "declare one module, acme_both; which of them it is of cannot be told" in found.detail


def test_two_names_of_one_distribution_for_one_module_are_one_plugin(site):
    write(site, "acme_twice")
    install(site, "acme-twice", a="acme_twice", b="acme_twice")
    registry = discover(variable="")
    assert [one.status for one in registry.plugins if one.module == "acme_twice"] == ["loaded"]


def test_a_plugin_whose_twin_is_left_out_stays_told(site):
    """Both are of one name; taking back the first for its need must not take the record of the second."""
    write(
        site,
        "acme_needs",
        PLUGIN.format(section="acme.needs")
        .replace("provenance=Provenance.PROCESS", "provenance=Provenance.PROCESS, needs=(Nobody,)")
        .replace(
            "from aorta.plugin import collector",
            "from aorta.plugin import collector\nfrom aorta.collect import Answer as Nobody",
        ),
    )
    write(site, "acme_other")
    install(site, "acme_a", acme="acme_needs")
    install(site, "acme_b", acme="acme_other")
    found = [one for one in discover(variable="").plugins if one.name == "acme"]
    assert sorted(one.module for one in found) == ["acme_needs", "acme_other"]
    assert {one.status for one in found} == {"failed"}


@pytest.mark.parametrize("source", ["argument", "entry_point", "function", "object"])
def test_a_plugin_for_newer_hooks(site, source):
    write(site, "acme_new", f"AORTA_HOOKS = {HOOKS + 1}\n" + PLUGIN.format(section="acme_new.word"))
    if source == "entry_point":
        install(site, "acme-new", acme_new="acme_new")
    if source == "function":
        install(site, "acme-new", acme_new="acme_new:collect")
    if source == "object":
        sys.path_importer_cache.clear()
        registry = discover([__import__("acme_new")], variable="")
    else:
        registry = discover(["acme_new"] if source == "argument" else [], variable="")
    wanted = f"it is made for version {HOOKS + 1} of the hooks, and {THIS}: a newer aorta is needed"
    assert failed(registry).detail == f"acme_new: {wanted}"


@pytest.mark.parametrize("value", ["'2'", "True", "0", "1.5", "None"])
def test_a_version_that_is_none(site, value):
    write(site, "acme_odd", f"AORTA_HOOKS = {value}\n" + PLUGIN.format(section="acme_odd.word"))
    assert (
        f"AORTA_HOOKS is {value}, which is no version; {THIS}"
        in failed(discover(["acme_odd"], variable="")).detail
    )


def test_a_plugin_for_these_hooks(site):
    write(site, "acme_now", f"AORTA_HOOKS = {HOOKS}\n" + PLUGIN.format(section="acme_now.word"))
    assert record(discover(["acme_now"], variable=""), "acme_now").status == "loaded"


def test_a_keyword_that_only_a_later_aorta_knows(site):
    text = PLUGIN.format(section="acme_kw.word").replace("section=", "retries=3, share=True, section=")
    write(site, "acme_kw", text)
    detail = failed(discover(["acme_kw"], variable="")).detail
    assert detail == f"{site}/acme_kw.py:11: @collector does not know retries=, share=; {THIS}"


def test_such_a_keyword_is_told_to_its_author():
    with pytest.raises(RegistrationError, match=r"test_versions\.py:\d+: @provider does not know shared=; "):
        provider(model=object, shared=True)
    with pytest.raises(RegistrationError, match=r"@collector does not know cost=; this aorta has version"):
        collector(section="x.y", model=object, provenance=(), cost=3)
    with pytest.raises(TypeError, match="section"):
        collector(model=object, provenance=())


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        ('Fact("A word.")', 'Fact("A word.", unit="s")', "unexpected keyword argument 'unit'"),
        (
            "import collector",
            "import collector, retention",
            "cannot import name 'retention' from 'aorta.plugin'",
        ),
        ("import Context", "import Context, Later", "cannot import name 'Later' from 'aorta.collect'"),
        ("import Context", "import Context\nimport aorta.later", "No module named 'aorta.later'"),
    ],
)
def test_what_only_a_later_aorta_has(site, old, new, detail):
    write(site, "acme_late", PLUGIN.format(section="acme_late.word").replace(old, new))
    told = failed(discover(["acme_late"], variable="")).detail
    assert detail in told
    assert f" at {site}/acme_late.py:" in told
    assert told.endswith(f"; {THIS}")


def test_a_plugin_without_metadata(site):
    """It is named as a module, has no version, and works: in a zip or a link tree nothing else is there."""
    write(site, "acme_bare")
    registry = discover(variable="acme_bare")
    assert (record(registry, "acme_bare").version, record(registry, "acme_bare").status) == (None, "loaded")
    assert document(registry)["extensions"]["acme_bare.word"]["data"] == "seen"


def test_a_distribution_without_a_version(site):
    write(site, "acme_blank")
    install(site, "acme-blank", acme="acme_blank")
    (site / "acme-blank-1.2.dist-info" / "METADATA").unlink()
    registry = discover(variable="")
    assert (record(registry, "acme").version, record(registry, "acme").status) == (None, "loaded")


def test_the_time_that_finding_takes_is_told():
    assert 0 < discover(variable="").took_s < 60
    made = dump(capture(host=FakeHost(), sections=["host"]))
    assert made["collection"]["collectors"]["host"]["status"] in ("ok", "partial")
