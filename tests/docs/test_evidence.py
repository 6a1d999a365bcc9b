"""The page about contexts: its generated tables are what the collectors declare, row by row."""

import re

import pytest

from aorta.model.shape import shape_of
from aorta.model.vocabulary import Provenance
from aorta.plugin.discovery import discover
from scripts import evidence
from tests.parts.pages import ROOT, text_of

PAGE = str(evidence.TARGET.relative_to(ROOT))
SPECS = discover(outside=False).collectors


def table(name):
    """Return a generated table's rows as lists of cells."""
    text = text_of(PAGE).split(f"<!-- generated: {name} -->")[1].split(f"<!-- end: {name} -->")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[1:]]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def declared(spec):
    """Yield path, fact and evidence of all that a section declares: what is not said comes from above."""
    section = shape_of(spec.model)
    todo = [(spec.section, section, spec.provenance)]
    while todo:
        path, shape, above = todo.pop(0)
        kinds = (shape.fact.provenance if shape.fact is not None else ()) or above
        yield path, shape.fact, kinds
        todo += [(f"{path}.{name}", member, kinds) for name, member in shape.fields]
        for item in [shape.item] if shape.item is not None else []:
            todo += [(f"{path}[].{name}", member, kinds) for name, member in item.fields]


FACTS = {
    path: (name, fact, kinds)
    for name, spec in SPECS.items()
    for path, fact, kinds in declared(spec)
    if fact is not None
}


def words(kinds):
    return ", ".join(f"`{kind}`" for kind in kinds)


def plain(text):
    return " ".join(text.split())


def test_the_page_is_fresh():
    text = text_of(PAGE)
    assert text == evidence.page(text, SPECS), "stale; run: python scripts/make_docs.py"


def test_a_page_without_a_place_for_a_table_is_refused():
    text = text_of(PAGE).replace("<!-- end: subject -->", "")
    with pytest.raises(ValueError, match="no single place for the table subject"):
        evidence.page(text, SPECS)


def test_every_class_of_evidence_has_a_row():
    assert [cell[0] for cell in table("classes")] == [f"`{kind}`" for kind in Provenance]
    assert all(all(row) for row in table("classes"))


def test_the_classes_are_told_for_each_section():
    rows = {re.match(r"\[`(\w+)`\]", row[0])[1]: row[1] for row in table("sections")}
    assert rows == {name: words(spec.provenance) for name, spec in SPECS.items()}


def test_the_fields_of_the_subject_stand_there_as_they_are_declared():
    shown = {row[0].strip("`"): row[1:] for row in table("subject")}
    expected = {
        path: [words(kinds), plain(fact.doc), plain(fact.caveat)]
        for path, (name, fact, kinds) in FACTS.items()
        if name in evidence.SUBJECT
    }
    assert shown == expected
    assert any(row[2] for row in shown.values())


def test_every_other_field_that_has_a_caveat_or_evidence_of_its_own():
    shown = {row[0].strip("`"): row[1:] for row in table("exceptions")}
    expected = {
        path: [words(kinds), plain(fact.caveat)]
        for path, (name, fact, kinds) in FACTS.items()
        if name not in evidence.SUBJECT
        and (fact.caveat or fact.provenance not in ((), SPECS[name].provenance))
    }
    assert shown == expected
    assert len(shown) > 100


def test_what_belongs_to_something_rests_on_what_that_rests_on():
    """A soft limit is the process's, as limits are, though its section is about the kernel."""
    kinds = {path: found for path, _, found in evidence.facts_of(SPECS["host"])}
    assert kinds["host"] == SPECS["host"].provenance == (Provenance.HOST_KERNEL,)
    assert kinds["host.ulimits"] == kinds["host.ulimits.memlock.soft"] == (Provenance.PROCESS,)


def test_the_subject_is_in_the_registry():
    assert set(evidence.SUBJECT) <= set(SPECS)
