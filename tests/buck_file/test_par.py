"""Captures inside Python packages of Buck2: a tree of links and a zip file, built from aorta's own targets."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import aorta
from tests.parts import elf_files
from tests.parts.par import clean_environ, inplace, members, zipped
from tests.parts.probing import ROOT
from tests.parts.torches import ANSWERS, GIT, VERSION, stand_in

APP = '''
"""The main module of somebody's program."""
import os, sys

LATE = os.environ.get("IMPORT_TORCH")

def main():
    if LATE:
        import torch
    from aorta.instrumentation import capture_to
    capture_to(os.environ["AORTA_ENV_OUTPUT"], plugins=os.environ.get("GIVEN", "").split())
    print("captured", sys.argv[1:])
    return 3

if __name__ == "__main__":
    sys.exit(main())
'''

PLUGIN = '''
"""A plugin that lies in the package."""
from typing import Annotated

from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector


@collector(section="team.{name}", model=Annotated[str | None, Fact("A word.")], provenance=Provenance.PROCESS)
def collect(ctx: Context) -> str:
    """A word."""
    return "seen by {name}"
'''

STATIC = {"AORTA_DEADLINE_S": "40"}


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """Return what lies in the package: the library, a main module, two plugins, a torch without metadata."""
    torch = Path(stand_in(tmp_path_factory.mktemp("torch"), metadata=False))
    files = {str(path.relative_to(torch)): path for path in torch.rglob("*") if path.is_file()}
    plugins = {f"team/{name}.py": PLUGIN.format(name=name) for name in ("named", "given")}
    return members(
        more={"app/main.py": APP, "app/__init__.py": "", "team/__init__.py": "", **plugins, **files}
    )


@pytest.fixture(scope="module", params=["link tree", "zip"])
def package(request, held, tmp_path_factory):
    """Return the words that start the program, and the place of its modules."""
    folder = tmp_path_factory.mktemp("gen") / "app"
    if request.param == "zip":
        program = zipped(folder, "app", held, module="app.main")
        return [sys.executable, str(program)], str(program)
    return [str(inplace(folder, "app", held, module="app.main"))], f"{folder}/app#link-tree"


def run(package, out, *words, code=3, **env):
    done = subprocess.run(
        [*package[0], *words],
        env=clean_environ(AORTA_ENV_OUTPUT=str(out), **STATIC, **env),
        cwd=out.parent,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    return done, json.loads(out.read_text())


def test_capture_to_writes_a_whole_document(package, tmp_path):
    done, document = run(package, tmp_path / "env.json", "--steps", "1")
    assert (done.stdout, done.stderr) == ("captured ['--steps', '1']\n", "")
    assert document["collection"]["tool"]["version"] == aorta.__version__
    reasons = document["collection"]["reasons"]
    assert [one for one in reasons if one["kind"] in ("failed", "timed_out", "blocked")] == []
    records = {**document["collection"]["collectors"], **document["collection"]["providers"]}
    assert {record["status"] for record in records.values()} <= {"ok", "partial", "not_requested"}
    assert {one["source"] for one in document["collection"]["plugins"]} == {"builtin"}


def test_torch_is_that_of_the_package(package, tmp_path):
    _, document = run(package, tmp_path / "env.json")
    build = document["pytorch_build"]
    assert document["pytorch_version"] == VERSION
    assert build["git_commit"] == GIT
    assert build["file"] == f"{package[1]}/torch/__init__.py"
    assert document["collection"]["coverage"]["torch"] == "seen"


def test_torch_that_is_loaded_is_read_where_it_is(package, tmp_path):
    _, document = run(package, tmp_path / "env.json", IMPORT_TORCH="1")
    assert document["collection"]["import_strategy"] == "in_process"
    assert document["pytorch_version"] == VERSION
    assert document["pytorch_sdpa"]["backends_enabled"]["flash_sdp_enabled"] is True


@pytest.mark.parametrize("override", [{}, {"PAR_MAIN_OVERRIDE": "aorta.instrumentation._probe_main"}])
def test_torch_finds_the_libraries_of_the_package(held, tmp_path, override):
    """The launcher's LD_LIBRARY_PATH is gone from ``os.environ``, and the import in another process needs it."""
    source = 'import ctypes\nctypes.CDLL("libpackaged.so")\n'
    more = {"torch/__init__.py": source + ANSWERS, "libpackaged.so": elf_files.built() / "none.so"}
    launcher = inplace(tmp_path / "gen", "app", {**held, **more}, module="app.main")
    words = [str(tmp_path / "env.json")] if override else []
    code = 0 if override else 3
    _, document = run(([str(launcher)],), tmp_path / "env.json", *words, code=code, **override)
    told = [one for one in document["collection"]["reasons"] if one["section"].startswith("pytorch")]
    assert [one for one in told if one["kind"] in ("failed", "blocked")] == []
    assert document["pytorch_sdpa"]["backends_enabled"]["flash_sdp_enabled"] is True


def test_plugins_in_the_package_are_named_by_variable_and_by_argument(package, tmp_path):
    _, document = run(package, tmp_path / "env.json", AORTA_PLUGINS="team.named", GIVEN="team.given")
    data = {name: section["data"] for name, section in document["extensions"].items()}
    assert data == {"team.named": "seen by named", "team.given": "seen by given"}
    sources = {one["name"]: one["source"] for one in document["collection"]["plugins"]}
    assert (sources["team.named"], sources["team.given"]) == ("environment", "argument")


def test_a_plugin_that_is_not_in_the_package_costs_itself(package, tmp_path):
    _, document = run(package, tmp_path / "env.json", AORTA_PLUGINS="team.nowhere")
    assert document["extensions"] == {}
    [told] = [one for one in document["collection"]["reasons"] if one["subject"] == "team.nowhere"]
    assert told["kind"] == "failed"


def test_the_user_s_variables_and_the_marks_of_the_package(package, tmp_path):
    mine = {"LD_LIBRARY_PATH": "/nowhere/lib", "BUCK_RUN_BUILD_ID": "11111111-2222-4333-8444-555555555555"}
    _, document = run(package, tmp_path / "env.json", AORTA_PROBE_INVOCATION="buck2_run", **mine)
    assert document["env_vars"]["LD_LIBRARY_PATH"] == "/nowhere/lib"
    context = document["execution_context"]
    assert context["probe_invocation"] == "buck2_run"
    markers = {name: marker["present"] for name, marker in context["markers"].items()}
    assert markers["PAR_LAUNCH_TIMESTAMP"] is package[1].endswith("#link-tree")
    assert markers["BUCK_RUN_BUILD_ID"] is True
    assert context["markers"]["BUCK_RUN_BUILD_ID"]["value"] == mine["BUCK_RUN_BUILD_ID"]
    told = [one for one in document["collection"]["reasons"] if one["section"] == "execution_context"]
    assert "expected" not in {one["kind"] for one in told}


def test_what_the_package_took_out_is_seen_in_the_environment_of_its_start(held, tmp_path):
    launcher = inplace(tmp_path / "gen", "app", held, module="app.main")
    _, document = run(
        ([str(launcher)],), tmp_path / "env.json", LD_LIBRARY_PATH="/nowhere/lib", PYTHONPATH="/nowhere"
    )
    there = {name for name, marker in document["execution_context"]["markers"].items() if marker["present"]}
    assert there == {
        "PAR_LAUNCH_TIMESTAMP",
        "PAR_INVOKED_NAME_TAG",
        "FB_SAVED_PYTHONPATH",
        "FB_SAVED_LD_LIBRARY_PATH",
    }


def test_a_main_function_s_value_is_dropped_by_the_package(held, tmp_path):
    launcher = inplace(tmp_path / "gen", "app", held, module="app.main", function="main")
    run(([str(launcher)],), tmp_path / "env.json", code=0)


def test_another_main_module_than_the_package_s_own(package, tmp_path):
    out = tmp_path / "override.json"
    words = ["--execution-context", "buck2_run", str(out)]
    done, document = run(package, out, *words, code=0, PAR_MAIN_OVERRIDE="aorta.instrumentation._probe_main")
    assert done.stdout == ""
    assert document["execution_context"]["probe_invocation"] == "buck2_run"
    assert document["execution_context"]["markers"]["PAR_MAIN_ORIGINAL"]["present"] is True
    assert document["pytorch_version"] == VERSION
    assert document["pytorch_build"]["file"] == f"{package[1]}/torch/__init__.py"


def test_a_package_without_aorta_is_given_it(tmp_path):
    """The launcher appends PAR_APPEND_PYTHONPATH; the single file is one entry of it."""
    program = tmp_path / "aorta.pyz"
    made = [sys.executable, "-m", "aorta", "standalone", str(program)]
    env = clean_environ(PYTHONPATH=f"{ROOT}:{ROOT}/collectors")
    subprocess.run(made, env=env, check=True, capture_output=True, timeout=30)
    torch = Path(stand_in(tmp_path / "torch", metadata=False))
    held = {str(path.relative_to(torch)): path for path in torch.rglob("*") if path.is_file()}
    held |= {"app/main.py": "raise SystemExit('not me')"}
    launcher = inplace(tmp_path / "gen", "app", held, module="app.main")
    out = tmp_path / "env.json"
    override = {
        "PAR_APPEND_PYTHONPATH": str(program),
        "PAR_MAIN_OVERRIDE": "aorta.instrumentation._probe_main",
    }
    _, document = run(([str(launcher)],), out, str(out), code=0, **override)
    assert document["pytorch_version"] == VERSION
    assert document["collection"]["tool"]["version"] == aorta.__version__


@pytest.mark.parametrize(
    ("words", "code"), [(["-", "extra"], 2), (["/nowhere/x/y.json"], 0), (["/proc/x.json"], 1)]
)
def test_the_probe_s_own_package_ends_with_its_status(tmp_path, words, code):
    from tests.parts.buck_file import own_targets

    main = own_targets()["env_probe"]["main_module"]
    launcher = inplace(tmp_path / "gen", "env_probe", members("env_probe"), module=main)
    words = [word.replace("/nowhere", str(tmp_path)) for word in words]
    done = subprocess.run(
        [str(launcher), *words], env=clean_environ(), capture_output=True, text=True, timeout=55, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "code"), [(["--version"], 0), (["env", "probe", "--bogus"], 2), (["env", "show", "/x"], 1)]
)
def test_the_command_line_s_package_ends_with_its_status(tmp_path, words, code):
    from tests.parts.buck_file import own_targets

    main = own_targets()["aorta"]["main_module"]
    launcher = inplace(tmp_path / "gen", "aorta", members("aorta"), module=main)
    done = subprocess.run(
        [str(launcher), *words], env=clean_environ(), capture_output=True, text=True, timeout=55, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
