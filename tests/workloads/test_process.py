"""Trials in an interpreter of their own: what it gets, how it may end, and that nothing of it is left."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from aorta.sweep.definitions.registry import Environment
from tests.parts import pythons


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_it_is_a_process_with_a_session_of_its_own(execute, files):
    told = execute(run="tells").metrics
    assert told["pid"] != os.getpid()
    assert told["session"] == told["pid"]
    assert told["python"] == sys.executable
    assert told["stdin"] == ""
    assert told["cwd"] == os.getcwd()
    assert told["trial"] == {
        "cell": "cell",
        "trial": 0,
        "steps": 1,
        "rank": 0,
        "world_size": 1,
        "local_rank": 0,
        "artifact_dir": files.folder,
        "store": None,
        "agent_store": None,
        "image": None,
        "variables": {},
    }


def test_the_variables_are_there_from_the_start(execute):
    """A module that reads its switch at its import sees the cell's value, in every trial its own."""
    seen = [execute(run="tells", environ={"SUBJECT_SWITCH": value}).metrics["at_import"] for value in "ab"]
    assert seen == ["a", "b"]


def test_it_gets_exactly_the_variables_given(execute, monkeypatch):
    environ = {"PATH": os.environ["PATH"], "SUBJECT_A": "1", "AORTA_CELL": "cell"}
    coverage = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    for name in set(os.environ) - {*environ, *coverage, "AORTA_WORKLOADS"}:
        monkeypatch.delenv(name)
    told = execute(run="tells", environ=environ).metrics
    # What the fixture adds to ours is given too; the interpreter itself may set LC_CTYPE.
    given = {*environ, *coverage, "AORTA_WORKLOADS"}
    assert set(told["names"]) - {"LC_CTYPE", "PYTEST_CURRENT_TEST"} == given


def test_ranks_are_told(execute):
    launched = {
        "RANK": "1",
        "WORLD_SIZE": "2",
        "LOCAL_RANK": "0",
        "MASTER_ADDR": "node1",
        "MASTER_PORT": "2000",
    }
    trial = execute(run="tells", environ=launched).metrics["trial"]
    assert (trial["rank"], trial["world_size"], trial["local_rank"], trial["store"]) == (
        1,
        2,
        0,
        "node1:2000",
    )


def test_a_search_path_of_the_cell_comes_first(execute, tmp_path):
    (tmp_path / "json.py").write_text("raise ImportError('not this one')\n")
    there = tmp_path / "more"
    there.mkdir()
    told = execute(run="tells", environ={"PYTHONPATH": str(there)}).metrics
    assert told["path"][0] == str(there)
    assert "" not in told["path"]


def test_its_output_goes_to_the_logs_whole(execute, files):
    assert execute(run="prints").verdict == "pass"
    with open(files.stdout, "rb") as file:
        assert file.read() == b"to standard output\n\\ud800\n{}\n\xff\x00 raw\n"
    with open(files.stderr, "rb") as file:
        assert file.read() == b"to standard error\n"


def test_closing_every_descriptor_costs_no_answer(execute):
    assert execute(run="closes").verdict == "pass"


def test_a_file_that_got_the_number_of_a_closed_descriptor_is_not_written_to(execute, files):
    assert execute(run="closes_and_opens").verdict == "pass"
    sizes = [entry.stat().st_size for entry in os.scandir(files.folder)]
    assert sizes == [0] * 8


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE"])
def test_a_crash_is_a_failure_with_its_stack(execute, name):
    found = execute(run="signals_itself", signal=getattr(signal, name))
    assert (found.verdict, found.signal, found.exit_code) == ("fail", name, None)
    assert found.reason.startswith(f"the process was ended by {name} in run, it was at ")
    assert "subjects.py" in found.reason
    assert "in signals_itself" in found.traceback


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP"])
def test_a_signal_from_outside_is_an_error(execute, name):
    found = execute(run="signals_itself", signal=getattr(signal, name))
    assert (found.verdict, found.signal) == ("error", name)
    assert found.reason.startswith(f"the process was ended by {name} in run")


def test_a_crash_in_setup_is_told_so(execute):
    found = execute(setup="segfaults")
    assert (found.verdict, found.signal) == ("fail", "SIGSEGV")
    assert "in setup" in found.reason


@pytest.mark.parametrize("status", [0, 7])
def test_an_end_without_an_answer_is_an_error(execute, status):
    found = execute(run="exits_at_once", status=status)
    assert (found.verdict, found.exit_code) == ("error", status)
    assert (
        found.reason == f"the process ended with exit status {status} in run, without an answer: last words"
    )


