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
import importlib, os, sys

LATE = os.environ.get("IMPORT_TORCH")

def main():
    if LATE:
        import torch
    from aorta.instrumentation import capture_to
    os.environ["APP"] = str(os.getpid())
    objects = [importlib.import_module(name) for name in os.environ.get("OBJECTS", "").split()]
    given = [*os.environ.get("GIVEN", "").split(), *objects]
    capture_to(os.environ["AORTA_ENV_OUTPUT"], plugins=given)
    print("captured", sys.argv[1:])
    return 3

if __name__ == "__main__":
    sys.exit(main())
'''

PLUGIN = '''
"""A plugin that lies in the package."""
import os
from typing import Annotated

import aorta
from aorta.collect import Context
from aorta.model.fact import Fact
from aorta.model.vocabulary import Provenance
from aorta.plugin import collector


@collector(section="site.{name}", model=Annotated[str | None, Fact("A word.")], provenance=Provenance.PROCESS)
def collect(ctx: Context) -> str:
    """A word."""
    {body}
    here = ctx.env("APP") == str(os.getpid())
    return ("here" if here else "apart") + " with " + aorta.__file__
'''

#: Plugins of the package by what they do when they are imported and when they collect.
PLUGINS = {
    "named": ("", ""),
    "given": ("", ""),
    "unwanted": ("raise SystemExit('imported')\n", ""),
    "superfluous": ("raise SystemExit('imported')\n", ""),
    "hangs_at_import": ("import time; time.sleep(600)\n", ""),
    "ends_the_process": ("", "os._exit(7)"),
}

EXAMPLE = ROOT / "collectors" / "example_nic_plugin" / "src"

STATIC = {"AORTA_DEADLINE_S": "40"}


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """Return what lies in the package: the library, a main module, plugins, a torch without metadata."""
    torch = Path(stand_in(tmp_path_factory.mktemp("torch"), metadata=False))
    files = {str(path.relative_to(torch)): path for path in torch.rglob("*") if path.is_file()}
    return members(
        more={"app/main.py": APP, "app/__init__.py": "", **plugins(), **files},
    )


def plugins():
    """Return the files of the plugins: a team's own, and the example of a distribution without its metadata."""
    own = {
        f"team/{name}.py": first + PLUGIN.format(name=name, body=body)
        for name, (first, body) in PLUGINS.items()
    }
    example = {str(path.relative_to(EXAMPLE)): path for path in EXAMPLE.glob("*/*.py")}
    return {"team/__init__.py": "", **own, **example}


def packed(how, folder, held, module):
    """Return the words that start the program, and the place of its modules."""
    if how == "zip":
        program = zipped(folder, "app", held, module=module)
        return [sys.executable, str(program)], str(program)
    return [str(inplace(folder, "app", held, module=module))], f"{folder}/app#link-tree"


@pytest.fixture(scope="module", params=["link tree", "zip"])
def package(request, held, tmp_path_factory):
    """Return the words that start the program, and the place of its modules."""
    return packed(request.param, tmp_path_factory.mktemp("gen") / "app", held, "app.main")


@pytest.fixture(scope="module", params=["link tree", "zip"])
def command_line(request, tmp_path_factory):
    """Return the words that start a packed ``aorta``, with the plugins in it."""
    from tests.parts.buck_file import own_targets

    held, main = members("aorta", more=plugins()), own_targets()["aorta"]["main_module"]
    return packed(request.param, tmp_path_factory.mktemp("gen") / "app", held, main)[0]


def run(package, out, *words, code=3, **env):
    done = subprocess.run(
        [*package[0], *words],
        env=clean_environ(**{"AORTA_ENV_OUTPUT": str(out), **STATIC, **env}),
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


def seen(document):
    """Return what the sections of plugins hold, by name."""
    return {name: section["data"] for name, section in document["extensions"].items()}


def outside(document):
    """Return the records of the outside plugins, by name."""
    return {one["name"]: one for one in document["collection"]["plugins"] if one["source"] != "builtin"}


def test_plugins_in_the_package_by_variable_by_argument_and_as_an_object(package, tmp_path):
    """Those that are named run in a process of their own, which finds aorta and them where this one does."""
    given = {"GIVEN": "team.given", "OBJECTS": "acme_link_health.section"}
    _, document = run(package, tmp_path / "env.json", AORTA_PLUGINS="team.named", **given)
    data = seen(document)
    assert data.pop("acme.link_health")["rdma_ports"] is not None
    apart = f"apart with {package[1]}/aorta/__init__.py"
    assert data == {"site.named": apart, "site.given": apart}
    sources = {name: one["source"] for name, one in outside(document).items()}
    by_argument = {"team.given": "argument", "acme_link_health.section": "argument"}
    assert sources == {"team.named": "environment", **by_argument}
    records = document["collection"]["collectors"]
    assert {records[name]["status"] for name in ("site.named", "site.given", "acme.link_health")} == {"ok"}


def test_an_object_runs_in_the_program_itself(package, tmp_path):
    _, document = run(package, tmp_path / "env.json", OBJECTS="team.given")
    assert seen(document) == {"site.given": f"here with {package[1]}/aorta/__init__.py"}


def test_the_example_and_the_variables_that_it_adds(package, tmp_path):
    mine = {"ACME_RAIL_MAP": "0,1", "AORTA_PLUGINS": "acme_link_health.section"}
    _, document = run(package, tmp_path / "env.json", **mine)
    assert document["env_vars"]["ACME_RAIL_MAP"] == "0,1"
    assert document["collection"]["collectors"]["acme.link_health"]["status"] == "ok"


def test_what_is_left_out_by_its_name(package, tmp_path):
    """A built-in section, a section of a plugin, and a plugin of either source."""
    named = "team.named,team.unwanted,no:rccl,no:site.named,no:team.unwanted,no:team.superfluous"
    given = "team.given team.superfluous"
    _, document = run(package, tmp_path / "env.json", AORTA_PLUGINS=named, GIVEN=given)
    data = seen(document)
    assert (data.pop("site.named"), list(data)) == (None, ["site.given"])
    blocked = {name: one["detail"] for name, one in outside(document).items() if one["status"] == "blocked"}
    assert blocked == dict.fromkeys(("team.superfluous", "team.unwanted"), "left out by AORTA_PLUGINS")
    told = [one for one in document["collection"]["reasons"] if "left out by" in one["detail"]]
    assert {(one["section"], one["kind"]) for one in told} == {
        ("rccl", "not_requested"),
        ("site.named", "not_requested"),
    }


def test_a_plugin_that_is_not_in_the_package_costs_itself(package, tmp_path):
    _, document = run(package, tmp_path / "env.json", AORTA_PLUGINS="team.nowhere")
    assert document["extensions"] == {}
    [told] = [one for one in document["collection"]["reasons"] if one["subject"] == "team.nowhere"]
    assert told["kind"] == "failed"


def test_plugins_in_the_package_that_hang_or_end_their_process_cost_themselves(package, tmp_path):
    names = "team.hangs_at_import,team.ends_the_process,team.named"
    _, document = run(package, tmp_path / "env.json", AORTA_PLUGINS=names, AORTA_DEADLINE_S="15")
    assert seen(document)["site.named"].startswith("apart")
    hung = outside(document)["team.hangs_at_import"]
    assert (hung["status"], hung["detail"]) == (
        "failed",
        f"its import does not end, it was at {package[1]}/team/hangs_at_import.py:1",
    )
    assert document["collection"]["collectors"]["site.ends_the_process"]["status"] == "failed"
    [told] = [one for one in document["collection"]["reasons"] if one["section"] == "site.ends_the_process"]
    assert "exit status 7" in told["detail"]


def test_a_plugin_finds_the_libraries_of_the_package(held, tmp_path):
    """The launcher's LD_LIBRARY_PATH is gone from ``os.environ``, and a process of its own needs it."""
    source = 'import ctypes\nctypes.CDLL("libpackaged.so")\n' + PLUGIN.format(name="native", body="")
    more = {"team/native.py": source, "libpackaged.so": elf_files.built() / "none.so"}
    package = packed("link tree", tmp_path / "gen", {**held, **more}, "app.main")
    _, document = run(package, tmp_path / "env.json", AORTA_PLUGINS="team.native")
    assert seen(document)["site.native"].startswith("apart")


def test_an_entry_point_where_a_package_has_metadata_all_the_same(held, tmp_path, package):
    how = "link tree" if package[1].endswith("#link-tree") else "zip"
    info = {
        "METADATA": "Metadata-Version: 2.1\nName: team\nVersion: 3.4\n",
        "entry_points.txt": "[aorta.collectors]\nteam = team.named\n",
    }
    more = {f"team-3.4.dist-info/{name}": text for name, text in info.items()}
    own = packed(how, tmp_path / "gen", {**held, **more}, "app.main")
    _, document = run(own, tmp_path / "env.json")
    assert seen(document) == {"site.named": f"apart with {own[1]}/aorta/__init__.py"}
    assert (outside(document)["team"]["source"], outside(document)["team"]["version"]) == (
        "entry_point",
        "3.4",
    )
    _, document = run(own, tmp_path / "env.json", AORTA_PLUGINS="no:team")
    assert document["extensions"] == {}


def told_by(command_line, folder, *words, **env):
    done = subprocess.run(
        [*command_line, *words],
        env=clean_environ(**STATIC, **env),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return done.stdout


def test_the_packed_command_line_takes_plugins(command_line, tmp_path):
    both = {"AORTA_PLUGINS": "team.named"}
    document = json.loads(
        told_by(command_line, tmp_path, "env", "probe", "-o", "-", "--plugin", "team.given", **both)
    )
    assert {name: text.split()[0] for name, text in seen(document).items()} == {
        "site.named": "apart",
        "site.given": "apart",
    }
    listed = told_by(command_line, tmp_path, "env", "collectors", "--plugin", "team.given", **both)
    names = [line.split()[0] for line in listed[listed.index("\nPLUGIN") :].split("\n")[2:4]]
    assert names == ["team.given", "team.named"]
    schema = told_by(command_line, tmp_path, "schema", "show", "--with-plugins", **both)
    assert list(json.loads(schema)["properties"]["extensions"]["properties"]) == ["site.named"]


def test_the_packed_command_line_leaves_all_plugins_out(command_line, tmp_path):
    words = ("env", "probe", "-o", "-", "--no-plugins")
    document = json.loads(told_by(command_line, tmp_path, *words, AORTA_PLUGINS="team.named,no:rccl"))
    assert (document["extensions"], outside(document)) == ({}, {})
    assert document["collection"]["collectors"]["rccl"]["status"] != "not_requested"
    listed = told_by(command_line, tmp_path, "env", "collectors", "--no-plugins", AORTA_PLUGINS="team.named")
    assert "team" not in listed


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
