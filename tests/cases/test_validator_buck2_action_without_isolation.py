"""A file declared buck2_action has to show isolation: the boolean true, nothing that looks like it."""

import pytest

from tests.parts.pairs import client, judged, old_client, old_workload, texts, workload

CASE = "validator-buck2-action-without-isolation"

WAYS = [
    ("buck2_action", False, False, "error"),
    ("buck2_action", False, True, "pass"),
    ("buck2_action", True, False, "pass"),
    ("buck2_run", False, False, "pass"),
    ("buck2_run", True, True, "pass"),
    ("buck2_action", "true", False, "wrong type"),
    ("buck2_action", 1, False, "wrong type"),
    ("buck2_action", ["true"], False, "wrong type"),
    ("buck2_action", None, False, "error"),
]


@pytest.mark.parametrize(("declared", "detected", "allowed", "expected"), WAYS)
@pytest.mark.parametrize("pair", [(client, workload), (old_client, old_workload)], ids=["2.0", "1.x"])
def test_the_case(pair, declared, detected, allowed, expected):
    changes = {"execution_context.probe_invocation": declared, "container_detected": detected}
    verdict = judged(pair[0](), pair[1](changes=changes), unisolated=allowed)
    lines = texts(verdict, "workload.isolation")
    assert verdict.passed == (expected == "pass")
    assert len(lines) == (expected != "pass")
    assert all(("a wrong type" in line) == (expected == "wrong type") for line in lines)
    assert all(line.startswith("ERROR: w0.json: declared buck2_action") for line in lines)
    assert all("--allow-unisolated-action" in line for line in lines)
