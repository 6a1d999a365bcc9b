"""Callers that give other things than texts, claims in odd spellings, a buck2 that does not start."""

import json
import subprocess
import sys

import pytest

from aorta.instrumentation import capture
from tests.parts.buck import LITERAL

SECTION = ("buck_invocation",)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"buck_target": 5}, "target"),
        ({"buck_target": b"//a:b"}, "target"),
        ({"buck_timeout": "x"}, "buck_timeout"),
        ({"buck_timeout": float("nan")}, "buck_timeout"),
        ({"buck_timeout": float("inf")}, "buck_timeout"),
        ({"buck_timeout": True}, "buck_timeout"),
        ({"buck_timeout": None}, "buck_timeout"),
        ({"buck_libraries": 5}, "libraries"),
        ({"buck_libraries": [("a", "b")]}, "libraries"),
        ({"buck_context": {"mode=a": 1}}, "buck_context"),
        ({"buck_context": {"mode=a", "mode=b"}}, "buck_context"),
    ],
)
def test_wrong_types_are_value_errors(options, named):
    with pytest.raises(ValueError, match=named):
        capture(sections=SECTION, **{"buck_target": LITERAL, **options})


@pytest.mark.parametrize("claim", ["buck2_run ", " buck2_action", "Buck2_Run", "BUCK2_ACTION\n"])
def test_a_claim_in_another_spelling_asks_nothing(project, claim):
    code = (
        "import json\nfrom aorta.instrumentation import capture\nfrom aorta.model.codec import dump\n"
        f"print(json.dumps(dump(capture(sections={(*SECTION, 'execution_context')}, buck_target={LITERAL!r}))))"
    )
    env = project.environ(AORTA_PROBE_INVOCATION=claim)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.root, env=env, capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, project.calls()) == (0, [])
    document = json.loads(done.stdout)
    assert document["buck_invocation"]["status"] == "failure"
    told = document["execution_context"]["probe_invocation"]
    assert told == (claim.strip() if claim.strip().islower() else "direct")
    ran = project.asked(env={"AORTA_PROBE_INVOCATION": claim})
    assert (ran.code, "asks Buck nothing" in ran.err) == (2, True)


@pytest.mark.parametrize("content", ["#!/nowhere/python\n", None])
def test_a_buck2_that_does_not_start_is_there(project, content):
    path = project.bin / "buck2"
    path.unlink()
    if content is None:
        path.symlink_to(path)
    else:
        path.write_text(content)
        path.chmod(0o755)
    ran = project.asked("--buck-default-context")
    assert (ran["build_system"]["kind"], ran.invocation["status"]) == (None, "buck_not_detected")
    (reason,) = ran.reasons("buck_invocation")
    assert not reason["detail"].endswith("buck2 is not on PATH")
    assert ran.document["partial"] is True
    path.unlink()
    assert project.asked("--buck-default-context")["build_system"]["kind"] == "none"
