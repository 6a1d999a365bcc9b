"""A run as JUnit's XML, from the document: a suite a cell, a case a trial."""

import itertools
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

from aorta.model.text import printable
from aorta.sweep.matrix.logs import log_of
from aorta.sweep.matrix.ranks import ranks_line
from aorta.sweep.matrix.table import CALLED, Cell
from aorta.sweep.outcome import ERROR, FAIL

#: The most trials of a cell that are listed though they were not executed.
SKIPPED = 10_000

_COUNTS = ("tests", "failures", "errors", "skipped")
_KINDS = {FAIL: "failure", ERROR: "error"}


def junit(document: Mapping[str, Any]) -> str:
    """Return the XML of a run. Trials that were not executed are skipped cases."""
    root = ET.Element("testsuites", name=_text(f"aorta sweep {document['workload']}"))
    suites = [_suite(cell, document) for cell in document["cells"]]
    root.extend(suites)
    totals = [sum(int(suite.get(name, "0")) for suite in suites) for name in _COUNTS]
    _count(root, *totals)
    root.set("time", _seconds(sum(cell["total_elapsed_s"] for cell in document["cells"])))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _suite(cell: Cell, document: Mapping[str, Any]) -> ET.Element:
    suite = ET.Element("testsuite", name=_text(cell["name"]))
    # In a run that is complete, a cell with fewer trials ended early as it was to.
    missing = 0 if document["complete"] else max(0, cell["trials"] - cell["done_count"])
    _count(suite, cell["done_count"] + missing, cell["failed_count"], cell["error_count"], missing)
    suite.set("time", _seconds(cell["total_elapsed_s"]))
    suite.set("timestamp", _text(document["run_timestamp"]))
    if document["node"]:
        suite.set("hostname", _text(document["node"]))
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(cell, document):
        ET.SubElement(properties, "property", name=_text(name), value=_text(value))
    done = set()
    for trial in cell["trial_results"]:
        done.add(trial["trial"])
        _case(suite, cell, trial)
    skipped = (number for number in range(cell["trials"]) if number not in done)
    for number in itertools.islice(skipped, min(missing, SKIPPED)):
        case = ET.SubElement(suite, "testcase", classname=_text(cell["name"]), name=f"trial {number}")
        ET.SubElement(case, "skipped", message=f"not executed: the run is {document['state']}")
    return suite


def _properties(cell: Cell, document: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("run", document["run_id"]),
        *([("ranks", ranks)] if (ranks := ranks_line(document)) else []),
        ("environment", cell["environment"]),
        ("mitigations", ", ".join(cell["mitigations"])),
        *([("diagnostic", cell["diagnostic"])] if cell["diagnostic"] else []),
        ("against baseline", CALLED[cell["comparison"]["call"]]),
        # What looks like a secret is redacted in the document.
        *(
            (f"env.{name}", "unset" if value is None else value)
            for name, value in cell["env_overlay"].items()
        ),
    ]


def _case(suite: ET.Element, cell: Cell, trial: Mapping[str, Any]) -> None:
    case = ET.SubElement(suite, "testcase", classname=_text(cell["name"]), name=f"trial {trial['trial']}")
    case.set("time", _seconds(trial["elapsed_s"] or 0.0))
    kind = _KINDS.get(trial["verdict"])
    if kind is not None:
        ended = trial.get("signal") or trial.get("exit_code")
        message = trial.get("reason") or (f"ended with {ended}" if ended is not None else trial["verdict"])
        found = ET.SubElement(case, kind, message=_text(message), type=trial["verdict"])
        found.text = "\n".join(_text(path) for path in (trial["path"], log_of(trial)) if path)


def _count(element: ET.Element, tests: int, failures: int, errors: int, skipped: int) -> None:
    for name, number in zip(_COUNTS, (tests, failures, errors, skipped), strict=True):
        element.set(name, str(number))


def _seconds(value: float) -> str:
    return f"{value:.3f}"


def _text(text: object) -> str:
    """Return a text that XML can hold: control characters and the like are escaped."""
    return printable(str(text))
