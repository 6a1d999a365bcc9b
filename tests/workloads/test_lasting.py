"""An interpreter that lasts for all trials of a rank: what each gets, what stays, and that it can be ended."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from aorta.instrumentation import process
from aorta.sweep.definitions.registry import Environment
from aorta.sweep.files import TrialFiles
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.spec import TrialSpec
from aorta.sweep.workload.trial import WorkloadRunner
from tests.workloads.test_process import children, is_alive

SUBJECTS = "tests.workloads.subjects"


@pytest.fixture
def one_more(tmp_path, monkeypatch):
    """Return a function that executes the next trial of a rank and returns its outcome and its files."""
    monkeypatch.setenv("AORTA_WORKLOADS", f"subject={SUBJECTS}:Subject")
    cells = tmp_path / "cells"
    cells.mkdir()
    runners = {}
    number = iter(range(100))

    def run(*, timeout=None, over=lambda: False, environ=None, **config):
        cell = PlannedCell(
            name="cell",
            mitigations=("none",),
            environment=Environment(name="local"),
            steps=1,
            workload_config=config,
        )
        recipe = Recipe(workload="subject", trial_timeout=timeout)
        plan = Plan(recipe=recipe, workload="subject", isolation="in_process", cells=(cell,), baseline="cell")
        runner = runners.setdefault("one", WorkloadRunner(plan, grace_s=1.0))
        # The limit is the plan's, and so the runner's.
        assert timeout in (None, runner._plan.recipe.timeout_s)
        files = TrialFiles(stem=str(cells / f"trial_{next(number):03d}"))
        given = {**os.environ, "AORTA_SWEEP_RUN": "r", "AORTA_CELL": "cell", "AORTA_TRIAL": files.stem}
        return runner.execute(
            TrialSpec(cell=cell, trial=0, files=files, environ=given | (environ or {})), over=over
        ), files

    run.close = lambda: runners["one"].close()
    yield run
    if runners:
        runners["one"].close()


@pytest.fixture
def told(one_more):
    """Return a function that executes the next trial and returns what it tells of itself."""
    return lambda **more: one_more(run="tells", **more)[0].metrics


def log(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def test_it_is_one_process_and_not_aorta_s(told):
    found = [told() for _ in range(3)]
    assert len({one["pid"] for one in found}) == 1
    assert found[0]["pid"] not in (os.getpid(), os.getpgid(0))
    assert found[0]["session"] == found[0]["pid"]
    assert found[0]["python"] == sys.executable


def test_each_trial_has_its_own_variables_and_modules_keep_the_first_ones(told):
    found = [told(environ={"SUBJECT_SWITCH": value, f"SUBJECT_{value}": "1"}) for value in "ab"]
    assert [one["at_import"] for one in found] == ["a", "a"]
    assert [[name for name in one["names"] if name in ("SUBJECT_a", "SUBJECT_b")] for one in found] == [
        ["SUBJECT_a"],
        ["SUBJECT_b"],
    ]


def test_what_a_trial_changes_is_put_back(one_more, told):
    before = told()
    outcome, _ = one_more(run="disturbs")
    assert outcome.verdict == "pass", outcome
    after = told()
    names = ("pid", "names", "cwd", "masked", "handler", "timer")
    assert {name: after[name] for name in names} == {name: before[name] for name in names}


def test_output_goes_to_the_logs_of_its_trial(one_more):
    for text in ("first", "second"):
        outcome, files = one_more(run="prints_in_c", text=text)
        assert outcome.verdict == "pass", outcome
        assert sorted(log(files.stdout).splitlines()) == [f"{text} from C", f"{text} from Python"]
        assert log(files.stderr) == f"{text} from a child\n"


@pytest.mark.parametrize("what", ["closes_its_output", "takes_its_output_away"])
def test_output_that_a_trial_took_away_is_there_for_the_next(one_more, what):
    assert one_more(run=what)[0].verdict == "pass"
    outcome, files = one_more(run="prints")
    assert outcome.verdict == "pass", outcome
    assert log(files.stdout).startswith("to standard output\n")
    assert log(files.stderr) == "to standard error\n"


def test_what_a_thread_prints_later_is_in_no_log_of_that_trial(one_more):
    _, first = one_more(run="prints_late")
    time.sleep(1.0)
    assert log(first.stdout) == ""


def test_what_is_raised_ends_the_trial_and_not_the_interpreter(one_more, told):
    pid = told()["pid"]
    outcome, _ = one_more(run="raises")
    assert (outcome.verdict, outcome.end, outcome.reason) == ("error", "raised", "ValueError: no such thing")
    assert one_more(setup="system_exit")[0].phase == "setup"
    assert told()["pid"] == pid


@pytest.mark.parametrize(
    ("what", "end", "sign", "code"),
    [
        ("segfaults", "signalled", "SIGSEGV", None),
        ("exits_at_once", "exited", None, 0),
        ("exits_at_once", "exited", None, 7),
    ],
)
def test_one_that_is_lost_is_told_and_the_next_trial_has_another(one_more, told, what, end, sign, code):
    pid = told()["pid"]
    outcome, _ = one_more(run=what, status=code)
    assert (outcome.end, outcome.signal, outcome.exit_code, outcome.phase) == (end, sign, code, "run")
    assert sign is None or "in segfaults" in outcome.traceback
    assert sign is not None or outcome.reason.endswith("without an answer: last words")
    assert told()["pid"] != pid
    assert not is_alive(pid)


def test_one_that_is_killed_between_trials_is_replaced(told):
    pid = told()["pid"]
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert told()["pid"] != pid


def test_closing_every_descriptor_costs_no_answer(one_more, told):
    pid = told()["pid"]
    assert one_more(run="closes")[0].verdict == "pass"
    assert told()["pid"] != pid


@pytest.mark.parametrize("what", ["hangs", "blocks", "hangs_for_ever", "stops"])
def test_a_timeout_ends_it_wherever_it_is(one_more, what):
    """Also in a call of C that keeps the interpreter's lock."""
    begun = time.monotonic()
    outcome, _ = one_more(run=what, timeout=1.5)
    assert (outcome.verdict, outcome.end, outcome.timed_out) == ("error", "timed_out", True)
    assert outcome.reason.startswith("timed out after 1.5 s in run")
    assert f"in {what}" in outcome.traceback
    assert time.monotonic() - begun < 30
    assert one_more(timeout=1.5)[0].verdict == "pass"