def test_an_end_by_a_fault_of_the_gpu_is_a_failure(execute):
    found = execute(run="dies_of_the_gpu")
    assert found.verdict == "fail"
    assert found.reason.endswith(": Memory access fault by GPU node-1 on address 0x7f")


def test_a_crash_after_a_pass_is_a_failure(execute):
    found = execute(run="dies_after_the_end")
    assert (found.verdict, found.signal) == ("fail", "SIGSEGV")
    assert found.reason == "the process was ended by SIGSEGV after run() had passed"


@pytest.mark.parametrize(("passed", "verdict"), [(True, "pass"), (False, "fail")])
def test_who_is_killed_after_the_answer_is_judged_by_it(execute, passed, verdict):
    found = execute(run="is_killed_after_the_end", passed=passed)
    assert (found.verdict, found.signal) == (verdict, "SIGKILL")
    assert "its process was ended by SIGKILL after its answer" in found.notes


def test_an_odd_end_after_the_answer_is_noted(execute):
    found = execute(run="exits_oddly_after_the_end")
    assert found.verdict == "pass"
    assert "its process ended with exit status 5 after its answer" in found.notes


def test_what_a_workload_dumps_itself_does_not_mislead(execute):
    assert execute(run="stray_stacks").verdict == "pass"


def test_a_child_that_comes_back_is_not_the_trial(execute):
    assert execute(run="forks_back").verdict == "pass"


def test_a_timeout_ends_it_with_its_stacks(execute):
    begun = time.monotonic()
    found = execute(run="hangs", timeout=1.0)
    whole = time.monotonic() - begun
    assert (found.verdict, found.timed_out) == ("error", True)
    assert found.reason.startswith("timed out after 1 s in run, it was at ")
    assert "in hangs" in found.traceback
    assert 1.0 <= found.elapsed_s < whole < 30


@pytest.mark.parametrize("what", ["hangs_for_ever", "stops", "blocks"])
def test_a_timeout_ends_what_does_not_want_to(execute, what):
    found = execute(run=what, timeout=1.0, grace=0.3)
    assert (found.verdict, found.timed_out) == ("error", True)
    assert not subprocess.run(
        ["pgrep", "-f", "signal.signal(15, 1); time.sleep(60)"], capture_output=True
    ).stdout


@pytest.mark.parametrize("session", [False, True])
def test_what_it_leaves_is_ended_and_told(execute, session):
    found = execute(run="leaves_a_child", session=session)
    assert found.verdict == "pass"
    assert "1 process of the trial was left and ended" in found.notes
    assert not is_alive(found.metrics["child"])


def test_a_thread_that_stays_costs_no_verdict(execute, monkeypatch):
    monkeypatch.setattr("aorta.sweep.workload.watching.LINGER_S", 0.3)
    found = execute(run="leaves_a_thread")
    assert found.verdict == "pass"
    assert "its process did not end by itself after its answer, and was ended" in found.notes


def test_nothing_grows(execute, files):
    """Open files, threads, children, files beside the record."""

    def state():
        return (
            len(os.listdir("/proc/self/fd")),
            len(os.listdir("/proc/self/task")),
            os.listdir(os.path.dirname(files.stem)),
        )

    execute()
    before = state()
    for _ in range(5):
        execute()
    assert state() == before


def test_the_interpreter_s_start_is_no_part_of_the_time(execute):
    begun = time.monotonic()
    found = execute()
    whole = time.monotonic() - begun
    (note,) = found.notes
    start = float(re.fullmatch(r"the interpreter took (\d+\.\d\d) s to start", note)[1])
    assert 0 < found.elapsed_s < whole - start + 0.005


SWEEP = """
import os, sys
from aorta.instrumentation.process import Stopped, stop_on_signals
from aorta.sweep.files import TrialFiles
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.definitions.registry import Environment
from aorta.sweep.spec import TrialSpec
from aorta.sweep.workload.trial import WorkloadRunner
stop_on_signals()
local = Environment(name="local")
config = {"run": sys.argv[2]}
cell = PlannedCell(name="c", mitigations=("none",), environment=local, workload_config=config)
plan = Plan(recipe=Recipe(), workload="subject", isolation="process", cells=(cell,), baseline="c")
try:
    files = TrialFiles(stem=sys.argv[1])
    WorkloadRunner(plan).execute(TrialSpec(cell=cell, trial=0, files=files, environ=dict(os.environ)))
except Stopped as stopped:
    print("stopped", stopped.code, flush=True)
    os._exit(0)
"""


