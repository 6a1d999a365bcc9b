"""Texts that are no recipe: one clear line for each, in little time."""

import os
import time

import pytest

from aorta.sweep.recipe import yaml_text
from aorta.sweep.recipe.document import MAX_VALUES, Unreadable, read_document
from aorta.sweep.recipe.load import load_recipe
from aorta.sweep.recipe.problems import RecipeError

SOUND = """schema_version: 1
workload: race
trials: 2
steps: 5
cells:
  - {name: one, mitigations: [none], environment: local}
"""
JSON = (
    '{"schema_version": 1, "mode": "probe", "trials": 1, "mitigation_axis": ["none"],\n'
    ' "diagnostic_axis": ["none"]%s}'
)
BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{above}'] * 10)}]\n"
    for above, name in zip("abcdefgh", "bcdefghi", strict=True)
)
CHAIN = "a: &a0 [1]\n" + "".join(f"b{n}: &a{n + 1} [*a{n}]\n" for n in range(2000))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "r.yaml: the file is empty"),
        (b" \n\n", "r.yaml: the file is empty"),
        (b"\xef\xbb\xbf", "r.yaml: the file is empty"),
        (b"# nothing but words\n", "r.yaml: the file is empty"),
        (b"a: 1\nb: \xff\n", "r.yaml:2: the file is not UTF-8"),
        (b"\xff\xfea\0", "r.yaml:1: the file is not UTF-8"),
        (b"a: 1\n---\nb: 1\n", "r.yaml:2:1: the file holds more than one document (a line of ---)"),
        (b"a: *b\n", "r.yaml:1:4: no anchor &b stands before its alias"),
        (b"a: &a [*a]\n", "r.yaml:1:8: the alias *a stands in its own value"),
        (b"a: &a {b: *a}\n", "r.yaml:1:11: the alias *a stands in its own value"),
        (b"[a, b]: 1\n", "r.yaml:1:1: a key is a text, not a list, mapping or alias"),
        (b"1: 1\n", "r.yaml:1:1: the key 1 is no text to YAML (int): write it in quotes"),
        (b"2020-01-01: 1\n", "r.yaml:1:1: the key 2020-01-01 is no text to YAML (timestamp): write it in quotes"),
        (b"~: 1\n", "r.yaml:1:1: the key ~ is no text to YAML (null): write it in quotes"),
        (b"a: !!python/object:os.path {}\n", "r.yaml:1:4: the tag !!python/object:os.path is not allowed: a recipe has plain values"),
        (b"a: !!python/name:os.system x\n", "r.yaml:1:4: the tag !!python/name:os.system is not allowed: a recipe has plain values"),
        (b"a: !own [1]\n", "r.yaml:1:4: the tag !own is not allowed: a recipe has plain values"),
        (b"a: !!set {b}\n", "r.yaml:1:4: the tag !!set is not allowed: a recipe has plain values"),
        (b"x" * ((1 << 20) + 1), "r.yaml: the file is larger than 1 MiB, which no recipe is"),
        (b'a: "step \\d+"\n', "r.yaml:1:10: the YAML cannot be read: while parsing a quoted scalar found unknown escape character: a text with \\ goes in single quotes, or is written with \\\\ in double ones"),
        (b"a:\n\tb: 1\n", "r.yaml:2:1: the YAML cannot be read: while scanning for the next token found character that cannot start any token: a tab is no indentation in YAML: write spaces"),
        (BOMB.encode(), f"r.yaml:5:36: the file has more than {MAX_VALUES} values, aliases counted"),
        (b"a: " + b"[" * 65 + b"]" * 65, "r.yaml:1:68: the values are nested more than 64 deep"),
        (CHAIN.encode(), "r.yaml:64:12: the values are nested more than 64 deep"),
    ],
)  # fmt: skip
def test_a_yaml_text_that_is_no_document(faults, content, line):
    begun = time.monotonic()
    assert faults(content) == [line]
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("{", "r.json:1:2: the JSON cannot be read: a key in double quotes should stand here"),
        ("{'a': 1}", "r.json:1:2: the JSON cannot be read: a key in double quotes should stand here"),
        ('{"a": 1,}', "r.json:1:9: the JSON cannot be read: a key in double quotes should stand here"),
        ('{"a" 1}', "r.json:1:6: the JSON cannot be read: a colon should stand here"),
        ('{"a": 1 "b": 2}', "r.json:1:9: the JSON cannot be read: a comma or } should stand here"),
        ("[1 2]", "r.json:1:4: the JSON cannot be read: a comma or ] should stand here"),
        ('{"a": NaN}', "r.json:1:7: the JSON cannot be read: NaN is no JSON"),
        ('{"a": -Infinity}', "r.json:1:7: the JSON cannot be read: -Infinity is no JSON"),
        ('{"a": \n tru}', "r.json:2:2: the JSON cannot be read: Expecting value"),
        ('{"a": "b\n"}', "r.json:1:9: the JSON cannot be read: Invalid control character at"),
        ("{} {}", "r.json:1:4: the JSON cannot be read: something stands after the value"),
        ("[" * 10_000, "r.json:1:66: the values are nested more than 64 deep"),
        ('{"a":' * 10_000, "r.json:1:326: the values are nested more than 64 deep"),
        ("# comment\n{}", "r.json:1:1: the JSON cannot be read: Expecting value"),
        ("", "r.json: the file is empty"),
        ("[]", "r.json:1:1: expected a mapping of keys to values, got a list"),
        (JSON % ',\n "ticket": null, "ticket": "T"', "r.json:3:18: ticket: stands twice; it is in line 3 too"),
        (JSON % ',\n "ticket": "\\ud800"', "r.json:3:12: ticket: has an escape that is half a character (a lone surrogate)"),
        (JSON % ', "hang_window_sec": 1e999', "r.json:2:50: hang_window_sec: is not a finite number"),
        (JSON % ', "steps": 1', "r.json:2:31: steps: is not for mode: probe, only for mode: triage"),
    ],
)  # fmt: skip
def test_a_json_text_that_is_no_recipe(faults, content, line):
    assert faults(content, "r.json") == [line]


