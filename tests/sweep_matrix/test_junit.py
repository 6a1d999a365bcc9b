"""JUnit's XML of a run."""

from xml.etree import ElementTree as ET

from aorta.sweep.matrix.junit import junit
from aorta.sweep.matrix.run_facts import INTERRUPTED, State
from aorta.sweep.planning.overlay import Layer
from aorta.sweep.recipe.model import Change, StopAfter

from .made import DONE, cell, document, trial, trials


def tree(cells, summaries, state=DONE):
    return ET.fromstring(junit(document(cells, summaries, state)))


def counts(element):
    return [int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")]


def test_a_suite_a_cell_and_a_case_a_trial():
    root = tree([cell("none", trials=3), cell("a", trials=3)], [*trials("none", "ppp"), *trials("a", "pfe")])
    assert counts(root) == [6, 1, 1, 0]
    none, other = root
    assert (none.tag, none.get("name"), none.get("time"), none.get("hostname")) == (
        "testsuite",
        "none",
        "4.500",
        "node-1",
    )
    assert counts(other) == [3, 1, 1, 0]
    cases = other.findall("testcase")
    assert [case.get("name") for case in cases] == ["trial 0", "trial 1", "trial 2"]
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["error"]]


def test_reasons_are_messages_that_xml_can_hold():
    odd = trial("a", 0, "fail", reason='<x> & "\x00\x1b\ud800\ufffe\n')
    found = tree([cell("a", trials=2)], [odd, trial("a", 1, "error", signal="SIGKILL")])
    message = found.find(".//failure").get("message")
    assert message == '<x> & "\\x00\\x1b\\ud800\\ufffe\\n'
    assert found.find(".//failure").text == "cells/a/trial_000.json"
    assert found.find(".//error").get("message") == "ended with SIGKILL"


def test_properties_are_the_overlay_without_secrets():
    change = Change(set={"A": "1", "SITE_TOKEN": "private"}, unset=("B",))
    layer = Layer(source="cell extra_env", change=change)
    text = junit(document([cell("a", layers=(layer,), diagnostic="log")], trials("a", "p")))
    found = {one.get("name"): one.get("value") for one in ET.fromstring(text).iter("property")}
    assert (found["env.A"], found["env.B"], found["diagnostic"], found["mitigations"]) == (
        "1",
        "unset",
        "log",
        "a",
    )
    assert "private" not in text


def test_trials_that_were_not_executed_are_skipped():
    state = State(word=INTERRUPTED, why="SIGTERM")
    root = tree([cell("none", trials=3), cell("a", trials=2)], [trial("none", 0), trial("none", 2)], state)
    assert counts(root) == [5, 0, 0, 3]
    assert sorted(case.get("name") for case in root[0].findall("testcase")) == [
        "trial 0",
        "trial 1",
        "trial 2",
    ]
    assert root.find(".//skipped").get("message") == "not executed: the run is interrupted"


def test_a_cell_that_ended_early_misses_nothing():
    root = tree([cell("a", stop_after=StopAfter(events=1, max_trials=9))], trials("a", "pf"))
    assert counts(root) == [2, 1, 0, 0]


def test_a_plan_without_end_has_an_end():
    made = document([cell("a", trials=10**15)], [trial("a", 0)], State(word=INTERRUPTED))
    text = junit(made)
    assert text.count("<skipped") == 10_000
