"""aorta's BUCK file: what it maps, what its targets need, and that it serves under any name and place."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import starlark

from tests.parts.buck_file import ROOT, closure, evaluate, files_of, outside, own_targets, placed
from tests.parts.par import clean_environ, link_tree, members, modules_of

TEXT = (ROOT / "BUCK").read_text()

LIB_DEPS = ["attrs", "cattrs", "packaging", "pluggy", "pyelftools"]
CLI_DEPS = [*LIB_DEPS, "click", "pyyaml", "rich"]

#: What a program does not need.
CLI = ("aorta/cli/", "aorta/sweep/", "aorta/__main__")

#: Distribution to the package that it is imported as.
PACKAGES = {"attrs": "attrs", "pyelftools": "elftools", "pyyaml": "yaml"}


@pytest.fixture(scope="module")
def targets():
    return own_targets()


def shipped():
    """Return the files of both packages, as they lie in a tree."""
    found = {}
    for root, top in ((ROOT, "aorta"), (ROOT / "collectors", "aorta_collectors")):
        for path in (root / top).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                found[str(path.relative_to(root))] = str(path.relative_to(ROOT))
    return found


def test_the_targets(targets):
    kinds = {name: rule["kind"] for name, rule in targets.items()}
    assert kinds == {
        "aorta_lib": "python_library",
        "aorta_cli": "python_library",
        "aorta": "python_binary",
        "env_probe": "python_binary",
    }
    assert {tuple(rule["visibility"]) for rule in targets.values()} == {("PUBLIC",)}
    assert {rule["base_module"] for rule in targets.values() if rule["kind"] == "python_library"} == {""}


def test_every_shipped_file_is_mapped_exactly_once(targets):
    pairs = []
    for rule in targets.values():
        for attribute in ("srcs", "resources"):
            given = rule.get(attribute) or {}
            pairs += given.items() if isinstance(given, dict) else [(path, path) for path in given]
    assert len(pairs) == len(set(pairs)) == len({destination for destination, _ in pairs})
    assert dict(pairs) == shipped()


def test_sources_are_modules_and_all_else_are_resources(targets):
    for rule in targets.values():
        assert all(destination.endswith(".py") for destination in rule.get("srcs") or ())
        assert not any(destination.endswith(".py") for destination in rule.get("resources") or ())


def test_every_closure_maps_a_destination_once(targets):
    for name in targets:
        placed(targets, name)
    assert placed(targets, "aorta") == shipped()
    without_cli = {place for place in shipped() if not place.startswith(CLI)}
    assert set(placed(targets, "aorta_lib")) == set(placed(targets, "env_probe")) == without_cli


def imported(path):
    """Return the top-level packages that a file imports, but for type checking."""
    tops = set()
    skipped = set()
    for node in ast.walk(tree := ast.parse(Path(path).read_text())):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            skipped |= {id(inner) for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            tops |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            tops.add(node.module.partition(".")[0])
    return tops - set(sys.stdlib_module_names)


@pytest.mark.parametrize(("name", "needed"), [("aorta_lib", LIB_DEPS), ("aorta_cli", CLI_DEPS)])
def test_the_labels_are_what_the_modules_import(targets, name, needed):
    tops = set()
    for one in closure(targets, name):
        srcs = targets[one].get("srcs") or {}
        for source in srcs.values() if isinstance(srcs, dict) else srcs:
            tops |= imported(ROOT / source)
    # torch is looked at where it is, and needed by nobody.
    own = {"aorta", "aorta_collectors", "torch"}
    assert {{"attr": "attrs"}.get(top, top) for top in tops - own} == {
        PACKAGES.get(one, one) for one in needed
    }
    assert outside(targets, name) == sorted(f"//third-party/python:{one}" for one in needed)


def test_labels_come_from_the_root_project_one_by_one_or_all_at_once():
    everywhere = own_targets({"aorta.third_party": "root//pypi"})
    assert outside(everywhere, "aorta") == sorted(f"root//pypi:{one}" for one in CLI_DEPS)
    for name in CLI_DEPS:
        one = own_targets({"aorta.third_party": "root//pypi", f"aorta.{name}": "other//x:y"})
        expected = {f"root//pypi:{other}" for other in CLI_DEPS if other != name} | {"other//x:y"}
        assert set(outside(one, "aorta")) == expected


def test_nothing_names_a_cell():
    """The host chooses under which name this repository is a cell."""
    code = "\n".join(line.partition("#")[0] for line in TEXT.splitlines())
    labels = [word for word in code.replace('"', " ").split() if "//" in word]
    assert labels == ["//third-party/python"]
    assert "load(" not in code


def test_no_other_package_lies_in_the_repository():
    """``aorta//...`` is to hold what builds anywhere; a file of that name ends the globs above it too."""
    names = {"BUCK", "BUCK.v2", "TARGETS", "TARGETS.v2", "PACKAGE", ".buckroot", ".buckconfig"}
    assert [path for path in files_of() if Path(path).name in names] == ["BUCK"]


@pytest.mark.parametrize(
    "line",
    [
        "def f(): pass",
        "if True: pass",
        "for x in []: pass",
        'x = f"{1}"',
        "x: int = 1",
        'load("//x:y.bzl", "z")',
    ],
)
def test_what_the_dialect_refuses_is_noticed(line):
    with pytest.raises((starlark.StarlarkError, ValueError)):
        evaluate(f"{TEXT}\n{line}\n", files_of())


def test_an_unknown_rule_is_noticed():
    with pytest.raises(starlark.StarlarkError):
        evaluate('cxx_library(name = "x")')


PROGRAM = """
import importlib, json, sys
sys.path.insert(0, {tree!r})
BLOCKED = ("click", "yaml", "rich")

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocker())
places = {{}}
for name in {names!r}:
    places[name] = importlib.import_module(name).__file__
import aorta
print(json.dumps([aorta.__version__, places, sorted(set(sys.modules) & {{*BLOCKED, "aorta.cli"}})]))
"""


@pytest.mark.parametrize("name", ["aorta_lib", "env_probe"])
def test_the_library_imports_from_its_tree_alone_without_click_yaml_and_rich(tmp_path, name):
    held = members(name)
    tree = link_tree(tmp_path / "tree", held)
    names = modules_of(held)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", PROGRAM.format(tree=str(tree), names=names)],
        env=clean_environ(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    version, places, unwanted = json.loads(done.stdout)
    assert unwanted == []
    assert version == __import__("aorta").__version__
    assert all(place.startswith(str(tree)) for place in places.values())
    assert len(places) > 200


def test_the_command_line_runs_from_its_tree(tmp_path):
    tree = link_tree(tmp_path / "tree", members("aorta"))
    program = f"import sys; sys.path.insert(0, {str(tree)!r}); sys.argv[1:] = ['--version']; import runpy;"
    program += "runpy.run_module('aorta.__main__', run_name='__main__', alter_sys=True)"
    command = [sys.executable, "-I", "-S", "-B", "-c", program]
    done = subprocess.run(
        command, env=clean_environ(), capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("aorta")