def test_json_is_a_recipe(load):
    assert load(JSON % "", "r.json").mitigation_axis == ("none",)


def test_json_numbers_have_no_bound_of_length(faults):
    (line,) = faults(JSON.replace('"trials": 1', '"trials": ' + "9" * 5000) % "", "r.json")
    assert line.startswith("r.json:1:50: the JSON cannot be read: ")


def test_yaml_is_not_so_strict_about_ends_of_lines_and_marks(load):
    for content in (
        SOUND.replace("\n", "\r\n"),
        "\ufeff" + SOUND,
        "---\n" + SOUND + "...\n",
        "%YAML 1.1\n---\n" + SOUND,
    ):
        assert load(content).trials == 2


def test_aliases_and_merge_keys(load):
    recipe = load(
        SOUND.replace("cells:\n", "cells:\n  - &first {name: zero, mitigations: &m [xnack], environment: local, steps: 3}\n")
        + "  - {<<: *first, name: two, steps: 4}\n  - {<<: [*first, {trials: 9}], name: three}\nextra_env: &e {A: b}\n"
    )  # fmt: skip
    assert [(cell.name, cell.steps, cell.trials) for cell in recipe.cells] == [
        ("zero", 3, None), ("one", None, None), ("two", 4, None), ("three", 3, 9)
    ]  # fmt: skip
    assert recipe.cells[2].mitigations == ("xnack",)


def test_what_is_wrong_in_a_merged_mapping_has_a_place(faults):
    text = SOUND + "  - {<<: {trials: 0, environment: local, mitigations: [none]}, name: two}\n"
    assert faults(text) == ["r.yaml:7:5: cells[1].trials: is 0; the least is 1"]


def test_what_is_wrong_behind_an_alias_is_where_the_alias_is(faults):
    text = (
        SOUND
        + "  - {name: two, mitigations: &m [a b], environment: local}\n  - {name: three, mitigations: *m, environment: local}\n"
    )
    told = "is no name: letters, digits, _ . - and none of . - at its beginning"
    assert faults(text) == [
        f"r.yaml:7:34: cells[1].mitigations[0]: 'a b' {told}", f"r.yaml:8:32: cells[2].mitigations[0]: 'a b' {told}"
    ]  # fmt: skip


def test_merging_what_is_no_mapping(faults):
    assert faults(SOUND + "<<: 3\n")[0] == "r.yaml:7:1: <<: merges mappings only"


@pytest.mark.parametrize(
    "content", ["[" * 10_000, "[" * 10_000 + "]" * 10_000, "{a: " * 10_000, "- " * 10_000, "? " * 10_000]
)
def test_depth_ends_in_a_line(faults, content):
    (line,) = faults(content)
    assert line.startswith("r.yaml:1:")


def test_the_parser_in_python_reads_the_same(monkeypatch, load, faults):
    import yaml

    whole = load(SOUND)
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert load(SOUND) == whole
    assert faults("a: " + "[" * 300 + "]" * 300) == ["r.yaml:1:68: the values are nested more than 64 deep"]
    assert faults(SOUND + "extra_env: {A: off}\n") == [
        "r.yaml:7:16: extra_env.A: expected a text, got a boolean: write it in quotes"
    ]
    with pytest.raises(Unreadable, match="YAML does not allow"):
        yaml_text.composed("a: \0")


def test_files_that_cannot_be_read(tmp_path):
    for path, told in (
        (tmp_path, "is a directory; name a recipe in it"),
        (tmp_path / "none.yaml", "cannot be read: No such file or directory"),
        ("a\0b", "cannot be read: embedded null byte"),
    ):
        with pytest.raises(RecipeError) as caught:
            load_recipe(str(path))
        assert str(caught.value) == f"{path}: {told}"


def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    if os.fork() == 0:
        path.write_text(SOUND)
        os._exit(0)
    assert load_recipe(str(path)).workload == "race"
    os.wait()


def test_the_place_of_every_value_and_key(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_text(SOUND)
    document = read_document(str(path))
    assert document.values["cells", 0, "mitigations", 0] == (6, 31)
    assert document.keys["cells", 0, "environment"] == (6, 38)
    assert document.spelled["trials",] == "2"


def test_a_tag_that_its_text_is_not(faults):
    assert faults(SOUND + "ticket: !!int x\n") == [
        "r.yaml:7:9: ticket: is no int that can be read: write it in quotes"
    ]
    assert faults(SOUND + "ticket: 2020-13-45\n") == [
        "r.yaml:7:9: ticket: is no timestamp that can be read: write it in quotes"
    ]
