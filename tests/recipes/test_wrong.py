"""Each file of ``wrong`` says in its last lines what is wrong with it, and what the schema says of it."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from aorta.sweep.recipe.load import load_recipe
from aorta.sweep.recipe.problems import RecipeError
from aorta.sweep.recipe.schema import recipe_schema

FILES = sorted((Path(__file__).parent / "wrong").glob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(recipe_schema())


def said(path, word):
    start = f"# {word} "
    return [
        line.removeprefix(start) for line in path.read_text("utf-8").splitlines() if line.startswith(start)
    ]


def test_there_are_files():
    assert len(FILES) >= 120


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_wrong_is_told_in_its_place(path):
    with pytest.raises(RecipeError) as caught:
        load_recipe(str(path))
    assert str(caught.value).split("\n") == [f"{path}:{line}" for line in said(path, "says")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_one_fault_is_one_line(path):
    assert len(said(path, "says")) == {"axes-missing": 2, "several": 6}.get(path.stem, 1)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_schema_refuses_what_a_schema_can(path):
    (expected,) = said(path, "schema")
    try:
        value = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError:
        assert expected == "cannot be asked"
        return
    assert expected == ("accepts" if VALIDATOR.is_valid(value) else "refuses")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_value_that_may_be_a_secret_is_shown(path):
    with pytest.raises(RecipeError) as caught:
        load_recipe(str(path))
    assert "secret" not in str(caught.value).replace(str(path), "")
