"""What findings, ends and steps make of a trial."""

import pytest

from aorta.sweep.command.catalogue import EFFECT, Enabled
from aorta.sweep.command.exits import End, finding_of
from aorta.sweep.command.verdict import judge
from aorta.sweep.command.waiting import HUNG, TIMED_OUT, Status
from aorta.sweep.outcome import Finding

ALL_ON = Enabled((), ())


def exited(code):
    return End(status=Status(code=code))


def by(number):
    return End(status=Status(number=number))


LATE = End(how=TIMED_OUT, status=Status(number=15), timeout_s=5.0)
HANGS = End(how=HUNG, status=Status(number=15), idle_s=31.0)


def judged(end, ids=(), steps=None, enabled=ALL_ON, **given):
    found = [Finding(id=one, effect=EFFECT.get(one, "fail"), text=f"text of {one}") for one in ids]
    first = finding_of(end)
    if first is not None and enabled(first.id):
        found.insert(0, first)
    return judge(found, end, steps, enabled, **given)


@pytest.mark.parametrize(
    ("end", "ids", "steps", "verdict", "reason"),
    [
        (exited(0), [], None, "pass", None),
        (exited(0), ["tier1:coredump", "tier3:vram_growth"], 5, "pass", None),
        (exited(3), [], None, "fail", "exit status 3"),
        (exited(3), [], 5, "fail", "exit status 3"),
        (by(11), [], None, "fail", "ended by SIGSEGV (segmentation fault)"),
        (by(9), [], 12, "error", "ended by SIGKILL (killed from outside)"),
        (by(15), [], 12, "error", "ended by SIGTERM (ended from outside)"),
        (by(1), [], 12, "error", "ended by SIGHUP (ended from outside)"),
        (by(2), [], 12, "error", "ended by SIGINT (ended from outside)"),
        (by(10), [], 12, "fail", "ended by SIGUSR1"),
        (exited(130), [], None, "error", "exit status 130, by which a shell says that its command was ended by SIGINT (ended from outside)"),
        (exited(129), [], None, "fail", "exit status 129"),
        (exited(139), [], None, "fail", "exit status 139, by which a shell says that its command was ended by SIGSEGV (segmentation fault)"),
        (exited(137), [], None, "error", "exit status 137, by which a shell says that its command was ended by SIGKILL (killed from outside)"),
        (exited(200), [], None, "fail", "exit status 200"),
        (exited(127), [], None, "error", "exit status 127, by which a shell says that it found no such command"),
        (LATE, [], None, "error", "timed out after 5 s"),
        (LATE, ["tier2:hang"], None, "fail", "text of tier2:hang"),
        (LATE, ["tier4:python_traceback"], None, "fail", "tier4:python_traceback: text of tier4:python_traceback"),
        (LATE, ["meta:missing_pass_signal"], None, "error", "timed out after 5 s"),
        (HANGS, ["tier2:hang"], None, "fail", "text of tier2:hang"),
        # What a program prints about an error is no failure of its own.
        (exited(1), ["tier4:import_error"], None, "error", "tier4:import_error: text of tier4:import_error"),
        (exited(1), ["tier4:python_traceback", "tier4:out_of_memory"], 3, "error", "tier4:out_of_memory: text of tier4:out_of_memory"),
        (by(6), ["tier4:out_of_memory"], 3, "error", "tier4:out_of_memory: text of tier4:out_of_memory"),
        (exited(1), ["tier4:out_of_memory", "tier4:hip_error"], 3, "fail", "tier4:hip_error: text of tier4:hip_error"),
        (by(9), ["tier4:hip_error"], 3, "fail", "tier4:hip_error: text of tier4:hip_error"),
        (exited(1), ["tier4:python_traceback"], 3, "fail", "tier4:python_traceback: text of tier4:python_traceback"),
        (exited(0), ["tier4:nan_signature"], 3, "fail", "tier4:nan_signature: text of tier4:nan_signature"),
        (exited(0), ["custom:mine"], 3, "fail", "custom:mine: text of custom:mine"),
        (exited(0), ["meta:missing_pass_signal"], 3, "fail", "text of meta:missing_pass_signal"),
        # It did not run, unless something strong says more.
        (exited(0), [], 0, "error", "did not reach a step: exit status 0"),
        (exited(1), [], 0, "error", "did not reach a step: exit status 1"),
        (exited(1), ["tier4:python_traceback"], 0, "error", "did not reach a step: tier4:python_traceback: text of tier4:python_traceback"),
        (exited(0), ["meta:missing_pass_signal"], 0, "error", "did not reach a step: text of meta:missing_pass_signal"),
        (LATE, [], 0, "error", "did not reach a step: timed out after 5 s"),
        (by(11), [], 0, "fail", "ended by SIGSEGV (segmentation fault)"),
        (exited(1), ["tier4:hip_error"], 0, "fail", "tier4:hip_error: text of tier4:hip_error"),
        (exited(0), ["tier3:gpu_hang"], 0, "fail", "tier3:gpu_hang: text of tier3:gpu_hang"),
        (LATE, ["tier2:hang"], 0, "fail", "text of tier2:hang"),
        (End(status=Status()), [], None, "error", "the exit status is not known"),
    ],
)  # fmt: skip
def test_verdicts(end, ids, steps, verdict, reason):
    assert judged(end, ids, steps) == (verdict, reason)


def test_who_is_killed_for_want_of_memory():
    end = End(status=Status(number=9), oom_kills=1)
    assert judged(end) == ("error", "ended by SIGKILL (killed by the kernel for want of memory)")


@pytest.mark.parametrize("enabled", [Enabled((), ("tier1",)), Enabled(("tier1:exit_nonzero",), ())])
def test_what_is_not_judged_is_no_pass(enabled):
    verdict, reason = judged(exited(3), enabled=enabled)
    assert (verdict, reason) == (
        "error",
        "exit status 3, and tier1:exit_nonzero is disabled, so that this cannot be judged",
    )
    assert judged(exited(3), ["tier4:hip_error"], enabled=enabled)[0] == "fail"
    assert judged(exited(0), enabled=enabled)[0] == "pass"


def test_a_signal_of_success_stands_for_an_exit_that_is_not_judged():
    on = Enabled(("tier1:exit_nonzero",), ())
    assert judged(exited(3), enabled=on, confirmed=True)[0] == "pass"
    assert judged(by(11), enabled=Enabled(("tier1:sigsegv",), ()), confirmed=True)[0] == "error"
    assert judged(exited(3), enabled=Enabled((), ("tier1",)), confirmed=True)[0] == "error"
    assert judged(exited(3), confirmed=True)[0] == "fail"


def test_a_reason_is_one_short_line():
    found = [Finding(id="tier4:hip_error", effect="fail", text="a\nb " * 300)]
    verdict, reason = judge(found, exited(0), None, ALL_ON)
    assert (verdict, len(reason)) == ("fail", 300)
    assert "\n" not in reason
