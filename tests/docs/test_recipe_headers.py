"""The lines at the top of each recipe run, and none in `recipes` starts a sweep as several tasks."""

import re
import shutil

import pytest

from tests.docs.test_examples import shell
from tests.parts.doc_programs import environment
from tests.parts.pages import ROOT

FOLDER = ROOT / "recipes"
RECIPES = sorted(FOLDER.rglob("*.yaml"))


@pytest.fixture
def place(tmp_path):
    """Return a folder with the recipes, and an environment with stand-ins for torch, Buck and torchrun."""
    shutil.copytree(FOLDER, tmp_path / "recipes")
    for name in ("torch.py", "train.py"):
        (tmp_path / name).touch()
    (tmp_path / "stand_ins").mkdir()
    for name in ("stand_ins/buck2", "stand_ins/torchrun", "train.sh"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    env = environment(tmp_path)
    path = f"{tmp_path}/stand_ins:{env['PATH']}"
    return tmp_path, {**env, "PYTHONPATH": f"{env.get('PYTHONPATH', '')}:{tmp_path}", "PATH": path}


def dry(line):
    return line if "--dry-run" in line else line.replace(" run ", " run --dry-run ", 1)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_the_lines_at_the_top_of_a_recipe(recipe, place):
    head = recipe.read_text().partition("\nschema_version:")[0]
    lines = re.findall(r"^#   (?=\S)(.*)$", head, re.MULTILINE)
    assert lines
    for line in lines:
        assert line.startswith(f"aorta sweep run --recipe {recipe.relative_to(ROOT)}"), line
        done = shell(dry(line), *place)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def test_the_lines_of_the_page():
    """No launcher stands in front of a sweep that has several tasks: this version refuses them."""
    text = " ".join((FOLDER / "README.md").read_text().split())
    assert not re.search(r"torchrun [^`]*aorta sweep|srun (?!-N1 -n1 )[^`]*aorta sweep", text)
