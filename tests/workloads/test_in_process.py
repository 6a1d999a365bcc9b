"""Trials in this process: what they change of it is put back; a real signal passes."""

import os
import signal
import threading

import pytest

from aorta.instrumentation import process


@pytest.fixture
def stops_are_forgotten():
    """Let a signal raise ``Stopped`` here, and forget that it did."""
    before = {number: signal.getsignal(number) for number in process.SIGNALS}
    for number in process.SIGNALS:
        signal.signal(number, raise_stopped)
    yield
    process._stops.clear()
    for number, handler in before.items():
        signal.signal(number, handler)


def raise_stopped(number, _frame):
    """As aorta's own handler, which also watches over the end of the process."""
    process._stops.append(process.Stopped(number))
    process.raise_if_stopped()


def signal_soon(number, seconds=0.3):
    threading.Timer(seconds, os.kill, (os.getpid(), number)).start()


def test_everything_is_put_back(execute):
    def state():
        mask, timer = signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getitimer(signal.ITIMER_VIRTUAL)
        return dict(os.environ), os.getcwd(), signal.getsignal(signal.SIGTERM), mask, timer

    before = state()
    assert execute("in_process", run="disturbs").verdict == "pass"
    assert state() == before


def test_the_variables_are_on_for_the_trial_alone(execute, monkeypatch):
    monkeypatch.setenv("SUBJECT_KEPT", "before")
    monkeypatch.setenv("SUBJECT_GONE", "before")
    environ = {name: value for name, value in os.environ.items() if name != "SUBJECT_GONE"}
    environ |= {"SUBJECT_KEPT": "cell", "SUBJECT_NEW": "cell"}
    from aorta.sweep.workload.in_process import run_here
    from aorta.workloads.protocol import TrialInfo
    from tests.workloads.subjects import Subject

    told = run_here(Subject, {"run": "tells_variables"}, TrialInfo(), environ).metrics
    assert (told["SUBJECT_KEPT"], told["SUBJECT_NEW"], "SUBJECT_GONE" in told) == ("cell", "cell", False)
    assert (os.environ["SUBJECT_KEPT"], os.environ["SUBJECT_GONE"]) == ("before", "before")
    assert "SUBJECT_NEW" not in os.environ


def test_no_logs_where_none_are_wanted(execute, files, capsys):
    assert execute("in_process", run="speaks", logs=False).verdict == "pass"
    assert os.listdir(os.path.dirname(files.stem)) == []
    assert "to standard error" in capsys.readouterr().err


def test_a_timeout_reaches_python_code(execute):
    found = execute("in_process", run="hangs", timeout=0.5)
    assert (found.verdict, found.timed_out, found.reason) == ("error", True, "timed out after 0.5 s in run")
    assert "in hangs" in found.traceback
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.usefixtures("stops_are_forgotten")
@pytest.mark.parametrize(
    ("phase", "what"), [("run", "hangs"), ("run", "catches_everything"), ("cleanup", "hangs")]
)
def test_a_signal_to_aorta_passes_whatever_the_workload_catches(execute, tmp_path, phase, what):
    marker = tmp_path / "marker"
    signal_soon(signal.SIGTERM)
    with pytest.raises(process.Stopped):
        execute("in_process", **{phase: what}, marker=str(marker))
    assert marker.read_text() == "cleaned\n"


@pytest.mark.usefixtures("stops_are_forgotten")
def test_an_interrupt_of_the_workload_s_own_is_an_error(execute):
    found = execute("in_process", run="interrupts")
    assert (found.verdict, found.reason) == ("error", "KeyboardInterrupt")


def test_without_handlers_an_interrupt_is_the_user_s(execute):
    with pytest.raises(KeyboardInterrupt):
        execute("in_process", run="interrupts")