@pytest.mark.parametrize("what", ["hangs", "blocks"])
def test_it_is_ended_when_another_rank_is_lost(one_more, told, what):
    pid = told()["pid"]
    until = time.monotonic() + 1.0
    outcome, _ = one_more(run=what, over=lambda: time.monotonic() > until)
    assert (outcome.verdict, outcome.end, outcome.phase) == ("error", "aborted", "run")
    assert f"in {what}" in outcome.traceback
    assert not is_alive(pid)


@pytest.mark.parametrize("session", [False, True])
def test_what_a_trial_leaves_is_ended_and_it_stays(one_more, told, session):
    pid = told()["pid"]
    outcome, _ = one_more(run="leaves_a_child", session=session)
    assert outcome.verdict == "pass"
    assert "1 process of the trial was left and ended" in outcome.notes
    assert not is_alive(outcome.metrics["child"])
    assert told()["pid"] == pid


def test_what_python_itself_keeps_stays_with_it(one_more):
    """The tracker of multiprocessing ignores SIGTERM, and who uses it would miss it."""
    found = []
    for _ in range(2):
        outcome, files = one_more(run="uses_multiprocessing")
        assert outcome.verdict == "pass", outcome
        assert not any("left" in note for note in outcome.notes)
        assert "died" not in log(files.stderr)
        found.append(outcome.metrics["tracker"])
    assert found[0] == found[1]
    one_more.close()
    assert not is_alive(found[0])


def test_a_child_that_comes_back_is_not_the_trial(one_more, told):
    pid = told()["pid"]
    assert one_more(run="forks_back")[0].verdict == "pass"
    assert told()["pid"] == pid


