"""sudo -n refuses in many ways: one reason with a short class, no host name in it."""

import pytest

from aorta.testing import FakeHost, collect

CASE = "sudo-refusals"

TOOL = "/usr/local/bin/rdhc"
LINE = ("sudo", "-n", TOOL, "--quick", "--json", "/dev/stdout")
WARNING = "sudo: unable to resolve host node-a: Name or service not known\n"
PASSWORD = "sudo: a password is required\n"
REFUSALS = [
    ({"exit": 1, "stderr": PASSWORD}, "password", "denied"),
    (
        {
            "exit": 1,
            "stderr": "sudo: a terminal is required to read the password; either use the -S option to read from"
            f" standard input or configure an askpass helper\n{PASSWORD}",
        },
        "tty",
        "denied",
    ),
    (
        {
            "exit": 1,
            "stderr": 'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.\n',
        },
        "no_new_privs",
        "denied",
    ),
    ({"exit": 1, "stderr": WARNING + PASSWORD}, "password", "denied"),
    ({"exit": 1, "stderr": "user is not in the sudoers file.\n"}, "not_sudoer", "denied"),
    (None, "missing", "no_tool"),
    ({"outcome": "timed_out", "stderr": WARNING}, "timeout", "timed_out"),
]


def health(answer, **request):
    host = FakeHost(files={TOOL: "#!"}, commands={} if answer is None else {LINE: answer})
    return collect(host, "system_health", **{"sudo": True, **request})


@pytest.mark.parametrize(("answer", "word", "kind"), REFUSALS)
def test_one_reason_with_its_class(answer, word, kind):
    result = health(answer)
    assert result.value is None
    (reason,) = result.reasons
    assert (reason.kind.value, word in reason.detail) == (kind, True)
    assert "node-a" not in reason.detail


def test_a_warning_of_sudo_is_no_refusal():
    warned = "sudo: unable to resolve host node-a: Temporary failure in name resolution\n"
    result = health({"exit": 0, "stdout": '{"test_results": {}}\n', "stderr": warned})
    assert (result.value, result.reasons) == ({"test_results": {}}, ())


def test_root_goes_without_sudo():
    host = FakeHost(
        files={TOOL: "#!"},
        commands={LINE[2:]: '{"test_results": {}}\n'},
        observed={"user": {"uid": 0, "root": True, "groups": []}},
    )
    assert collect(host, "system_health", sudo=True).value == {"test_results": {}}
