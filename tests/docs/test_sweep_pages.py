"""``docs/sweep.md``, ``docs/recipes.md`` and ``recipes/README.md`` say what the code knows, no more and no less."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import time

import attrs
import pytest

from aorta.cli.errors import Failure, Misuse
from aorta.cli.sweep_run import run
from aorta.sweep.command.catalogue import EFFECT, MEANING
from aorta.sweep.command.ending import GRACE_S
from aorta.sweep.files import WORKING
from aorta.sweep.matrix.statistics import ALPHA, smallest_effect
from aorta.sweep.matrix.table import CALLED
from aorta.sweep.matrix.tally import UNRELIABLE
from aorta.sweep.outcome import VERDICTS
from aorta.sweep.planning.checking.identity import LAUNCHER, LAUNCHER_PREFIXES
from aorta.sweep.recipe import condition, model
from aorta.sweep.recipe.keys import COMMANDS, EITHER, KEYS, PROBE_ONLY, REQUIRED, TRIAGE_ONLY
from aorta.sweep.recipe.load import load_recipe
from aorta.sweep.recipe.options import SMOKE_STEPS
from aorta.sweep.recipe.structure import fields_of
from aorta.sweep.run.schema import TRIAL
from aorta.sweep.run.store import DEFAULT_OUTPUT
from aorta.sweep.variables import OWN
from tests.docs.test_examples import shell
from tests.docs.test_words import options, rows
from tests.parts.doc_programs import environment
from tests.parts.pages import ROOT, blocks, inline, text_of

SWEEP, RECIPES = "docs/sweep.md", "docs/recipes.md"
WHERE = {EITHER: "any", TRIAGE_ONLY: "cells", PROBE_ONLY: "axes", COMMANDS: "command"}
INNER = {
    "cells[]": model.CellRecipe,
    "confound": model.Confound,
    "stop_after": model.StopAfter,
    "retain": model.Retain,
    "redaction": model.Redaction,
}
README = ROOT / "recipes" / "README.md"


def table(page, first):
    """Return the rows of the table whose heading begins with a word, each as a list of cells."""
    text = text_of(page).split(f"\n| {first} |", 1)[1].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def shown(default, *, required=False):
    """Return a default as the tables write it."""
    if isinstance(default, attrs.Factory):
        default = default.factory()
    if required or default is attrs.NOTHING:
        return "required"
    if default is None:
        return "none"
    if isinstance(default, (tuple, dict)):
        return "empty" if not default else str(default)
    if isinstance(default, (bool, int, float, str)):
        return f"`{default:g}`" if isinstance(default, float) else f"`{str(default).lower()}`"
    return "see below"


@pytest.fixture
def place(tmp_path):
    """Return a folder with the files of both pages and the recipes, and an environment for lines in it."""
    for page in (SWEEP, RECIPES):
        for block in blocks(page):
            if block.title:
                (tmp_path / block.title).write_text(block.text)
    shutil.copytree(ROOT / "recipes", tmp_path / "recipes")
    return tmp_path, environment(tmp_path)


def test_every_option_is_in_the_table_and_no_other():
    named = {
        word for cell in rows(SWEEP, "Options") for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", cell)
    }
    assert named == options(run)


def test_every_exit_code():
    told = {int(code) for cell in rows(SWEEP, "Exit codes and CI")[1:] for code in re.findall(r"\d+", cell)}
    assert told == {0, Failure.exit_code, Misuse.exit_code, 128 + 1, 128 + 2, 128 + 15}


def test_every_key_with_where_it_may_stand_and_its_default():
    needed = {name for names in REQUIRED.values() for name in names}
    defaults = {name: shown(default, required=name in needed) for name, _, default in fields_of(model.Recipe)}
    told = {key.strip("`"): (where, default) for key, where, default, _ in table(RECIPES, "key | where")}
    assert told == {name: (WHERE[use], defaults[name]) for name, use in KEYS.items()}


def test_every_inner_key_with_its_default():
    told = {key.strip("`"): default for key, default, _ in table(RECIPES, "key | default")}
    known = {
        f"{name}.{key}": shown(default) for name, cls in INNER.items() for key, _, default in fields_of(cls)
    }
    assert told == known


def test_the_values_that_keys_may_have_are_named():
    text = text_of(RECIPES)
    words = (model.MODES, model.ISOLATIONS, model.PASSTHROUGHS, model.ORDERS, VERDICTS, model.RETAINED)
    for word in {one for each in (*words, model.ON_MATCH) for one in each}:
        assert f"`{word}`" in text, word
    for name in (*condition._NAMES[1:], *(f"{call}()" for call in condition._CALLS)):
        assert f"`{name}`" in text, name


def test_every_detector_with_its_effect_and_meaning():
    *builtin, custom = table(RECIPES, "detector")
    told = [(id_.strip("`"), effect, meaning) for id_, effect, meaning in builtin]
    assert told == [(id_, EFFECT[id_], MEANING[id_]) for id_ in EFFECT]
    assert custom[0] == "`custom:ID`"


def test_the_words_and_numbers_of_the_matrix():
    text = " ".join(text_of(SWEEP).split())
    for word in CALLED.values():
        assert word == "baseline" or f"`{word}`" in text, word
    assert ALPHA == 1 / 20
    assert UNRELIABLE == 1 / 10
    assert f"({model.THRESHOLD:g} by default)" in text
    assert GRACE_S == 10
    assert SMOKE_STEPS == 2
    assert f"`{DEFAULT_OUTPUT}` by default" in text


def test_the_smallest_effects():
    head, *_ = [line for line in text_of(SWEEP).splitlines() if line.startswith("| trials a cell |")]
    others = [int(re.search(r"\d+", cell)[0]) for cell in head.strip("|").split("|")[1:]]
    for trials, *cells in table(SWEEP, "trials a cell"):
        for other, cell in zip(others, cells, strict=True):
            effect = smallest_effect(int(trials), int(trials), other)
            assert cell == ("none" if effect is None else f"{effect:.0%}"), (trials, other)


def test_the_variables_of_a_trial():
    told = {name for cell, _ in table(SWEEP, "variable") for name in re.findall(r"\w+", cell)}
    assert told == OWN


def test_the_variables_that_are_the_launchers():
    named = set(inline(RECIPES))
    assert {f"{prefix}…" for prefix in LAUNCHER_PREFIXES} <= named
    assert {"RANK", "WORLD_SIZE", "MASTER_ADDR"} <= named & LAUNCHER


def test_the_first_sweep_ends_as_the_page_says(place):
    folder, env = place
    line = next(
        line for block in blocks(SWEEP, "console") for line in block.commands if "--dry-run" not in line
    )
    done = shell(line, folder, env)
    [told] = [block.text for block in blocks(SWEEP, "") if block.text.startswith("Sweep summary")]
    assert re.sub(r"\d{4}-\d\d-\d\dT[\d-]+", "TIME", done.stdout) == told


def test_a_record_and_a_run_hold_what_the_page_says(place):
    folder, env = place
    command = "-- sh -c 'echo > $AORTA_ARTIFACT_DIR/x; exec sh repro.sh'"
    line = f"aorta sweep run --recipe cache.yaml --smoke --env-passthrough-mode file {command}"
    assert shell(line, folder, env).returncode == 0
    latest = folder / "triage_results" / "TICKET-1234" / "command" / "latest"
    assert latest.is_symlink()
    record = json.loads((latest / "cells" / "none-none" / "trial_000.json").read_text())
    told = {key for cell, _ in table(SWEEP, "key") for key in re.findall(r"\w+", cell)}
    # Of several ranks, and of variables that come too late, there is more.
    assert told - {"ranks", "lost", "env_late"} == set(record)
    assert told == {*TRIAL["properties"], "env"}
    [tree] = [block.text for block in blocks(SWEEP, "") if block.text.startswith("triage_results")]
    named = {
        name.removesuffix("/")
        for row in tree.splitlines()[2:]
        for name in re.split(r" {2,}", row.strip())
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", name)
    }
    made = {str(path.relative_to(latest)) for path in latest.rglob("*")}
    there = {name for name in named if any(path == name or path.endswith(f"/{name}") for path in made)}
    assert named - {"result"} == there
    assert "trial_000.env" in there


def test_what_a_killed_sweep_leaves_goes_when_its_trial_is_run_again(place):
    folder, env = place
    text = " ".join(text_of(SWEEP).split())
    [told] = re.findall(r"`kill -9` may leave (.*?) beside the logs", text)
    assert set(re.findall(r"`trial_000\.([\w.]+)`", told)) == set(WORKING)
    (folder / "slow.yaml").write_text(
        "schema_version: 1\nworkload: ranks\ntrials: 1\nsteps: 2\nworkload_config: {pause_ms: 1000.0}\n"
        "cells:\n  - {name: base, mitigations: [none], environment: local}\n"
    )
    words = [sys.executable, "-m", "aorta", "sweep", "run", "--recipe", "slow.yaml"]
    cut = subprocess.Popen(words, cwd=folder, env=env, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not (left := list(folder.glob("triage_results/*/ranks/2*/cells/base/trial_000.request.json"))):
        assert time.monotonic() < until
        time.sleep(0.05)
    cut.kill()
    cut.wait()
    [request] = left
    assert request.stat().st_mode & 0o077 == 0
    done = shell("aorta sweep run --recipe slow.yaml --resume", folder, env)
    assert done.returncode == 0, done.stderr
    there = {path.name.removeprefix("trial_000.") for path in request.parent.iterdir()}
    assert there == {"json", "stdout.log", "stderr.log"}


@pytest.mark.parametrize("page", [SWEEP, RECIPES])
def test_every_recipe_of_a_page_is_one(page, tmp_path):
    for block in blocks(page, "yaml"):
        (tmp_path / block.title).write_text(block.text)
        load_recipe(str(tmp_path / block.title))


def test_what_is_refused_is_refused(place):
    """Each row of the table, with one line that names the place, status 2, and nothing written."""
    folder, env = place
    head = "schema_version: 1\ntrials: 1\nworkload: command\n"
    cells = "cells:\n  - {name: a, mitigations: [none], environment: local}\n  - {name: b, "
    wrong = (
        "mitigations: {xnack: {A: '1'}}\n" + cells + "mitigations: [xnack], environment: local}\n",
        cells + "mitigations: [hsa_disable_cache, hsa_enable_cache], environment: local}\n",
        cells + "mitigations: [none], environment: local, extra_env: {RANK: '1'}}\n",
        cells + "mitigations: [none], environment: local, extra_env: {AORTA_CELL: '1'}}\n",
        cells + "mitigations: [none], environment: {docker: IMAGE}}\n",
        "environments: {t: {buck_target: //a:b}}\n" + cells + "mitigations: [none], environment: t}\n",
        "environments: {v: {venv: /nowhere}}\n" + cells + "mitigations: [none], environment: v}\n",
        cells + "mitigations: [none], environment: local, workload_config: {nothing: 1}}\n",
        "collect: [rocprof]\n" + cells + "mitigations: [none], environment: local}\n",
    )
    for text in wrong:
        (folder / "wrong.yaml").write_text(head + text)
        done = shell("aorta sweep run --recipe wrong.yaml -- true", folder, env)
        assert done.returncode == 2, text
        assert len(done.stderr.splitlines()) == 1, done.stderr
    assert not (folder / DEFAULT_OUTPUT).exists()
    (folder / "wrong.yaml").write_text(head + cells + "mitigations: [none], environment: local}\n")
    done = shell("aorta sweep run --recipe wrong.yaml -- true", folder, env)
    assert done.returncode == 0
    assert "run the same" in done.stderr


def test_the_entry_point_of_the_page_defines_a_mitigation(place):
    folder, env = place
    [block] = blocks(RECIPES, "toml")
    head, line = block.text.split("\n")[:2]
    group = re.fullmatch(r'\[project\.entry-points\."(.*)"\]', head)[1]
    name, value = (word.strip('"') for word in line.split(" = "))
    (folder / "site_knobs.py").write_text('ONE_RAIL = {"SITE_RAILS": "1"}\n')
    package = folder / "site_knobs-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: site-knobs\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    done = shell("aorta sweep list-mitigations", folder, env)
    assert re.search(rf"^{name} +site-knobs 1\.0 +SITE_RAILS=1", done.stdout, re.MULTILINE), done.stdout
    # The JSON file of the page defines the same name.
    done = shell("aorta sweep list-mitigations --mitigations-file site.json", folder, env)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_several_tasks_are_refused(place):
    folder, env = place
    done = shell(
        "aorta sweep run --recipe cache.yaml -- true", folder, {**env, "RANK": "0", "WORLD_SIZE": "2"}
    )
    assert done.returncode == 2


def test_the_page_of_the_recipes_lists_all_of_them():
    told = re.findall(r"^\| `([\w/.-]+\.yaml)` \|", README.read_text(), re.MULTILINE)
    there = {str(path.relative_to(README.parent)) for path in README.parent.rglob("*.yaml")}
    assert set(told) == there
    assert len(told) == len(there)


def test_the_lines_of_the_page_of_the_recipes_run(place):
    folder, env = place
    text = README.read_text()
    lines = re.findall(r"^    (aorta .*)$", text, re.MULTILINE)
    lines += [line for line in re.findall(r"`([^`]+)`", text) if line.startswith("aorta sweep run --recipe")]
    assert len(lines) >= 3
    (folder / "train.sh").write_text("#!/bin/sh\n")
    (folder / "train.sh").chmod(0o755)
    for line in lines:
        done = shell(line, folder, env)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert done.stdout


@pytest.mark.parametrize("recipe", sorted(README.parent.rglob("*.yaml")), ids=lambda path: path.stem)
def test_every_recipe_can_be_looked_at(recipe, place):
    """Without a GPU or a card: what they need is the workload's to say when it runs. torch must be there."""
    folder, env = place
    command = " -- true" if load_recipe(str(recipe)).mode == model.PROBE else ""
    name = shlex.quote(str(recipe.relative_to(ROOT)))
    (folder / "torch.py").write_text("raise RuntimeError('imported')\n")
    env = {**env, "PYTHONPATH": f"{env.get('PYTHONPATH', '')}:{folder}"}
    done = shell(f"aorta sweep run --recipe {name} --dry-run{command}", folder, env)
    assert done.returncode == 0, done.stdout
    # A recipe of race is in order on one rank too, which is told what it lacks.
    alone = "error here: workload race needs 2 ranks or more" in done.stdout
    assert "No problem was found." in done.stdout or (alone and done.stdout.count("error") == 1)
    assert not (folder / DEFAULT_OUTPUT).exists()