def test_a_thread_that_stays_costs_no_verdict(one_more, told, monkeypatch):
    monkeypatch.setattr("aorta.sweep.workload.lasting.LINGER_S", 0.3)
    outcome, _ = one_more(run="leaves_a_thread")
    assert outcome.verdict == "pass"
    pid = told()["pid"]
    one_more.close()
    assert not is_alive(pid)


def test_it_ends_when_the_run_does(one_more, told):
    pid = told()["pid"]
    one_more.close()
    assert not is_alive(pid)
    one_more.close()


def test_nothing_grows(one_more):
    others = set(children(os.getpid()))

    def state():
        (worker,) = set(children(os.getpid())) - others
        return [len(os.listdir(f"/proc/{pid}/{kind}")) for pid in ("self", worker) for kind in ("fd", "task")]

    one_more()
    before = state()
    for _ in range(5):
        _, files = one_more()
    assert state() == before
    assert sorted(os.listdir(os.path.dirname(files.stem))) == sorted(
        f"trial_{number:03d}.{stream}.log" for number in range(6) for stream in ("stdout", "stderr")
    )
    one_more.close()
    assert set(children(os.getpid())) <= others


def test_a_request_that_nobody_else_may_read(one_more):
    found = []

    def looks():
        folder = os.path.dirname(files_of())
        for name in os.listdir(folder):
            if name.endswith((".request.json", ".trace")):
                found.append(os.stat(os.path.join(folder, name)).st_mode & 0o777)
        return False

    _, files = one_more()

    def files_of():
        return files.stem

    one_more(run="hangs", seconds=0.5, over=looks)
    assert set(found) == {0o600}


@pytest.fixture
def stops_are_forgotten():
    """Let a signal raise ``Stopped`` here, and forget that it did."""
    before = {number: signal.getsignal(number) for number in process.SIGNALS}

    def raise_stopped(number, _frame):
        process._stops.append(process.Stopped(number))
        process.raise_if_stopped()

    for number in process.SIGNALS:
        signal.signal(number, raise_stopped)
    yield
    process._stops.clear()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("stops_are_forgotten")
@pytest.mark.parametrize("what", ["hangs", "blocks", "hangs_for_ever"])
def test_a_signal_to_aorta_ends_it(one_more, told, what):
    pid = told()["pid"]
    threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGTERM)).start()
    begun = time.monotonic()
    with pytest.raises(process.Stopped):
        one_more(run=what)
    assert not is_alive(pid)
    one_more.close()
    assert time.monotonic() - begun < 15


SWEEP = """
import os, sys
from aorta.sweep.definitions.registry import Environment
from aorta.sweep.files import TrialFiles
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.spec import TrialSpec
from aorta.sweep.workload.trial import WorkloadRunner
cells = [
    PlannedCell(name="c", mitigations=("none",), environment=Environment(name="local"), workload_config=config)
    for config in ({"run": "tells"}, {"run": sys.argv[2]})
]
plan = Plan(recipe=Recipe(), workload="subject", isolation="in_process", cells=tuple(cells), baseline="c")
runner = WorkloadRunner(plan)
def trial(cell):
    spec = TrialSpec(cell=cell, trial=0, files=TrialFiles(stem=sys.argv[1]), environ=dict(os.environ))
    return runner.execute(spec, over=lambda: False)
print(trial(cells[0]).metrics["pid"], flush=True)
if sys.argv[2] == "idle":
    sys.stdin.read()
trial(cells[1])
"""


@pytest.mark.parametrize("what", ["idle", "hangs", "blocks"])
def test_it_ends_with_a_sweep_that_is_killed(files, what):
    """SIGKILL to aorta leaves nobody who would end it, in a trial or between two: the kernel does."""
    environ = {**os.environ, "AORTA_WORKLOADS": f"subject={SUBJECTS}:Subject"}
    environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    argv = [sys.executable, "-c", SWEEP, files.stem, what]
    with subprocess.Popen(
        argv, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as sweep:
        pid = int(sweep.stdout.readline())
        time.sleep(0.5)
        assert is_alive(pid)
        sweep.kill()
    until = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_alive(pid)