def started_sweep(stem, what="hangs"):
    """Start a sweep whose one trial hangs; return it when its workload runs, and the trace of that."""
    environ = {**os.environ, "AORTA_WORKLOADS": "subject=tests.workloads.subjects:Subject"}
    environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    argv = [sys.executable, "-c", SWEEP, stem, what]
    sweep = subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, text=True)
    trace = f"{stem}.trace"
    until = time.monotonic() + 20
    while time.monotonic() < until and not (os.path.exists(trace) and "phase run" in open_text(trace)):
        time.sleep(0.02)
    return sweep, trace


def test_a_stop_ends_the_trial_and_is_raised_again(files):
    """SIGTERM to a sweep: the worker and its child are gone soon after."""
    sweep, _ = started_sweep(files.stem, "hangs_for_ever")
    time.sleep(0.3)
    begun = time.monotonic()
    sweep.send_signal(signal.SIGTERM)
    assert sweep.communicate(timeout=20)[0] == f"stopped {128 + signal.SIGTERM}\n"
    # Not the grace of ten seconds that a trial gets whose own time is over.
    assert time.monotonic() - begun < 8
    assert not subprocess.run(["pgrep", "-f", files.stem], capture_output=True).stdout
    assert sorted(os.listdir(os.path.dirname(files.stem))) == ["trial_000.stderr.log", "trial_000.stdout.log"]


def open_text(path):
    with open(path) as file:
        return file.read()


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_a_virtual_environment_without_anything(execute, tmp_path, version):
    """Its interpreter runs the trial; aorta and attrs come from here, other packages do not."""
    venv = [pythons.python(version), "-m", "venv", "--without-pip", str(tmp_path / "venv")]
    subprocess.run(venv, check=True)
    where = Environment(name="other", venv=str(tmp_path / "venv"))
    found = execute(run="tells", environment=where, environ={"PYTHONPATH": ""})
    assert found.verdict == "pass", found
    assert found.metrics["prefix"] == str(tmp_path / "venv")
    assert f"python{version}" in "".join(found.metrics["path"])
    assert not any("site-packages" in path and str(tmp_path) not in path for path in found.metrics["path"])
    found = execute(workload="strict", environment=where, environ={"PYTHONPATH": ""}, degrees=3)
    assert found.verdict == "pass", found


def test_a_python_that_is_too_old_is_told(execute, tmp_path):
    subprocess.run([pythons.python("3.9"), "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    where = Environment(name="other", venv=str(tmp_path / "venv"))
    found = execute(environment=where, environ={"PYTHONPATH": ""})
    assert found.verdict == "error"
    assert found.reason.endswith("without an answer: a trial needs Python 3.10 or later, not 3.9")


def test_it_ends_with_a_sweep_that_is_killed(files):
    """SIGKILL to aorta leaves nobody who would end the trial: the kernel does."""
    sweep, _ = started_sweep(files.stem)
    (worker,) = children(sweep.pid)
    sweep.kill()
    sweep.communicate(timeout=20)
    until = time.monotonic() + 5
    while is_alive(worker) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_alive(worker)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def test_an_interpreter_that_is_not_there(execute, tmp_path):
    found = execute(environment=Environment(name="other", venv=str(tmp_path / "nowhere")))
    assert found.verdict == "error"
    assert (
        found.reason
        == f"{tmp_path}/nowhere/bin/python could not be started: [Errno 2] No such file or directory: '{tmp_path}/nowhere/bin/python'"
    )


def test_where_child_ends_are_ignored(execute):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert execute(run="exits_at_once", status=7).exit_code == 7
    finally:
        assert signal.signal(signal.SIGCHLD, before) == signal.SIG_IGN


def test_a_config_that_is_no_json(execute):
    assert execute(value=float("nan")).verdict == "error"
    assert execute(value=object()).reason.startswith("workload_config is not JSON")


def test_an_answer_to_another_request_counts_as_none(execute, files, monkeypatch):
    from aorta.sweep.workload import apart

    with open(f"{files.stem}.response.json", "w") as file:
        json.dump({"nonce": "x", "report": {"passed": True}}, file)
    assert apart._answer(f"{files.stem}.response.json", "y") is None
    assert execute(run="exits_at_once").verdict == "error"
