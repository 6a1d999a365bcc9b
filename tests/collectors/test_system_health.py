import json

import pytest

from aorta.testing import Completed, FakeHost, Outcome, collect
from aorta_collectors.tools.sudo import failure, refusal
from aorta_collectors.tools.tool_json import decode

TOOL = "/usr/local/bin/rdhc.py"
LINE = ("sudo", "-n", TOOL, "--quick", "--json", "/dev/stdout")
REPORT = {
    "system_info": {"ROCm version": "6.2.0-66", "GPU Arch ": "gfx942", "dkms status": "one\ntwo"},
    "test_results": {"Multinode_Readiness": {"status": "NOT TESTED", "reason": ""}},
}
TABLE = "\nROCm Deployment Health Check Results:\n+------+------+\n| {not} | [json] |\n+------+------+\n"


def health(answer=None, *, sudo=True, files=(TOOL,), root=False, **host):
    commands = {} if answer is None else {LINE[2:] if root else LINE: answer}
    observed = {"user": {"uid": 0 if root else 1000, "root": root, "groups": []}}
    made = FakeHost(files=dict.fromkeys(files, "#!"), commands=commands, observed=observed, **host)
    return collect(made, "system_health", sudo=sudo)


def test_not_installed():
    result = health(files=())
    assert (result.value, result.kinds()) == (None, ["no_tool"])
    assert result.record.commands == ()


def test_without_permission_it_is_not_run():
    result = health("{}", sudo=False)
    assert (result.value, result.kinds()) == (None, ["not_requested"])
    assert f"sudo -n {TOOL} --quick --json" in result.reasons[0].detail
    assert result.record.commands == ()


def test_the_report_is_verbatim():
    result = health(TABLE + json.dumps(REPORT, indent=4) + TABLE)
    assert result.value == REPORT
    assert result.reasons == ()
    assert result.record.commands[0].as_root is True


def test_root_needs_no_sudo_but_the_permission():
    assert health(json.dumps(REPORT), root=True).value == REPORT
    assert health(json.dumps(REPORT), root=True, sudo=False).kinds() == ["not_requested"]


def test_an_empty_report_is_a_report():
    result = health("{}\n")
    assert (result.value, result.reasons) == ({}, ())


def test_not_a_number_is_null_and_told():
    result = health('{"gpu_info": {"GPU_0": {"power": NaN, "name": "N/A"}}}')
    assert result.value == {"gpu_info": {"GPU_0": {"power": None, "name": "N/A"}}}
    assert result.kinds() == ["unparsed"]


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ("", "unparsed", "nothing was printed"),
        ("all is well\n", "unparsed", "all is well"),
        ("[1, 2]\n", "unparsed", "no JSON object"),
        ('{"system_info": {"a": \n', "unparsed", "ends in the middle"),
        ("[" * 200000, "unparsed", "cannot be read"),
        (json.dumps({"system_info": "x" * (1 << 20)}), "unparsed", "more than 1048576"),
        (
            {"exit": 1, "stdout": "WARNING: Missing Required Python Packages\nExiting...\n"},
            "failed",
            "tool_error",
        ),
        ({"exit": 1, "stderr": f"sudo: {TOOL}: command not found\n"}, "no_tool", "secure_path"),
        ({"outcome": "timed_out"}, "timed_out", "no end within"),
        ({"outcome": "abandoned"}, "timed_out", "could not be ended"),
        ({"exit": -9}, "failed", "signal 9"),
        (None, "no_tool", "sudo is not installed"),
    ],
)
def test_what_can_go_wrong(answer, kind, words):
    result = health(answer)
    assert (result.value, result.kinds()) == (None, [kind])
    assert words in result.reasons[0].detail


def test_w9_a_tool_of_root_that_cannot_be_killed_is_told():
    result = health({"outcome": "abandoned"})
    assert result.record.commands[0].outcome is Outcome.ABANDONED
    assert "belongs to root" in result.reasons[0].detail


def test_output_that_was_cut_off():
    done = Completed(outcome=Outcome.OK, exit_code=0, stdout=json.dumps(REPORT), truncated=True)
    assert health(done).kinds() == ["unparsed"]


@pytest.mark.parametrize("places", [("/opt/rocm/bin/rdhc",), ("/home/me/bin/rdhc",), ("/usr/bin/rdhc",)])
def test_where_the_tool_may_be(places):
    files = dict.fromkeys([*places, "/opt/rocm/.info/version"], "6.2.0-66\n")
    made = FakeHost(files=files, env={"PATH": "bin::/home/me/bin:/bin"})
    result = collect(made, "system_health")
    assert result.kinds() == ["not_requested"]
    assert places[0] in result.reasons[0].detail


def test_success_is_no_failure():
    from aorta.collect import CommandAnswer

    assert failure(CommandAnswer(value=Completed(outcome=Outcome.OK, exit_code=0))) is None
    assert failure(CommandAnswer()) is None


def test_a_tools_own_words_are_no_refusal():
    assert refusal("user is not allowed to open /dev/kfd\n") is None
    assert refusal("sudo: unable to resolve host node-a: x\n") is None
    assert refusal("sudo: error initializing audit plugin\n") == "policy"


def test_documents_one_after_another():
    documents, before = decode('WARNING {x}: no group\n{a} is no JSON\n[{"gpu": 0}]\n{"b": 1}\nLegend: x\n')
    assert documents == [[{"gpu": 0}], {"b": 1}]
    assert before.startswith("WARNING {x}")
