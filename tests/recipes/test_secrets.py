"""Values that may be secrets are never shown, wherever a fault is near them."""

import pytest

TRIAGE = """schema_version: 1
workload: race
trials: 2
steps: 5
cells:
  - {name: one, mitigations: [none], environment: local}
"""


@pytest.mark.parametrize(
    "text",
    [
        "extra_env: 123454321",
        "extra_env: A=123454321",
        "extra_env: [123454321]",
        "extra_env: {A: 123454321}",
        "extra_env: {A: 0123454321}",
        "extra_env: {A: 12:34:54:32:1, B: 123454321.0}",
        "extra_env: {A: [123454321]}",
        'extra_env: {A: "123454321\\0"}',
        "mitigations: {a: {A: 123454321}}",
        "mitigations: {a: 123454321}",
        "mitigations: {a: x123454321}",
        "mitigations: {a: {set: {A: 123454321}, unset: x123454321}}",
        "mitigations: {a: {prepend: {A: 123454321}, other: {A: 0123454321}}}",
        "environments: {a: {env: {A: 123454321}}}",
        "environments: {a: {env: x123454321}}",
        "extra_env: {A: !!int 123454321}",
        "extra_env: {A: !!bool 123454321}",
        "extra_env: {A: !!binary MTIzNDU0MzIx}",
        "extra_env: {A: 2020-01-01 12:34:54.321}",
    ],
)
def test_a_value_of_a_variable_is_never_shown(text, faults):
    lines = faults(TRIAGE + text + "\n")
    assert lines
    told = " ".join(lines)
    assert not [part for part in ("12345", "34:54", "1012", "2020") if part in told]
