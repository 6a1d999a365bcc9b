"""Recipes as files of a test."""

import pytest

from aorta.sweep.recipe.load import load_recipe
from aorta.sweep.recipe.problems import RecipeError


@pytest.fixture
def load(tmp_path):
    """Return what loads a text, or bytes, as a recipe."""

    def loading(content, name="r.yaml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_recipe(str(path))

    return loading


@pytest.fixture
def faults(load, tmp_path):
    """Return what gives the lines of faults of a text, without the directory; none for a sound recipe."""

    def told(content, name="r.yaml"):
        try:
            load(content, name)
        except RecipeError as error:
            return str(error).replace(f"{tmp_path}/", "").split("\n")
        return []

    return told
