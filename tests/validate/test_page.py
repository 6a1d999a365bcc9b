"""The page of the gate holds the table of rules as the code has it, and its examples give what it says."""

import json

import click

from aorta.cli.validate_pair import pair
from aorta.validate.document import LIMIT, SILENCE_S
from aorta.validate.finding import ERROR
from aorta.validate.options import Options
from aorta.validate.program import verdict_on
from aorta.validate.rules import RULES
from tests.parts.pages import blocks, text_of

PAGE = "docs/validate-pair.md"


def table(heading):
    section = text_of(PAGE).split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return rows[2:]


def test_the_table_is_that_of_the_code():
    rows = [
        (name.strip("`"), severity, asks[0].lower() + asks[1:]) for name, severity, asks in table("Rules")
    ]
    assert rows == [(rule.id, rule.severity, rule.asks[0].lower() + rule.asks[1:]) for rule in RULES.values()]


def test_every_option_is_on_the_page_and_no_other():
    named = {row[0].strip("`").split()[0] for row in table("What is read")}
    assert named == {option.opts[0] for option in pair.params if isinstance(option, click.Option)}


def test_the_extracts_pass_without_a_word(tmp_path):
    files = {block.title: block.text for block in blocks(PAGE) if block.title}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in files]
    for options in (Options(), Options(("rccl", "pytorch"), strict=True)):
        assert verdict_on(paths, options).findings == []


def test_the_extracts_are_as_small_as_can_be(tmp_path):
    """Each key that is taken away is missed, but for the namespace, which is compared only."""
    client, workload = (json.loads(block.text) for block in blocks(PAGE) if block.title)
    for number, document in enumerate((client, workload)):
        for key in set(document) - {"probe_namespace", "rccl"}:
            both = [client, workload]
            both[number] = {name: value for name, value in document.items() if name != key}
            paths = [tmp_path / "client.json", tmp_path / "workload.json"]
            for path, one in zip(paths, both, strict=True):
                path.write_text(json.dumps(one))
            assert verdict_on(list(map(str, paths)), Options()).findings, key


def test_numbers_and_words():
    text = " ".join(text_of(PAGE).split())
    assert f"{LIMIT >> 20} MiB" in text
    assert f"silent for {SILENCE_S:.0f} s" in text
    assert all(rule.severity == ERROR for rule in RULES.values() if rule.id.startswith("file.read"))
