"""Whatever a file holds, it is a recipe or an error of one line for each fault."""

import os
import tempfile

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aorta.sweep.recipe.document import read_document
from aorta.sweep.recipe.keys import KEYS
from aorta.sweep.recipe.load import load_recipe
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.recipe.problems import RecipeError
from tests.recipes.strategies import JSON, TEXTS

BASE = b"""schema_version: 1
mode: probe
trials: 2
mitigation_axis: &a [none, xnack]
diagnostic_axis: *a
custom_patterns: [{id: x, match: {regex: "(?P<a>x)", condition: "capture['a'] == 'x'"}}]
mitigations: {fast: {set: {A: "b"}, unset: [B]}}
confound: {<<: {threshold: 2.0}, baseline_cell: none-none}
"""
FAST = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def read(content, suffix):
    handle, path = tempfile.mkstemp(suffix=suffix)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        try:
            assert isinstance(load_recipe(path), Recipe)
        except RecipeError as error:
            assert error.problems
            assert len(str(error).split("\n")) == len(error.problems)
            assert all(line.isprintable() for line in str(error).split("\n"))
        try:
            read_document(path)
        except RecipeError as error:
            assert len(error.problems) == 1
    finally:
        os.unlink(path)


@FAST
@given(st.binary(max_size=200) | TEXTS.map(str.encode), st.sampled_from([".yaml", ".json"]))
def test_any_bytes(content, suffix):
    read(content, suffix)


@FAST
@given(st.text("{}[]:,-&*!<>|#%@`'\"\\ \n\tab01.~?=", max_size=60), st.sampled_from([".yaml", ".json"]))
def test_any_marks(text, suffix):
    read(text.encode(), suffix)


@FAST
@given(st.lists(st.tuples(st.integers(0, len(BASE)), st.integers(0, 9), st.binary(max_size=4)), max_size=4))
def test_a_recipe_with_pieces_put_in_and_taken_out(edits):
    content = BASE
    for at, length, piece in edits:
        content = content[:at] + piece + content[at + length :]
    read(content, ".yaml")


@FAST
@given(st.dictionaries(st.sampled_from([*KEYS, "other"]), JSON, max_size=8), st.booleans())
def test_any_values_under_the_keys(value, probe):
    import json

    whole = {
        "schema_version": 1,
        "mode": "probe" if probe else "triage",
        "trials": 1,
        "workload": "race",
        **value,
    }
    text = json.dumps(whole).encode()
    read(text, ".json")
    read(text, ".yaml")


CELL = st.dictionaries(
    st.sampled_from(
        ["name", "mitigations", "environment", "extra_env", "trials", "collect", "workload_config"]
    ),
    JSON,
)
PATTERN = st.dictionaries(
    st.sampled_from(["id", "match", "on_match", "required_for_pass", "x"]), JSON | TEXTS
)


@FAST
@given(st.lists(CELL | JSON, max_size=3), st.lists(PATTERN | JSON, max_size=3), JSON)
def test_any_values_further_down(cells, patterns, value):
    import json

    whole = {
        "schema_version": 1, "trials": 1, "workload": "command", "cells": cells, "custom_patterns": patterns,
        "mitigations": {"a": value, "b": {"set": value, "unset": value}}, "stop_after": {"events": value, "max_trials": 2},
        "environments": {"e": {"env": value, "docker": value}}, "confound": {"threshold": value}, "retain": {"on_pass": value},
        "only": value, "redaction": value, "collect": value,
    }  # fmt: skip
    read(json.dumps(whole).encode(), ".json")


def test_a_name_that_is_no_text_for_people_is_shown_escaped():
    import json

    cell = {"name": "a", "mitigations": ["\x1f=1"], "environment": "local"}
    whole = {"schema_version": 1, "trials": 1, "workload": "command", "cells": [cell]}
    read(json.dumps(whole).encode(), ".json")
