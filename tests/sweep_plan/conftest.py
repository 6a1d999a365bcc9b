"""Recipes, sidecar files, installed plugins and places for a plan."""

import json
import sys

import pytest

from aorta.sweep.definitions.registry import registries
from aorta.sweep.planning.plan import make_plan
from aorta.sweep.recipe.model import PROBE, CellRecipe, Recipe


@pytest.fixture
def sidecar(tmp_path):
    """Return a function that writes a sidecar file and returns its path."""

    def write(name="site.json", folder=None, **document):
        place = tmp_path / (folder or "sidecars")
        place.mkdir(exist_ok=True)
        path = place / name
        path.write_text(json.dumps({"version": 1, **document}))
        return str(path)

    return write


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A directory on sys.path; what is imported from it is forgotten again."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def install(site):
    """Return a function that installs a distribution with one module and entry points of groups."""

    def add(name, text, *, version="1.2", **groups):
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = []
        for group, points in groups.items():
            lines += [f"[aorta.{group}]", *(f"{point} = {value}" for point, value in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        (site / f"{name}.py").write_text(text)

    return add


def cell(name, *mitigations, environment="local", **more):
    return CellRecipe(name=name, mitigations=mitigations or ("none",), environment=environment, **more)


def command(*cells, argv=("true",), **more):
    """Return a recipe of a command in cells."""
    return Recipe(cells=cells or (cell("a"),), command=argv, **more)


def probe(mitigations=("none", "xnack"), diagnostics=("none", "amd_log_level_4"), **more):
    return Recipe(
        mode=PROBE,
        command=("true",),
        mitigation_axis=tuple(mitigations),
        diagnostic_axis=tuple(diagnostics),
        **more,
    )


def plan_of(recipe, *sidecars):
    return make_plan(recipe, registries(sidecars, recipe))
