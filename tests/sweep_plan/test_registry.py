"""Names of mitigations and environments, and who defines them."""

import sys

import pytest

from aorta.sweep.definitions.registry import registries
from aorta.sweep.errors import RegistryError
from aorta.sweep.recipe.model import Change, EnvironmentRecipe, Recipe, Resolved
from tests.parts.uncovered import UNCOVERED
from tests.sweep_plan.conftest import cell, command, probe

BUILTIN = {
    "none": {},
    "tf32_off": {"DISABLE_TF32": "1"},
    "xnack": {"HSA_XNACK": "1"},
    "gpu_max_hw_queues_2": {"GPU_MAX_HW_QUEUES": "2"},
    "debug_hip_dynamic_queues_1": {"DEBUG_HIP_DYNAMIC_QUEUES": "1"},
    "debug_hip_dynamic_queues_2": {"DEBUG_HIP_DYNAMIC_QUEUES": "2"},
    "roc_aql_queue_size_1024": {"ROC_AQL_QUEUE_SIZE": "1024"},
    "hsa_no_sdma": {"HSA_ENABLE_SDMA": "0"},
    "hsa_no_scratch_reclaim": {"HSA_NO_SCRATCH_RECLAIM": "1"},
    "hsa_disable_cache": {"HSA_DISABLE_CACHE": "1"},
    "hsa_enable_cache": {"HSA_DISABLE_CACHE": "0"},
    "roc_signal_pool_16k": {"ROC_SIGNAL_POOL_SIZE": "16384"},
    "gpu_force_blit_copy_128": {"GPU_FORCE_BLIT_COPY_SIZE": "128"},
    "debug_clr_no_batch_cpu_sync": {"DEBUG_CLR_BATCH_CPU_SYNC_SIZE": "0"},
    "nccl_launch_order_implicit": {"NCCL_LAUNCH_ORDER_IMPLICIT": "1"},
    "rccl_gfx942_cheap_fence_off": {"RCCL_GFX942_CHEAP_FENCE_OFF": "1"},
    "pytorch_no_cuda_memory_caching": {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
    "pytorch_alloc_expandable_segments": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
    "hip_launch_blocking": {"HIP_LAUNCH_BLOCKING": "1"},
    "amd_log_level_4": {"AMD_LOG_LEVEL": "4"},
    "fa_prefer_ck": {"TORCH_ROCM_FA_PREFER_CK": "1"},
    "fa_prefer_aotriton": {"TORCH_ROCM_FA_PREFER_CK": "0"},
}


def refused(*arguments):
    with pytest.raises(RegistryError) as caught:
        registries(*arguments)
    return caught.value.problems


def test_the_built_in_ones():
    known = registries()
    assert {name: dict(one.change.set) for name, one in known.mitigations.items()} == BUILTIN
    assert all(not one.change.unset and not one.change.prepend for one in known.mitigations.values())
    assert {one.source for one in known.mitigations.values()} == {"aorta"}
    assert all(one.summary for one in (*known.mitigations.values(), *known.environments.values()))
    assert list(known.environments) == ["local", "default", "emulated-rocjitsu", "emulated-rocjitsu-dbt"]
    emulated = known.environments["emulated-rocjitsu-dbt"]
    assert (emulated.emulator, emulated.mirage_profile) == ("rocjitsu-dbt", "dbt-mi350x")
    assert known.problems == ()


def test_an_unknown_name_says_what_is_meant_and_what_shows_all():
    known = registries()
    with pytest.raises(
        RegistryError, match="'xnak': did you mean xnack.*aorta sweep list-mitigations shows all"
    ):
        known.mitigation("xnak")
    with pytest.raises(
        RegistryError, match="'locl': did you mean local.*aorta sweep list-environments shows all"
    ):
        known.environment("locl")
    with pytest.raises(RegistryError) as caught:
        known.mitigation("zzz\n")
    assert caught.value.problems == (
        "no mitigation is called 'zzz\\\\n': aorta sweep list-mitigations shows all",
    )


def test_a_sidecar_and_a_plugin(sidecar, install):
    install(
        "acme_knobs",
        "FAST = {'FAST': '1'}\nLEAN = {'set': {'A': 'b'}, 'unset': ['C'], 'prepend': {'PATH': '/x'}}\n"
        "PLACE = {'venv': '/opt/v', 'env': {'D': 'e'}}\n",
        mitigations={"acme_fast": "acme_knobs:FAST", "acme_lean": "acme_knobs:LEAN"},
        environments={"acme": "acme_knobs:PLACE"},
    )
    path = sidecar(
        mitigations={"own": {"set": {}, "unset": ["HSA_XNACK"]}}, environments={"nightly": {"venv": "/v"}}
    )
    known = registries([path])
    assert known.mitigation("acme_fast").change == Change(set={"FAST": "1"})
    assert known.mitigation("acme_fast").source == "acme_knobs 1.2"
    assert known.mitigation("acme_lean").change == Change(
        set={"A": "b"}, unset=("C",), prepend={"PATH": "/x"}
    )
    assert (known.environment("acme").venv, dict(known.environment("acme").env.set)) == ("/opt/v", {"D": "e"})
    assert known.mitigation("own").change.unset == ("HSA_XNACK",)
    assert known.mitigation("own").source == known.environment("nightly").source == "sidecar:site.json"
    assert known.environment("nightly").boundary == "venv"
    assert known.problems == ()


def test_a_name_that_is_taken_names_both_owners(sidecar):
    one = sidecar("one.json", mitigations={"xnack": {}, "fast": {}}, environments={"local": {}})
    two = sidecar("two.json", mitigations={"fast": {}})
    assert refused([one, two]) == (
        "mitigation xnack: sidecar:one.json and aorta both define it; rename one of them",
        "environment local: sidecar:one.json and aorta both define it; rename one of them",
        "mitigation fast: sidecar:two.json and sidecar:one.json both define it; rename one of them",
    )


def test_a_plugins_name_that_is_taken(sidecar, install):
    install("acme_knobs", "FAST = {}\n", mitigations={"fast": "acme_knobs:FAST", "xnack": "acme_knobs:FAST"})
    install("other_knobs", "FAST = {}\n", mitigations={"fast": "other_knobs:FAST"})
    assert refused([sidecar(mitigations={"fast": {}})]) == (
        "mitigation fast: other_knobs 1.2 and acme_knobs 1.2 both define it; rename one of them",
        "mitigation xnack: acme_knobs 1.2 and aorta both define it; rename one of them",
        "mitigation fast: sidecar:site.json and acme_knobs 1.2 both define it; rename one of them",
    )


def test_a_recipe_defines_names_of_its_own(sidecar):
    recipe = command(
        cell("a", "mine", environment="there"),
        mitigations={"mine": Change(set={"A": "1"})},
        environments={"there": EnvironmentRecipe(env=Change(set={"B": "2"}))},
    )
    known = registries((), recipe)
    assert (known.mitigation("mine").source, known.environment("there").source) == ("recipe", "recipe")
    assert refused([sidecar(mitigations={"mine": {"A": "2"}})], recipe) == (
        "mitigation mine: recipe and sidecar:site.json both define it, and differently; rename one of them",
    )


def test_a_recipe_may_repeat_what_is_known():
    same = command(cell("a", "xnack"), mitigations={"xnack": Change(set={"HSA_XNACK": "1"})})
    known = registries((), same)
    assert known.mitigation("xnack").source == "aorta"
    other = command(cell("a", "xnack"), mitigations={"xnack": Change(set={"HSA_XNACK": "2"})})
    assert refused((), other) == (
        "mitigation xnack: recipe and aorta both define it, and differently; rename one of them",
    )


def test_a_replayed_recipe_wins(sidecar):
    recipe = command(
        cell("a", "xnack", environment="local"),
        mitigations={"xnack": Change(set={"HSA_XNACK": "2"})},
        environments={"local": EnvironmentRecipe(env=Change(set={"OLD": "1"}))},
        resolved=Resolved(aorta="0", fingerprint="sha256:0"),
    )
    known = registries([sidecar(mitigations={"more": {}})], recipe)
    assert dict(known.mitigation("xnack").change.set) == {"HSA_XNACK": "2"}
    assert dict(known.environment("local").env.set) == {"OLD": "1"}
    assert "more" in known.mitigations


BROKEN = {
    "raises": ("1 / 0\n", "acme:X", "ZeroDivisionError"),
    "ends": ("import os\nos._exit(3)\n", "acme:X", "the process"),
    "absent": ("", "acme:X", "AttributeError"),
    "no_mapping": ("X = [1]\n", "acme:X", "must be a mapping, not a list"),
    "number": ("X = {'A': 1}\n", "acme:X", "A: must be a text, in quotes, not a number"),
    "bad_name": ("X = {'1A': '1'}\n", "acme:X", "1A: is no name of a variable"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_costs_itself_and_is_told(install, case):
    text, value, told = BROKEN[case]
    install("acme", text, mitigations={"broken": value})
    install("sound", "OK = {'A': '1'}\n", mitigations={"sound": "sound:OK"})
    known = registries()
    assert "broken" not in known.mitigations
    assert known.mitigation("sound").source == "sound 1.2"
    (problem,) = known.problems
    assert problem.startswith("acme 1.2: entry point broken of aorta.mitigations")
    assert told in problem or case == "ends", problem


def test_a_name_that_no_recipe_can_hold_is_told(install):
    install("acme", "X = {}\n", mitigations={"matrix.md": "acme:X"}, environments={"a b": "acme:X"})
    known = registries()
    assert not {"matrix.md", "a b"} & {*known.mitigations, *known.environments}
    assert known.problems == (
        "acme 1.2: entry point matrix.md of aorta.mitigations: matrix.md is reserved",
        (
            "acme 1.2: entry point a b of aorta.environments: 'a b' is no name: letters, digits, _ . - "
            "and none of . - at its beginning"
        ),
    )


def test_metadata_that_cannot_be_read_is_told(install, site):
    install("acme", "", mitigations={})
    (site / "acme-1.2.dist-info" / "entry_points.txt").write_text("[aorta.mitigations]\nno_value\n")
    problems = registries().problems
    assert problems
    assert all("cannot be read: " in one for one in problems)


def test_a_plugin_without_a_version_is_named_by_its_module(install, site):
    install("acme", "FAST = {'FAST': '1'}\n", mitigations={"fast": "acme:FAST"})
    (site / "acme-1.2.dist-info" / "METADATA").unlink()
    assert registries().mitigation("fast").source == "acme"


def test_a_broken_environment_is_told(install):
    install("acme", "X = {'docker': 1, 'rocm': '6'}\n", environments={"odd": "acme:X"})
    known = registries()
    assert "odd" not in known.environments
    about = "acme 1.2: entry point odd of aorta.environments"
    assert known.problems == (
        f"{about}: docker: must be a text or null, not a number",
        f"{about}: rocm: is not known here; known are docker, venv, buck_target, emulator, mirage_profile, env",
    )


def test_plugins_are_imported_only_for_a_name_that_nobody_else_defines(install, tmp_path, monkeypatch):
    trace = tmp_path / "imported"
    install(
        "acme",
        f"with open({str(trace)!r}, 'a') as file:\n    file.write('x')\nFAST = {{'FAST': '1'}}\n",
        mitigations={"acme_fast": "acme:FAST"},
    )
    registries((), command(cell("a", "xnack")))
    registries((), probe())
    assert not trace.exists()
    assert registries((), command(cell("a", "acme_fast"))).mitigation("acme_fast").source == "acme 1.2"
    read = trace.read_text()
    registries()
    registries((), probe(mitigations=("none", "acme_fast")))
    assert trace.read_text() == read, "entry points are read once in a process"


def test_a_real_wheel(tmp_path, site):
    from zipfile import ZipFile

    from tests.parts.wheels import wheels

    source = tmp_path / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "acme-wheel"\nversion = "3.4"\n'
        '[tool.setuptools]\npy-modules = ["acme_wheel"]\n'
        '[project.entry-points."aorta.mitigations"]\nwheel_fast = "acme_wheel:FAST"\n'
        '[project.entry-points."aorta.environments"]\nwheel_place = "acme_wheel:PLACE"\n'
    )
    (source / "acme_wheel.py").write_text("FAST = {'FAST': '1'}\nPLACE = {'docker': 'acme/image:1'}\n")
    (wheel,) = wheels(tmp_path / "wheels", source)
    ZipFile(wheel).extractall(site)
    known = registries()
    assert known.mitigation("wheel_fast").source == "acme-wheel 3.4"
    assert known.environment("wheel_place").boundary == "container"


def test_a_recipe_without_plugins_imports_nothing_for_them():
    import subprocess

    code = (
        "import sys; from aorta.sweep.definitions.registry import registries; from aorta.sweep.recipe.model import *;"
        "registries((), Recipe(cells=(CellRecipe(name='a', mitigations=('xnack',), environment='local'),)));"
        "print([name for name in ('importlib.metadata', 'json', 'difflib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=UNCOVERED, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_recipe_has_no_names():
    assert registries((), Recipe()).problems == ()
