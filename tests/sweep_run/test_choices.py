"""Which trials run, in which order, when a run ends early, and with which exit status."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

ORDER = ("sh", "-c", 'echo "$AORTA_CELL $AORTA_TRIAL" >> ran.txt; test "$AORTA_CELL" != xnack-none')


def test_cell_by_cell_or_round_robin(sweeps):
    sweeps.recipe("none, xnack", trials=2)
    assert sweeps.run(command=ORDER).returncode == 0
    assert sweeps.lines("ran.txt") == ["none-none 0", "none-none 1", "xnack-none 0", "xnack-none 1"]
    assert sweeps.run("--interleave", command=ORDER).returncode == 0
    assert sweeps.lines("ran.txt")[4:] == ["none-none 0", "xnack-none 0", "none-none 1", "xnack-none 1"]


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        (("--only", "xnack-none"), ["xnack-none 0", "xnack-none 1"]),
        (("--skip", "xnack-none,tf32_off-none"), ["none-none 0", "none-none 1"]),
        (
            ("--only", "none-none", "--only", "tf32_off-none", "--trials", "1"),
            ["none-none 0", "tf32_off-none 0"],
        ),
        (("--smoke",), ["none-none 0", "xnack-none 0", "tf32_off-none 0"]),
        (("--fail-fast",), ["none-none 0", "none-none 1", "xnack-none 0"]),
        (
            ("--stop-after-events", "1", "--max-trials", "3"),
            [
                *(f"none-none {n}" for n in range(3)),
                "xnack-none 0",
                *(f"tf32_off-none {n}" for n in range(3)),
            ],
        ),
    ],
)
def test_what_runs(sweeps, words, ran):
    sweeps.recipe("none, xnack, tf32_off", trials=2)
    done = sweeps.run(*words, command=ORDER)
    assert done.returncode == 0, done.stderr
    assert sweeps.lines("ran.txt") == ran
    matrix = sweeps.matrix()
    assert matrix["state"] == ("stopped" if "--fail-fast" in words else "complete")


def test_a_run_that_was_ended_early_goes_on_where_it_ended(sweeps):
    sweeps.recipe("none, xnack", trials=3)
    words = ("--stop-after-events", "2", "--max-trials", "3")
    assert sweeps.run(*words, command=ORDER).returncode == 0
    ran = sweeps.lines("ran.txt")
    assert ran[3:] == ["xnack-none 0", "xnack-none 1"]
    assert sweeps.run(*words, "--resume", command=ORDER).returncode == 0
    assert sweeps.lines("ran.txt") == ran


@pytest.mark.parametrize(
    ("script", "fail_on", "code"),
    [
        ("true", None, 0),
        ("true", "fail", 0),
        ("exit 3", None, 0),
        ("exit 3", "fail", 1),
        ("exit 3", "error", 1),
        ("exit 3", "worse", 0),
        ("test -z $HSA_XNACK", "worse", 1),
        ("test -n $HSA_XNACK", "worse", 0),
        # Killed from outside: no verdict at all, and so no evidence.
        ("kill -KILL $$", None, 1),
        ("test -z $HSA_XNACK || kill -KILL $$", None, 0),
        ("test -z $HSA_XNACK || kill -KILL $$", "fail", 0),
        ("test -z $HSA_XNACK || kill -KILL $$", "error", 1),
    ],
)
def test_exit_statuses(sweeps, script, fail_on, code):
    sweeps.recipe("none, xnack", trials=5)
    words = ("--fail-on", fail_on) if fail_on else ()
    done = sweeps.run(*words, command=("sh", "-c", script))
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("Wrote matrix to ")


@pytest.mark.parametrize("left", ["--only=xnack-none", "--skip=none-none"])
def test_without_a_baseline_nothing_is_compared_and_that_is_no_success(sweeps, left):
    sweeps.recipe("none, xnack", trials=8)
    dry = sweeps.run(left, "--dry-run", command=("false",)).stdout
    assert "Baseline    none of the cells that run: nothing is compared" in dry
    assert "Detectable" not in dry
    done = sweeps.run(left, "--fail-on", "worse", command=("false",))
    assert done.returncode == 1
    assert "none of the cells that run is a baseline" in done.stderr
    made = sweeps.matrix()
    assert (made["baseline_cell"], made["significance"]["hypotheses"]) == (None, 0)
    assert {cell["comparison"]["call"] for cell in made["cells"]} == {"not_comparable"}
    text = (sweeps.only_run / "matrix.md").read_text()
    assert "* Baseline: none\n" in text
    assert "> **No cell that ran is a baseline, so nothing is compared.**" in text
    assert sweeps.call("show").returncode == 0


def test_junit_is_of_the_same_trials(sweeps):
    sweeps.recipe("none, xnack", trials=2)
    done = sweeps.run("--junit", "out/junit.xml", command=ORDER)
    assert done.returncode == 0, done.stderr
    root = ET.parse(sweeps.folder / "out/junit.xml").getroot()
    cases = list(root.iter("testcase"))
    assert (len(cases), len(list(root.iter("failure")))) == (4, 2)
    shown = sweeps.call("show", str(sweeps.only_run), "--junit", "again.xml")
    assert shown.returncode == 0
    assert (sweeps.folder / "again.xml").read_text() == (sweeps.folder / "out/junit.xml").read_text()


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(sweeps):
    sweeps.recipe()
    sweeps.write("file", "")
    done = sweeps.run("--junit", "file/junit.xml", command=("true",))
    assert (done.returncode, done.stderr) == (1, "aorta: cannot write file/junit.xml: Not a directory\n")
    assert not sweeps.runs


def test_a_report_replaces_only_another_one(sweeps):
    sweeps.recipe(trials=1)
    sweeps.write("host.json", "{}")
    done = sweeps.run("--junit", "host.json", command=("true",))
    assert (done.returncode, (sweeps.folder / "host.json").read_text()) == (1, "{}")
    assert "host.json: it holds something else than XML, and is not replaced" in done.stderr
    assert done.stdout.splitlines()[-1].startswith("Wrote matrix to ")


def test_show_finds_the_latest_run(sweeps):
    sweeps.recipe("none, xnack", trials=1)
    sweeps.run(command=ORDER)
    by_ticket = sweeps.call("show", "triage_results/T-1")
    assert by_ticket.returncode == 0
    assert "xnack-none" in by_ticket.stdout
    assert sweeps.call("show").stdout == by_ticket.stdout
    assert json.loads(sweeps.call("show", "--json").stdout) == sweeps.matrix()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--recipe", "nowhere.yaml", "--", "true"), "nowhere.yaml"),
        (("--recipe", "r.yaml"), "command"),
        (("--recipe", "r.yaml", "--"), "nothing stands behind --"),
        (("--recipe", "r.yaml", "true"), "goes behind --"),
        (("--recipe", "r.yaml", "--bogus", "--", "true"), "--bogus"),
        (("--recipe", "r.yaml", "--", "no-such-program"), "no-such-program"),
        (("--recipe", "--ticket", "--", "true"), "--recipe"),
        (("--recipe", "r.yaml", "--ticket", "", "--", "true"), "--ticket"),
        (("--recipe", "r.yaml", "--only", "nothing", "--", "true"), "nothing"),
        (("--recipe", "r.yaml", "--trials", "0", "--", "true"), "--trials"),
        (("--recipe", "r.yaml", "--output", "r.yaml", "--", "true"), "r.yaml"),
        (("--recipe", "r.yaml", "--mitigations-file", "none.json", "--", "true"), "none.json"),
        (("--",), "nothing stands behind --"),
        (("--", "true"), "--recipe"),
        ((), "--recipe"),
    ],
)
@pytest.mark.parametrize("dry", [False, True])
def test_what_makes_no_sense_is_one_line_and_leaves_nothing(sweeps, words, said, dry):
    sweeps.recipe("none")
    before = sorted(os.listdir(sweeps.folder))
    done = sweeps.call("run", *(("--dry-run",) if dry else ()), *words)
    assert done.returncode == 2, done.stderr
    told = done.stderr.strip().splitlines() + (done.stdout.splitlines() if dry else [])
    assert any(said in line for line in told)
    if not dry and not told[0].startswith("Usage: "):
        assert len(told) == 1, told
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(sweeps.folder)) == before


def test_a_recipe_without_its_option_is_told(sweeps):
    sweeps.recipe()
    done = sweeps.run("r.yaml", recipe="", command=("true",))
    assert done.returncode == 2
    assert "'r.yaml' is no option; a recipe is given as --recipe r.yaml" in done.stderr
    assert "as in: -- train.yaml" in sweeps.run("train.yaml", recipe="").stderr


def test_a_run_among_several_tasks_is_refused(sweeps):
    sweeps.recipe("none")
    done = sweeps.run(command=("true",), RANK="1", WORLD_SIZE="4")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "one of 4 tasks" in done.stderr
    assert not sweeps.runs


def test_a_working_directory_that_is_gone_is_one_line(sweeps):
    recipe = sweeps.folder / sweeps.recipe("none", trials=1)
    (sweeps.folder / "gone").mkdir()
    words = [sys.executable, "-m", "aorta", "sweep", "run", "--recipe", str(recipe), "--", "true"]
    done = subprocess.run(
        ["/bin/sh", "-c", 'cd gone && /bin/rmdir ../gone && exec "$@"', "sh", *words],
        cwd=sweeps.folder,
        env=sweeps.environ(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "the working directory cannot be had" in line
