"""The verdict as text, as JSON and as JUnit's XML."""

import json
import os
import stat
from collections import Counter
from typing import Any
from xml.etree import ElementTree as ET

from aorta.model.text import count_of, listed
from aorta.validate.finding import ERROR, WARNING, Finding
from aorta.validate.judge import Verdict
from aorta.validate.relation import DIFFERENT, Standing, told
from aorta.validate.rules import RULES

FORMAT = "aorta-validate-pair/1"


def line(verdict: Verdict) -> str:
    """Return the verdict in one line."""
    count = len(verdict.workloads)
    files = f"{verdict.client}, {verdict.workloads[0] if count == 1 else f'{count} workloads'}"
    counted = ", ".join(count_of(verdict.count(severity), severity) for severity in (ERROR, WARNING))
    related = f"; {told(verdict.standings)}" if verdict.standings else ""
    related += _beside(verdict)
    strict = " (--strict)" if verdict.options.strict else ""
    return f"{'PASS' if verdict.passed else 'FAIL'}: {files}: {counted}{strict}{related}"


def _beside(verdict: Verdict) -> str:
    """Return which libraries another host's client has beside it that are not the process's."""
    elsewhere = {one.file for one in verdict.standings if one.host.word == DIFFERENT}
    names = [one.library for one in verdict.compared if one.file in elsewhere and one.relation == DIFFERENT]
    return f"; another {listed(list(dict.fromkeys(names)))} beside the client" if names else ""


def as_json(verdict: Verdict) -> str:
    """Return the verdict as JSON, in ASCII."""
    document = {
        "format": FORMAT,
        "verdict": "pass" if verdict.passed else "fail",
        "client": verdict.client,
        "workloads": list(verdict.workloads),
        "options": {
            "require_library": list(verdict.options.libraries),
            "allow_unisolated_action": verdict.options.unisolated,
            "strict": verdict.options.strict,
        },
        "errors": verdict.count(ERROR),
        "warnings": verdict.count(WARNING),
        "findings": [finding.as_json() for finding in verdict.findings],
        "relations": [_relation(one) for one in verdict.standings],
        "libraries": [row.as_json() for row in verdict.compared],
        "not_asked": [name for name in RULES if name not in verdict.asked],
    }
    return json.dumps(document, indent=2) + "\n"


def _relation(one: Standing) -> dict[str, Any]:
    return {"workload": one.file, "namespace": one.namespace.as_json(), "host": one.host.as_json()}


def junit(verdict: Verdict) -> str:
    """Return the verdict as JUnit's XML: one test case a rule, skipped where it could not be asked.

    What fails the gate is a failure; other warnings stand in the case's output.
    """
    of_rule: dict[str, list[Finding]] = {name: [] for name in RULES}
    for finding in verdict.findings:
        of_rule[finding.rule].append(finding)
    suite = ET.Element("testsuite", name="aorta validate pair")
    kinds = Counter(_case(suite, name, found, verdict) for name, found in of_rule.items())
    for name, kind in (("tests", ""), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(kinds[kind] if kind else len(of_rule)))
    suite.set("errors", "0")
    out = ET.SubElement(suite, "system-out")
    out.text = line(verdict)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _case(suite: ET.Element, name: str, found: list[Finding], verdict: Verdict) -> str:
    case = ET.SubElement(suite, "testcase", classname=f"aorta.validate.{name.partition('.')[0]}", name=name)
    if name not in verdict.asked:
        ET.SubElement(case, "skipped", message="not asked: see the failures")
        return "skipped"
    lines = "\n".join(finding.line for finding in found)
    if found and (RULES[name].severity == ERROR or verdict.options.strict):
        failure = ET.SubElement(case, "failure", message=found[0].line, type=RULES[name].severity)
        failure.text = lines
        return "failure"
    if found:
        ET.SubElement(case, "system-out").text = lines
    return "passed"


def write(path: str, text: str) -> None:
    """Write a report: a temporary file beside it and a rename, or straight into a device or pipe.

    Only XML is replaced, since a snapshot can be lost by a slip in the order of names. Raises OSError.
    """
    data = text.encode("utf-8")
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        regular = True
    if not regular:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        os.set_blocking(descriptor, True)
        with open(descriptor, "wb") as stream:
            stream.write(data)
        return
    target = os.path.realpath(path)
    if not _is_replaceable(target):
        raise FileExistsError(17, "it holds something else than XML, and is not replaced", path)
    temporary = f"{os.path.dirname(target)}/.aorta-{os.urandom(6).hex()}.tmp"
    try:
        with open(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb"
        ) as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def _is_replaceable(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"<", b"")
    except FileNotFoundError:
        return True
