"""What a person sees of a run: a bar on a terminal, lines elsewhere, a way on after an interruption."""

import os
import pty
import re
import subprocess
import sys

from tests.parts.pages import ROOT


def on_a_terminal(sweeps, *words):
    """Return what ``aorta sweep run`` writes to a terminal that is its standard error, and its output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "aorta", "sweep", "run", "--recipe", "r.yaml", *words],
        cwd=sweeps.folder,
        env=sweeps.environ(TERM="xterm", COLUMNS="100"),
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    out, _ = process.communicate(timeout=30)
    os.close(ours)
    return seen.decode(), out, process.returncode


def test_a_bar_on_a_terminal(sweeps):
    sweeps.recipe("none, xnack", trials=2)
    seen, out, code = on_a_terminal(sweeps, "--", "sleep", "0.2")
    assert code == 0
    assert "xnack-none trial 1" in seen
    assert re.search(r"[1-3]/4", seen)
    assert "none-none trial 1 | so far 1 passed" in seen
    assert out.splitlines()[-1].startswith("Wrote matrix to ")


def test_lines_elsewhere(sweeps):
    sweeps.recipe("none, xnack", trials=2)
    done = sweeps.run(command=("sh", "-c", "test -z $HSA_XNACK"))
    assert done.stderr.splitlines() == [
        "aorta: command: 2 cells, 4 trials",
        "aorta: cell 1/2 none-none: 2 passed",
        "aorta: cell 2/2 xnack-none: 2 FAILED",
    ]


def test_verbose_tells_each_trial_and_why(sweeps):
    sweeps.recipe("none, xnack", trials=1)
    done = sweeps.run("-v", command=("sh", "-c", "test -z $HSA_XNACK"))
    lines = [line for line in done.stderr.splitlines() if re.match(r"\[[\d:]+\] 2/2 .*FAILED", line)]
    assert len(lines) == 1
    assert "exit status 1" in lines[0]


def test_a_cell_that_is_gone_on_with_counts_all_of_its_trials(sweeps):
    sweeps.recipe("none, xnack", trials=3)
    script = 'test $AORTA_TRIAL = 1 && test -z "$HSA_XNACK" && test ! -e stop && : > stop && kill -INT $PPID; exit 0'
    first = sweeps.run(command=("sh", "-c", script))
    assert first.returncode == 130
    path = str(sweeps.only_run)
    told = first.stderr.splitlines()
    place = told.index(f"aorta: what is known stands in {path}")
    assert told[place + 1] == f"aorta: go on with: aorta sweep run --resume {path}"
    done = sweeps.run("--resume", path, recipe=None)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "aorta: command: 2 cells, 6 trials, 1 of them there already",
        "aorta: cell 1/2 none-none: 3 passed (1 of them there already)",
        "aorta: cell 2/2 xnack-none: 3 passed",
    ]
    assert sweeps.matrix()["cells"][0]["passed_count"] == 3


def test_a_run_that_ended_early_says_how_to_go_on_and_keeps_the_name_of_its_recipe(sweeps):
    sweeps.recipe("none, xnack", trials=1, more="fail_fast: true")
    first = sweeps.run(command=("sh", "-c", 'test -n "$HSA_XNACK"'))
    assert first.returncode == 0
    path, begun = str(sweeps.only_run), sweeps.matrix()["recipe_source"]
    assert first.stderr.splitlines()[-1] == f"aorta: go on with: aorta sweep run --resume {path}"
    dry = sweeps.run("--resume", path, "--dry-run", recipe=None)
    assert f"Recipe      {begun['path']}" in dry.stdout
    assert f"sha256:{begun['sha256']}" in dry.stdout
    done = sweeps.run("--resume", path, recipe=None)
    assert (done.returncode, "go on" in done.stderr) == (0, False), done.stderr
    assert (sweeps.matrix()["state"], sweeps.matrix()["recipe_source"]) == ("complete", begun)
    assert (
        f"* Recipe: {begun['path']} (sha256 {begun['sha256'][:10]})"
        in (sweeps.only_run / "matrix.md").read_text()
    )


def test_interleaved_cells_are_told_once_each(sweeps):
    sweeps.recipe("none, xnack", trials=3)
    done = sweeps.run("--interleave", command=("true",))
    told = [line for line in done.stderr.splitlines() if line.startswith("aorta: cell ")]
    assert sorted(told) == ["aorta: cell 1/2 none-none: 3 passed", "aorta: cell 2/2 xnack-none: 3 passed"]


def test_what_a_command_prints_is_not_in_the_way(sweeps):
    sweeps.recipe("none", trials=1)
    done = sweeps.run(command=("sh", "-c", "echo to out; echo to err >&2"))
    assert "to out" not in done.stdout + done.stderr
    assert "to err" not in done.stdout + done.stderr


def test_nobody_reads_the_output(sweeps):
    sweeps.recipe("none", trials=1)
    line = f"{sys.executable} -m aorta sweep run --recipe r.yaml -- true | true"
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=sweeps.folder,
        env=sweeps.environ(),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert sweeps.matrix()["complete"]


def test_the_command_gets_its_words_byte_for_byte(sweeps):
    sweeps.recipe("none", trials=1)
    words = ["a b", "", "--", "$HOME", "*", "'\"\\", "ü\n", "\udcff"]
    script = "import os, sys; open('words', 'wb').write(b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
    done = sweeps.run(command=(sys.executable, "-c", script, *words), PYTHONPATH=f"{ROOT}:{ROOT}/collectors")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (sweeps.folder / "words").read_bytes() == b"\0".join(map(os.fsencode, words))
    again = sweeps.run(recipe=str(sweeps.only_run / "recipe.resolved.yaml"))
    assert again.returncode == 0, again.stderr
    assert (sweeps.folder / "words").read_bytes() == b"\0".join(map(os.fsencode, words))
