"""Answers that speak of another target."""

import json

import pytest

from tests.parts.buck import LITERAL

ROW = "root//app:trainer (root//p:x#0123456789abcdef)"
DEFAULT = "--buck-default-context"


@pytest.mark.parametrize(
    ("row", "platform"),
    [
        (ROW, "root//exec:a"),
        # In another configuration, or under an alias of its cell, it is still the target.
        ("root//app:trainer (root//p:y#fedcba9876543210)", "root//exec:a"),
        ("alias//app:trainer", "root//exec:a"),
        ("root//app:another (root//p:x#0123456789abcdef)", None),
        ("no label", None),
    ],
)
def test_the_platform_of_another_target_is_not_the_targets(project, row, platform):
    project.describe(
        behaviour={
            "cquery": {"stdout": json.dumps({LITERAL: [ROW]})},
            "cquery -a": {"stdout": json.dumps({row: {"buck.execution_platform": "root//exec:a"}})},
        }
    )
    ran = project.asked(DEFAULT)
    assert ran.invocation["status"] == "success"
    assert ran["execution_context"]["likely_execution_platform"] == platform
    assert bool(ran.reasons("execution_context")) is (platform is None)
