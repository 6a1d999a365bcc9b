"""Where workloads come from, and what one that is broken costs."""

import sys

import pytest

from aorta.workloads import discovery
from aorta.workloads.discovery import BrokenWorkloadError, UnknownWorkloadError, find, found

SOUND = """
from aorta.workloads import Workload, WorkloadResult

class Warm(Workload):
    def run(self):
        return WorkloadResult(passed=True)

class HeatUp(Warm):
    pass
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A directory on sys.path; what is imported from it is forgotten again."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv("AORTA_WORKLOADS", raising=False)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def module(site):
    """Return a function that writes a module."""
    return lambda name, text=SOUND: (site / f"{name}.py").write_text(text)


@pytest.fixture
def distribution(site):
    """Return a function that writes the metadata of an installed distribution."""

    def write(name, **points):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = "\n".join(f"{key} = {value}" for key, value in points.items())
        (info / "entry_points.txt").write_text(f"[aorta.workloads]\n{lines}\n")

    return write


def named(every, name):
    return [one for one in every if one.name == name]


def test_metadata_that_cannot_be_read_costs_no_built_in_workload(distribution, site):
    distribution("broken")
    (site / "broken-1.0.dist-info" / "entry_points.txt").write_text("[aorta.workloads]\nno_value\n")
    (told,) = [one for one in discovery.found() if one.status == discovery.FAILED]
    assert told.problem.startswith("the entry points of aorta.workloads cannot be read: ")
    assert discovery.located("ranks").source == discovery.BUILT_IN


def test_a_distribution_without_a_version_is_told_by_what_it_declares(distribution, site, module):
    distribution("nameless", warm="acme_warm:Warm")
    (site / "nameless-1.0.dist-info" / "METADATA").unlink()
    module("acme_warm")
    (found,) = named(discovery.found(), "warm")
    assert found.owner == "a distribution that declares acme_warm:Warm"


@pytest.mark.parametrize("name", [name for name, _ in discovery.BUILTIN])
def test_built_in_ones(name, monkeypatch):
    """They are found without a look at anything else, and import no torch."""
    monkeypatch.setattr(discovery, "found", None)
    cls = find(name)
    assert cls.__doc__
    assert "torch" not in sys.modules


def test_an_entry_point(module, distribution):
    module("heating")
    distribution("acme-heating", warm="heating:Warm")
    (one,) = named(found(), "warm")
    assert (one.source, one.owner, one.status) == ("entry_point", "acme-heating 1.0", "declared")
    assert "heating" not in sys.modules
    assert find("warm").__name__ == "Warm"


@pytest.mark.parametrize("kind", ["set", "tuple", "list", "frozenset"])
def test_ways_of_isolation_are_any_collection(module, monkeypatch, kind):
    module("heating", SOUND + f"\nWarm.trial_isolation_supported = {kind}(['process', 'in_process'])")
    monkeypatch.setenv("AORTA_WORKLOADS", "warm=heating:Warm")
    assert "process" in find("warm").trial_isolation_supported


def test_the_variable_needs_no_distribution(module, monkeypatch):
    module("heating")
    monkeypatch.setenv("AORTA_WORKLOADS", " heating:HeatUp , hot=heating:Warm,")
    assert find("heat_up").__name__ == "HeatUp"
    assert find("hot").__name__ == "Warm"
    assert [one.status for one in found(load=True)] == ["loaded"] * 6


@pytest.mark.parametrize("value", ["heating", "a b=heating:Warm", "x=heating", "x=:Warm", "x=heating:Warm:y"])
def test_a_variable_that_is_nothing_is_told(monkeypatch, site, value):
    monkeypatch.setenv("AORTA_WORKLOADS", value)
    (one,) = [one for one in found() if one.source == "environment"]
    assert one.status == "failed"
    assert "is neither module:Class nor NAME=module:Class" in one.problem


def test_unknown_names_say_what_may_be_meant(site):
    with pytest.raises(UnknownWorkloadError) as caught:
        find("trainin")
    text = str(caught.value)
    assert "no workload is called 'trainin': did you mean training?" in text
    assert "There are command, race, ranks, training." in text


def test_a_name_like_no_other_says_how_to_declare_one(site):
    with pytest.raises(
        UnknownWorkloadError, match="One of your own is told by AORTA_WORKLOADS=NAME=module:Class"
    ):
        find("heating")


def test_a_module_that_is_not_found_says_where_it_is_looked_for(site, monkeypatch):
    monkeypatch.setenv("AORTA_WORKLOADS", "hot=no.such.module:Warm")
    with pytest.raises(UnknownWorkloadError, match="put the folder that holds it into PYTHONPATH"):
        find("hot")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise RuntimeError('no GPU')", "RuntimeError: no GPU"),
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("", "AttributeError"),
        ("Warm = 3", "it is no subclass of aorta.workloads.Workload but int"),
        ("class Warm: pass", "it is no subclass of aorta.workloads.Workload but class Warm"),
        ("from aorta.workloads import Workload as Warm", "it has no run()"),
        (SOUND + "\nWarm.launch_mode = 'many'", "launch_mode is 'many', not single_process or distributed"),
        (SOUND + "\nWarm.min_world_size = 0", "min_world_size is 0"),
        (
            SOUND + "\nWarm.trial_isolation_default = 'process'",
            "which trial_isolation_supported does not hold",
        ),
        (SOUND + "\nWarm.trial_isolation_supported = {'thread'}", "not a set of in_process and process"),
        (SOUND + "\nWarm.trial_isolation_supported = 'process'", "not a set of in_process and process"),
        (SOUND + "\nWarm.requires = 'torch'", "requires is 'torch', not a list of names of modules"),
        (SOUND + "\nWarm.config_type = dict", "not an attrs class"),
        (SOUND + "\nWarm.launches_container = 1", "not true or false"),
        (SOUND + "\nWarm.distributed_result_scope = 'rank_local'", "is for distributed workloads"),
    ],
)
def test_a_broken_one_costs_only_itself(module, distribution, text, why):
    module("heating", text)
    module("cooling", SOUND.replace("Warm", "Cold"))
    distribution("acme", warm="heating:Warm", cold="cooling:Cold")
    every = found(load=True)
    (broken,) = named(every, "warm")
    assert broken.status == "failed"
    assert broken.problem.startswith("workload warm of acme 1.0: heating:Warm cannot be ")
    assert why in broken.problem
    assert named(every, "cold")[0].status == "loaded"
    with pytest.raises(BrokenWorkloadError, match="heating:Warm"):
        find("warm")


def test_an_import_that_ends_its_process_is_not_imported_for_a_list(module, distribution):
    module("heating", "import os; os._exit(3)")
    distribution("acme", warm="heating:Warm")
    (broken,) = named(found(load=True), "warm")
    assert broken.status == "failed"
    assert broken.problem.startswith("acme 1.0: heating:Warm: ")


def test_a_name_taken_twice_names_both(module, distribution):
    module("heating")
    distribution("acme", warm="heating:Warm")
    distribution("other", warm="heating:HeatUp")
    both = "the name warm is taken twice: by other 1.0 (heating:HeatUp) and by acme 1.0 (heating:Warm)"
    assert [one.problem for one in named(found(), "warm")] == [both, both]
    with pytest.raises(BrokenWorkloadError) as caught:
        find("warm")
    assert str(caught.value) == both


def test_one_class_declared_twice_is_one(module, distribution, monkeypatch):
    module("heating")
    distribution("acme", warm="heating:Warm")
    monkeypatch.setenv("AORTA_WORKLOADS", "warm=heating:Warm")
    assert len(named(found(), "warm")) == 1


def test_a_built_in_name_keeps_its_meaning(module, distribution):
    module("heating")
    distribution("acme", race="heating:Warm")
    ours, theirs = named(found(), "race")
    assert (ours.source, ours.problem) == ("builtin", None)
    assert theirs.problem == (
        "the name race is taken twice: by aorta (aorta.workloads.race:Race) and by acme 1.0 (heating:Warm)"
    )
    assert find("race").__module__ == "aorta.workloads.race.work"


def test_an_entry_point_that_is_none(distribution):
    distribution("acme", warm="not a target")
    assert named(found(), "warm")[0].problem == "acme 1.0: 'not a target' is not module:Class"
