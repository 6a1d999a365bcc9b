"""``docs/recipes.md`` on environments: their keys, and where a relative ``venv`` is."""

import re

from aorta.sweep.recipe import model
from aorta.sweep.recipe.structure import fields_of
from tests.docs.test_examples import shell
from tests.docs.test_sweep_pages import DEFAULT_OUTPUT, RECIPES, place, table
from tests.parts.pages import blocks

__all__ = ["place"]


def test_every_key_of_an_environment():
    told = {name for cell, _ in table(RECIPES, "key of an environment") for name in re.findall(r"\w+", cell)}
    assert told == {name for name, _, _ in fields_of(model.EnvironmentRecipe)}


def test_a_relative_venv_is_looked_for_where_aorta_is_started(place):  # noqa: F811 - the fixture
    folder, env = place
    for block in blocks(RECIPES, "console"):
        lines = [line for line in block.commands if "venv" in line]
        assert all(shell(line, folder, env).returncode == 0 for line in lines)
    run = folder / DEFAULT_OUTPUT / "_no_ticket_" / "command" / "latest" / "cells"
    prefixes = [(run / cell / "trial_000.stdout.log").read_text().strip() for cell in ("base", "other")]
    assert prefixes[1] == str(folder / "venvs" / "other") != prefixes[0]
    # The definition may stand anywhere.
    (folder / "defs").mkdir()
    (folder / "defs" / "site.json").write_text(
        '{"version": 1, "environments": {"far": {"venv": "venvs/other"}}}'
    )
    (folder / "far.yaml").write_text(
        "schema_version: 1\nworkload: command\ntrials: 1\ncells:\n"
        "  - {name: far, mitigations: [none], environment: far}\n"
    )
    line = "aorta sweep run --recipe far.yaml --mitigations-file defs/site.json -- python -c 'import this'"
    assert shell(line, folder, env).returncode == 0
