import pytest

from aorta.instrumentation.notice import execution_notice

MODULE = "aorta.instrumentation._probe_main"


def noticed(claim, detected=False, status="ok", container=None, **env):
    document = {
        "execution_context": {"probe_invocation": claim},
        "container_detected": detected,
        "isolation": {"container": container},
        "collection": {"collectors": {"container_detected": {"status": status}}},
    }
    return execution_notice(document, env.get)


def test_mild_and_loud():
    (mild,) = noticed("buck2_run")
    assert mild.startswith("note: ") and "client host" in mild
    loud = noticed("buck2_action")
    assert len(loud) > 2
    assert all(line.startswith("WARNING: ") for line in loud)
    assert "CLIENT HOST" in " ".join(loud)


@pytest.mark.parametrize(
    "known",
    [
        {"claim": "direct"},
        {"claim": None},
        {"claim": "buck2_action", "detected": True},
        {"claim": "buck2_action", "container": True},
        {"claim": "buck2_action", "AORTA_RE_IMAGE": "x"},
        {"claim": "buck2_run", "AORTA_DOCKER_IMAGE": "x"},
        {"claim": "buck2_action", "status": "not_requested", "detected": None},
    ],
)
def test_nothing_to_say(known):
    assert noticed(**known) == []


def test_an_empty_variable_is_no_image_and_unseen_isolation_is_none_seen():
    assert noticed("buck2_run", AORTA_RE_IMAGE=" ")
    assert noticed("buck2_action", detected=None, status="failed")
    assert execution_notice({"execution_context": None}, {}.get) == []


def bare(recording):
    """A recording of a bare host: its root is a disk and no sign of isolation is there."""
    mounts = "22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n"
    return recording(
        {"op": "read", "path": "/proc/self/mountinfo", "text": mounts},
        {"op": "read", "path": "/proc/self/cgroup", "text": "0::/user.slice\n"},
        {"op": "read", "path": "/proc/1/cgroup", "text": "0::/init.scope\n"},
        {"op": "link", "path": "/proc/self/ns/mnt", "target": "mnt:[4026531841]"},
        {"op": "link", "path": "/proc/1/ns/mnt", "target": "mnt:[4026531841]"},
    )


@pytest.mark.parametrize(("claim", "lines"), [("direct", 0), ("buck2_run", 1), ("buck2_action", 4)])
def test_on_standard_error_and_never_a_status(cli, recording, claim, lines):
    ran = cli.probe("--replay", bare(recording), "--execution-context", claim, "-o", "-", "--fail-on-partial")
    assert len(ran.lines) == lines
    assert ran.json["execution_context"]["probe_invocation"] == claim
    assert ran.code == (3 if ran.json["partial"] else 0)
    assert "WARNING" not in ran.out


def test_the_claim_may_come_from_the_environment(cli):
    words = ("--section", "execution_context", "-o", "-")
    ran = cli.probe(*words, env={"AORTA_PROBE_INVOCATION": "buck2_run"})
    assert ran.json["execution_context"]["probe_invocation"] == "buck2_run"
    ran = cli.probe(*words, "--execution-context", "direct", env={"AORTA_PROBE_INVOCATION": "buck2_run"})
    assert ran.json["execution_context"]["probe_invocation"] == "direct"


def test_the_module_entry_says_the_same(cli):
    words = ("--execution-context", "buck2_action")
    env = {"PATH": "/nowhere"}
    one = cli(*words, module=MODULE, env=env)
    other = cli.probe(*words, "-o", "-", env=env)
    assert one.code == other.code == 0
    assert one.err == other.err
    assert bool(one.err) is (one.json["container_detected"] is not True)
