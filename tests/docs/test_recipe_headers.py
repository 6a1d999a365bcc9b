"""The lines at the top of each recipe run, also those that start several ranks."""

import re
import shutil

import pytest

from tests.docs.test_examples import shell
from tests.parts.doc_programs import environment
from tests.parts.pages import ROOT

FOLDER = ROOT / "recipes"
RECIPES = sorted(FOLDER.rglob("*.yaml"))
#: Launchers that start aorta once a rank, with the number of ranks of a node; of workloads alone.
LAUNCHER = re.compile(
    r"(?:torchrun --standalone --nproc-per-node=(?P<processes>\d+) -m|srun -N(?P<nodes>\d+) --ntasks-per-node=(?P<tasks>\d+)) "
)


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


def without_launcher(line):
    """Return a line as its rank 0 runs it, and what its launcher would tell it."""
    match = LAUNCHER.match(line)
    if match is None:
        return line, {}
    local, nodes = int(match["processes"] or match["tasks"]), int(match["nodes"] or 1)
    told = {
        "RANK": 0,
        "WORLD_SIZE": local * nodes,
        "LOCAL_RANK": 0,
        "LOCAL_WORLD_SIZE": local,
        "MASTER_ADDR": "node1",
        "MASTER_PORT": 29500,
    }
    return line[match.end() :], {name: str(value) for name, value in told.items()}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_the_lines_at_the_top_of_a_recipe(recipe, place):
    head = recipe.read_text().partition("\nschema_version:")[0]
    lines = re.findall(r"^#   (?=\S)(.*)$", head, re.MULTILINE)
    assert lines
    folder, env = place
    for line in lines:
        own, told = without_launcher(line)
        assert own.startswith(f"aorta sweep run --recipe {recipe.relative_to(ROOT)}"), line
        done = shell(dry(own), folder, {**env, **told})
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        # A plan is looked at without a launcher too, and what it then lacks is told.
        alone = not told and "needs 2 ranks or more" in done.stdout
        assert "No problem was found." in done.stdout or (alone and "--dry-run" in line)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_workloads_show_how_several_ranks_are_started(recipe):
    text = recipe.read_text()
    launched = [line for line in re.findall(r"^#   (.*)$", text, re.MULTILINE) if LAUNCHER.match(line)]
    assert bool(launched) == ("\nworkload:" in text)


def test_the_lines_of_the_page():
    """A launcher stands in front of a sweep of a workload only, and a command is one task."""
    text = " ".join((FOLDER / "README.md").read_text().split())
    assert not re.search(r"torchrun [^`]*aorta sweep|srun (?!-N1 -n1 )[^`]*aorta sweep", text)
