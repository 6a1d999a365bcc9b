"""A client's snapshot that was declared a workload's afterwards."""

import pytest

from tests.parts.pairs import client, judged, old_client, workload


@pytest.mark.parametrize("declared", ["buck2_run", "buck2_action"])
def test_what_asked_buck_is_no_workload(declared):
    relabelled = client({"execution_context.probe_invocation": declared})
    verdict = judged(client(), relabelled)
    assert not verdict.passed
    assert [(finding.rule, finding.files) for finding in verdict.findings] == [("file.place", ("w0.json",))]
    assert judged(relabelled, workload()).passed


def test_an_older_aorta_asked_whatever_was_declared():
    verdict = judged(client(), old_client("1.17", {"execution_context.probe_invocation": "buck2_run"}))
    assert "file.place" not in {finding.rule for finding in verdict.findings}
