"""A run that is stopped, killed or refused leaves what it knows, and goes on from there."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests.parts.sweeps import processes_with, wait_for

#: What a matrix of two runs of one recipe may differ in.
OF_THE_MOMENT = re.compile(
    r"run_id|run_timestamp|resumed_at|updated_at|started_at|elapsed|wall_clock|step_time|warnings|argv|captured_at|ratio|p\d\d"
)


def without_times(value):
    if isinstance(value, dict):
        return {name: without_times(each) for name, each in value.items() if not OF_THE_MOMENT.search(name)}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def test_killed_at_any_moment_nothing_recorded_is_lost_or_run_again(sweeps):
    """Twenty times ``kill -9`` at a random moment, each time gone on with; then as one that was left alone."""
    axis = "none, xnack, tf32_off, hsa_no_sdma"
    script = 'echo "$AORTA_CELL $AORTA_TRIAL" >> "$LOG"; test -e go || sleep 0.1; test -z "$DISABLE_TF32"'
    command = ("sh", "-c", script)
    sweeps.recipe(axis, trials=16)
    chance = random.Random(7)
    seen: dict[tuple[str, int], str] = {}
    times: dict[tuple[str, int], int] = {}
    kills = 0
    for _ in range(60):
        if kills == 20:
            sweeps.write("go", "")
        process = sweeps.start(*(("--resume",) if sweeps.runs else ()), command=command, LOG="ran.txt")
        if kills == 20:
            assert process.wait(50) == 0, process.communicate()
            break
        try:
            process.wait(chance.uniform(0.25, 0.7))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
        else:
            raise AssertionError(f"it ended by itself after {kills} kills: {process.communicate()}")
        if not sweeps.runs:
            continue
        for run in sweeps.runs:
            json.loads((run / "matrix.json").read_text())
        now = {key: json.dumps(record) for key, record in sweeps.records().items()}
        assert {key: now.get(key) for key in seen} == seen
        ran = Counter(sweeps.lines("ran.txt"))
        assert {key: ran["{} {}".format(*key)] for key in seen} == times
        seen, times = now, {key: ran["{} {}".format(*key)] for key in now}
    assert kills == 20
    assert {key: json.dumps(sweeps.records()[key]) for key in seen} == seen
    ran = Counter(sweeps.lines("ran.txt"))
    assert set(ran) == {f"{cell} {trial}" for cell, trial in sweeps.records()}
    assert {key: ran["{} {}".format(*key)] for key in seen} == times
    resumed, resumed_run = sweeps.matrix(), sweeps.only_run
    assert (resumed["complete"], len(sweeps.records())) == (True, 64)
    os.rename(resumed_run, sweeps.folder / "resumed")
    assert sweeps.run(command=command, LOG="other.txt").returncode == 0
    assert without_times(sweeps.matrix()) == without_times(resumed)


def test_a_recorded_trial_never_runs_again(sweeps):
    sweeps.recipe("none, xnack", trials=4)
    command = (
        "sh",
        "-c",
        'echo "$AORTA_CELL $AORTA_TRIAL" >> ran.txt; test $AORTA_CELL$AORTA_TRIAL != xnack-none1 || sleep 30',
    )
    process = sweeps.start(command=command)
    wait_for(lambda: "xnack-none 1" in sweeps.lines("ran.txt"))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(sweeps.records()) == 5
    again = sweeps.start("--resume", str(sweeps.only_run), recipe=None)
    wait_for(lambda: sweeps.lines("ran.txt").count("xnack-none 1") == 2)
    again.send_signal(signal.SIGTERM)
    again.communicate()
    assert sorted(set(sweeps.lines("ran.txt"))) == sorted(
        [*(f"none-none {n}" for n in range(4)), "xnack-none 0", "xnack-none 1"]
    )
    assert len(sweeps.lines("ran.txt")) == 7


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_whole_tree_and_leaves_what_is_known(sweeps, number):
    mark = f"77{os.getpid()}{time.monotonic_ns() % 100000}"
    sweeps.recipe("none", trials=3)
    # A child, one in a session of its own, one that its parent left, and all deaf to SIGTERM.
    script = (
        f'test "$AORTA_TRIAL" = 0 && exit; trap "" TERM; sleep {mark} &'
        f" (setsid sh -c 'trap \"\" TERM; sleep {mark}; sleep {mark}' &) ;"
        f" echo begun > begun; sleep {mark}; sleep {mark}"
    )
    (sweeps.programs / "setsid").symlink_to("/usr/bin/setsid")
    process = sweeps.start(command=("sh", "-c", script))
    wait_for(lambda: (sweeps.folder / "begun").exists() and len(processes_with(mark)) >= 3)
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 128 + number
    wait_for(lambda: not processes_with(mark), seconds=2)
    matrix = sweeps.matrix()
    assert (matrix["state"], matrix["complete"]) == ("interrupted", False)
    assert matrix["in_flight"] == {"cell": "none-none", "trial": 1}
    assert signal.Signals(number).name in matrix["why"]
    assert list(sweeps.records()) == [("none-none", 0)]
    assert f"aorta sweep run --resume {sweeps.only_run}" in err
    assert "Traceback" not in err
    assert "interrupted" in (sweeps.only_run / "matrix.md").read_text().lower()


def test_a_finished_run_is_gone_on_with_by_doing_nothing(sweeps):
    sweeps.recipe("none, xnack", trials=3)
    command = ("sh", "-c", "echo ran >> ran.txt")
    first = sweeps.run(command=command)
    before = {path: path.stat().st_mtime_ns for path in sweeps.only_run.rglob("*")}
    for words, recipe, cmd in (
        (("--resume",), "r.yaml", command),
        (("--resume", str(sweeps.only_run)), None, ()),
        (("--resume", str(sweeps.only_run / "matrix.json")), None, ()),
        (("--resume", "triage_results/T-1/command"), "r.yaml", command),
    ):
        again = sweeps.run(*words, recipe=recipe, command=cmd)
        assert again.returncode == 0, again.stderr
        assert again.stdout == first.stdout
        assert "nothing is run" in again.stderr
    assert len(sweeps.lines("ran.txt")) == 6
    assert {path: path.stat().st_mtime_ns for path in sweeps.only_run.rglob("*")} == before


@pytest.mark.parametrize(
    "harm", ["missing", "empty", "cut off", "no JSON", "of another trial", "of another version"]
)
def test_a_record_that_is_none_runs_again_and_that_is_told(sweeps, harm):
    sweeps.recipe("none, xnack", trials=3)
    command = ("sh", "-c", 'echo "$AORTA_CELL $AORTA_TRIAL" >> ran.txt')
    assert sweeps.run(command=command).returncode == 0
    path = sweeps.only_run / "cells/none-none/trial_001.json"
    text = path.read_text()
    made = {
        "empty": "",
        "cut off": text[: len(text) // 2],
        "no JSON": "{" + text,
        "of another trial": text.replace('"trial": 1', '"trial": 2'),
        "of another version": text.replace('"schema_version": 1', '"schema_version": 9'),
    }
    if harm == "missing":
        path.unlink()
    else:
        path.write_text(made[harm])
        # Such a record was never counted: the run was not complete.
        matrix = sweeps.only_run / "matrix.json"
        matrix.write_text(matrix.read_text().replace('"complete": true', '"complete": false'))
    again = sweeps.run("--resume", command=command)
    assert again.returncode == 0, again.stderr
    assert len(sweeps.lines("ran.txt")) == 7
    assert sweeps.lines("ran.txt")[-1] == "none-none 1"
    assert sweeps.matrix()["complete"]
    told = " ".join(sweeps.matrix()["warnings"])
    assert ("trial_001" in told) == (harm != "missing")


def test_another_recipe_or_command_is_not_mixed_in(sweeps):
    sweeps.recipe("none", trials=2)
    assert sweeps.run(command=("true",)).returncode == 0
    run = str(sweeps.only_run)
    other = sweeps.run("--resume", run, command=("false",))
    assert (other.returncode, "another recipe or command (in command)" in other.stderr) == (1, True)
    sweeps.recipe("none", trials=3)
    more = sweeps.run("--resume", run, command=("true",))
    assert (more.returncode, "another recipe or command (in trials)" in more.stderr) == (1, True)
    none = sweeps.run("--resume", command=("false",))
    assert (none.returncode, "no run of this recipe" in none.stderr) == (1, True)
    assert len(sweeps.records()) == 2


@pytest.mark.parametrize("harm", ["cells", "recipe_source", "warnings", "schema_version"])
def test_a_matrix_that_is_none_is_told_in_one_line(sweeps, harm):
    sweeps.recipe("none", trials=1)
    assert sweeps.run(command=("true",)).returncode == 0
    matrix = sweeps.only_run / "matrix.json"
    matrix.write_text(json.dumps({**json.loads(matrix.read_text()), harm: 5}))
    again = sweeps.run("--resume", str(sweeps.only_run), command=("true",))
    assert (again.returncode, len(again.stderr.splitlines())) == (1, 1)
    assert again.stderr.startswith(f"aorta: {matrix}: ")


def test_a_run_under_another_ticket_is_found(sweeps):
    sweeps.recipe("none", trials=2)
    assert sweeps.run("--ticket", "OTHER", command=("true",)).returncode == 0
    again = sweeps.run("--resume", command=("true",))
    assert (again.returncode, "nothing is run" in again.stderr) == (0, True)
    assert [run.parent.parent.name for run in sweeps.runs] == ["OTHER"]


def test_another_directory_is_refused(sweeps):
    sweeps.recipe("none", trials=2, more="fail_fast: true")
    sweeps.write("x.sh", "exit 1")
    assert sweeps.run(command=("sh", "./x.sh")).returncode == 0
    run = sweeps.only_run
    home = sweeps.folder
    sweeps.folder = home / "home"
    again = sweeps.run("--resume", str(run), recipe=None)
    assert (again.returncode, f"was begun in {home}" in again.stderr) == (1, True)
    sweeps.folder = home
    assert sweeps.run("--resume", str(run), recipe=None).returncode == 0
    assert len(sweeps.records()) == 2


def test_another_host_is_refused(sweeps):
    sweeps.recipe("none", trials=1)
    assert sweeps.run(command=("true",)).returncode == 0
    matrix = sweeps.only_run / "matrix.json"
    text = re.sub(r'"host_digest": "sha256:.{4}', '"host_digest": "sha256:0000', matrix.read_text())
    matrix.write_text(text.replace('"complete": true', '"complete": false'))
    again = sweeps.run("--resume", command=("true",))
    assert again.returncode == 1
    assert "elsewhere" in again.stderr
    assert len(again.stderr.splitlines()) == 1


def test_a_job_that_was_started_again_goes_on_by_itself(sweeps):
    sweeps.recipe("none", trials=3)
    command = ("sh", "-c", 'echo "$AORTA_TRIAL" >> ran.txt; test -e go || test $AORTA_TRIAL = 0 || sleep 30')
    process = sweeps.start(command=command, SLURM_JOB_ID="7")
    wait_for(lambda: "1" in sweeps.lines("ran.txt"))
    process.send_signal(signal.SIGTERM)
    process.communicate()
    sweeps.write("go", "")
    again = sweeps.run(command=command, SLURM_JOB_ID="7", SLURM_RESTART_COUNT="1")
    assert again.returncode == 0, again.stderr
    assert sweeps.lines("ran.txt") == ["0", "1", "1", "2"]
    assert sweeps.matrix()["starts"] == {"SLURM_JOB_ID=7": 1}
    first = sweeps.run(command=command, SLURM_JOB_ID="8", SLURM_RESTART_COUNT="0")
    assert first.returncode == 0
    assert len(sweeps.runs) == 2


def test_another_job_s_run_is_not_gone_on_with_and_none_twice(sweeps):
    sweeps.recipe("none", trials=2)
    first = sweeps.run(command=("true",), SLURM_JOB_ID="7")
    # Its job was started again before aorta ever ran in it.
    other = sweeps.run(command=("true",), SLURM_JOB_ID="8", SLURM_RESTART_COUNT="1")
    assert (first.returncode, other.returncode, len(sweeps.runs)) == (0, 0, 2)
    same = sweeps.run(command=("true",), SLURM_JOB_ID="7", SLURM_RESTART_COUNT="1")
    assert (same.returncode, len(sweeps.runs)) == (0, 2)
    assert f"{sweeps.runs[0]} is complete: nothing is run" in same.stderr.replace("./", "")


def test_what_a_killed_run_left_running_is_ended_before_it_goes_on(sweeps):
    mark = f"78{os.getpid()}{time.monotonic_ns() % 100000}"
    sweeps.recipe("none", trials=1)
    command = ("sh", "-c", f"test -e go || {{ echo x > begun; sleep {mark}; }}")
    process = sweeps.start(command=command)
    wait_for(lambda: (sweeps.folder / "begun").exists() and processes_with(mark))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert processes_with(mark)
    sweeps.write("go", "")
    again = sweeps.run("--resume", command=command)
    assert again.returncode == 0, again.stderr
    assert not processes_with(mark)
    assert "were left and ended" in " ".join(sweeps.matrix()["warnings"])


@pytest.mark.parametrize(("number", "how"), [(signal.SIGKILL, "was killed"), (signal.SIGTERM, "was ended")])
def test_what_a_trial_had_written_that_was_cut_off_is_kept(sweeps, number, how):
    sweeps.recipe("none", trials=2)
    command = ("sh", "-c", "echo said; test -e go || { echo x > begun; sleep 30; }")
    for _ in range(2):
        words = ("--resume",) if sweeps.runs else ()
        process = sweeps.start(*words, command=command)
        wait_for(lambda: (sweeps.folder / "begun").exists())
        process.send_signal(number)
        process.communicate()
        (sweeps.folder / "begun").unlink()
    sweeps.write("go", "")
    assert sweeps.run("--resume", command=command).returncode == 0
    [cell] = (sweeps.only_run / "cells").iterdir()
    logs = sorted(path.name for path in cell.glob("*.log"))
    assert logs == [
        "trial_000.cut-1.stdout.log",
        "trial_000.cut-2.stdout.log",
        "trial_000.stderr.log",
        "trial_000.stdout.log",
        "trial_001.stderr.log",
        "trial_001.stdout.log",
    ]
    told = [line for line in sweeps.matrix()["warnings"] if "is run again" in line]
    name = f"cells/{cell.name}/trial_000"
    assert told == [
        f"trial 0 of {cell.name} was under way when aorta {how}, and is run again; its logs are kept as"
        f" {name}.cut-{number}.*"
        for number in (1, 2)
    ]


def test_two_at_once_on_one_run_are_refused(sweeps):
    sweeps.recipe("none", trials=1)
    process = sweeps.start(command=("sh", "-c", "echo x > begun; sleep 20"))
    wait_for(lambda: (sweeps.folder / "begun").exists())
    second = sweeps.run("--resume", str(sweeps.only_run), recipe=None)
    assert (second.returncode, "another aorta is at work" in second.stderr) == (1, True)
    process.send_signal(signal.SIGTERM)
    process.communicate()


def test_a_disk_that_is_full_is_one_line(sweeps):
    sweeps.recipe("none", trials=2)
    done = sweeps.run("--output", "/dev/full", command=("true",))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "Traceback" not in done.stderr


def test_a_run_of_which_nothing_was_written_is_not_called_one_to_go_on_with(sweeps):
    recipe = sweeps.recipe("none", trials=2)
    # The recipe fits in, the snapshot of the host does not.
    words = ["-m", "aorta", "sweep", "run", "--recipe", recipe, "--", "true"]
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -f 4; exec "$@"', "sh", sys.executable, *words],
        cwd=sweeps.folder,
        env=sweeps.environ(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "cannot write" in line


def test_many_trials_that_never_ran_cost_nothing(sweeps):
    sweeps.recipe("none", trials=10**12)
    assert sweeps.run("--fail-fast", command=("false",)).returncode == 0
    assert sweeps.run("--fail-fast", "--resume", command=("false",), timeout=20).returncode == 0
    assert [trial for _, trial in sweeps.records()] == [0, 1]


@pytest.mark.parametrize("count", ["\u00b2", "-1", "x", ""])
def test_what_is_no_number_of_starts_begins_a_new_run(sweeps, count):
    sweeps.recipe("none", trials=1)
    assert sweeps.run(command=("true",), SLURM_RESTART_COUNT=count).returncode == 0
