"""The schema of recipes: fresh, sound, and of every key."""

import importlib.util
import json
from pathlib import Path

import jsonschema

from aorta.sweep.recipe.described import DESCRIPTIONS
from aorta.sweep.recipe.keys import KEYS, REQUIRED
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.recipe.schema import recipe_schema
from aorta.sweep.recipe.structure import fields_of

ROOT = Path(__file__).resolve().parents[2]


def test_the_schema_file_is_fresh():
    spec = importlib.util.spec_from_file_location("make_schema", ROOT / "scripts" / "make_schema.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.RECIPE_TARGET.name == "recipe-1.json"
    assert made.RECIPE_TARGET.read_text("utf-8") == made.recipe_text(), (
        "stale; run: python scripts/make_schema.py"
    )


def test_it_is_a_schema_of_every_key():
    schema = recipe_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(schema["properties"]) == [name for name, *_ in fields_of(Recipe) if name in KEYS]
    assert set(KEYS) == set(DESCRIPTIONS) == {name for name, *_ in fields_of(Recipe)} - {"source", "sha256"}
    assert {name for names in REQUIRED.values() for name in names} <= set(KEYS)
    assert json.loads(json.dumps(schema)) == schema
