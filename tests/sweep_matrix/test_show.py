"""``aorta sweep show``, as users call it."""

import json
import os
from xml.etree import ElementTree as ET

import pytest

from aorta.cli.sweep_show import fitting
from aorta.sweep.matrix.run_facts import INTERRUPTED, RUNNING, State
from tests.cli.test_terminal import on_terminal

from .made import cell, trial, trials

CELLS = [cell("none"), cell("bad[bold]")]


def summaries():
    return [*trials("none", "ppppp"), *trials("bad[bold]", "fffff", reason="exit 1: [red]x")]


def test_elsewhere_than_on_a_terminal_it_is_the_page(cli, run):
    folder = run(CELLS, summaries())
    done = cli("sweep", "show", folder)
    assert (done.code, done.err) == (0, "")
    assert done.out == (folder / "matrix.md").read_text()
    assert cli("sweep", "show", folder / "matrix.json").out == done.out


def test_it_needs_nothing_but_the_matrix(cli, run):
    folder = run(CELLS, summaries())
    (folder / "matrix.md").unlink()
    moved = folder.rename(cli.folder / "elsewhere")
    assert cli("sweep", "show", moved).out.startswith("# Sweep matrix")


def test_on_a_terminal_it_is_a_table(cli, environ, run):
    folder = run(CELLS, summaries(), state=State(word=INTERRUPTED, why="SIGTERM"))
    code, shown = on_terminal(cli, environ, "sweep", "show", str(folder), both=False)
    assert code == 0
    assert "bad[bold]" in shown
    assert "exit 1: [red]x" in shown
    assert "Interrupted (SIGTERM): 10 of 10 trials done" in shown
    assert "worse (p = 0.0079)" in shown
    assert "Sweep summary: 2 cells" in shown


def test_a_narrow_terminal_goes_without_what_matters_least():
    table = {
        "Cell": ["a" * 10],
        "Environment": ["local"],
        "Failures": ["1/2 (50%)"],
        "Drift": ["2 environments"],
    }
    assert list(fitting(table, 200)) == ["Cell", "Environment", "Failures", "Drift"]
    assert list(fitting(table, 40)) == ["Cell", "Environment", "Failures"]
    assert list(fitting(table, 10)) == ["Cell", "Failures"]


def test_json_is_the_document(cli, run):
    folder = run(CELLS, summaries())
    assert cli("sweep", "show", folder, "--json").json == json.loads((folder / "matrix.json").read_text())


def test_the_newest_run_is_meant_where_none_is_named(cli, run):
    for number, where in enumerate(
        (
            "T-1/command/2026-11-30T12-00-00",
            "T-2/race/2026-11-30T12-00-05-2",
            "T-2/race/2026-11-30T12-00-05-10",
            "T-3/zzz/2026-11-29T23-59-59",
        )
    ):
        folder = run([cell(f"c{number}")], [], where=f"triage_results/{where}")
        (folder / "cells").mkdir()
    (cli.folder / "triage_results" / "T-9").mkdir()
    for words in ((), ("latest",), ("triage_results/T-2",), ("triage_results/T-2/race",)):
        assert "| c2 " in cli("sweep", "show", *words).out
    assert "| c0 " in cli("sweep", "show", "triage_results/T-1").out


def test_a_link_to_the_newest_run_can_be_named(cli, run):
    folder = run(CELLS, summaries())
    os.symlink(folder.name, folder.parent / "latest")
    assert cli("sweep", "show", folder.parent / "latest").code == 0
    assert cli("sweep", "show").out == (folder / "matrix.md").read_text()


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (State(word=INTERRUPTED, why="SIGTERM"), "aorta: the run is interrupted; go on with: aorta sweep run --resume"),
        (State(word=RUNNING), "aorta: the run is not complete: it is still running, or was killed; then go on with: aorta sweep"),
    ],
)  # fmt: skip
def test_a_run_that_is_not_complete_says_how_to_go_on(cli, run, state, told):
    folder = run(CELLS, summaries(), where="a run", state=state)
    done = cli("sweep", "show", folder)
    assert done.code == 0
    assert done.err.startswith(told)
    assert done.err.endswith(f" --resume '{folder}'\n")
    assert len(done.lines) == 1
    assert cli("sweep", "show", folder, "--json").err == ""


def test_a_cell_lists_its_trials_and_logs(cli, run):
    odd = trial("none", 7, "error", signal="SIGKILL", elapsed_s=75)
    folder = run(CELLS, [*summaries(), odd], where="r")
    (folder / "cells" / "bad[bold]").mkdir(parents=True)
    (folder / "cells" / "bad[bold]" / "trial_001.stderr.log").touch()
    done = cli("sweep", "show", "r", "--cell", "bad[bold]")
    assert done.out.splitlines()[:5] == [
        "bad[bold]: 5/5 (100%), worse (p = 0.0079)",
        "  trial 0     fail     1.5 s  exit 1: [red]x",
        "    r/cells/bad[bold]/trial_000.json",
        "  trial 1     fail     1.5 s  exit 1: [red]x",
        "    r/cells/bad[bold]/trial_001.json",
    ]
    assert done.out.splitlines()[5] == "    r/cells/bad[bold]/trial_001.stderr.log"
    assert "  trial 7     error   1m 15s  exit SIGKILL" in cli("sweep", "show", "r", "--cell", "none").out


def test_the_last_words_of_a_trial_that_says_no_more_than_how_it_ended(cli, run):
    reasons = (
        "exit status 3",
        "ended by SIGSEGV (segmentation fault)",
        "custom:x: wrong sum",
        "exit status 4",
    )
    folder = run(CELLS, [trial("none", n, "fail", reason=why) for n, why in enumerate(reasons)], where="r")
    (folder / "cells" / "none").mkdir(parents=True)
    for number, text in enumerate(("one\nthe \x1b[31mlast\n\n", "core", "words", "")):
        (folder / "cells" / "none" / f"trial_{number:03d}.stderr.log").write_text(text)
    lines = cli("sweep", "show", "r", "--cell", "none").out.splitlines()
    told = [line for line in lines if "stderr ends" in line]
    assert len(told) == 2
    assert told[0].startswith("    stderr ends: the ")
    assert "\x1b" not in told[0]
    assert told[1] == "    stderr ends: core"


def test_a_cell_that_is_not_there(cli, run):
    run(CELLS, summaries(), where="r")
    done = cli("sweep", "show", "r", "--cell", "nine")
    assert (done.code, done.lines) == (2, ["aorta: --cell: no cell 'nine' in this run: did you mean none?"])
    assert cli("sweep", "show", "r", "--cell", "none", "--json").code == 2


def test_junit_is_written(cli, run):
    run(CELLS, summaries(), where="r")
    assert cli("sweep", "show", "r", "--junit", "out.xml").code == 0
    assert ET.parse(cli.folder / "out.xml").getroot().get("failures") == "5"
    done = cli("sweep", "show", "r", "--junit", "r/matrix.json")
    assert done.code == 1
    assert len(done.lines) == 1
    assert "not replaced" in done.err


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"schema_version": 1, "cells": NaN}', "not JSON"),
        (b"[]", "a JSON list, not an object"),
        (b"\xff", "not UTF-8 at byte 0, so no matrix"),
        (b'{"schema_version": "2.0"}', "no matrix of an aorta sweep"),
        (b'{"schema_version": true, "cells": []}', "no matrix of an aorta sweep"),
        (b'{"schema_version": 2, "cells": []}', "schema version 2: made by a newer aorta, which can show it"),
        (b'{"schema_version": 1, "cells": []}', "not as schema version 1 has it: the document has no state"),
    ],
)
def test_what_is_no_matrix_is_one_line(cli, content, told):
    (cli.folder / "matrix.json").write_bytes(content)
    for words in (("matrix.json",), (".",), (".", "--json")):
        done = cli("sweep", "show", *words)
        assert (done.code, done.out, len(done.lines)) == (1, "", 1)
        assert told in done.err
        assert "matrix.json: " in done.err


def test_a_matrix_that_was_cut_off(cli, run):
    folder = run(CELLS, summaries())
    whole = (folder / "matrix.json").read_bytes()
    (folder / "matrix.json").write_bytes(whole[: len(whole) // 2])
    done = cli("sweep", "show", folder)
    assert (done.code, len(done.lines)) == (1, 1)


def test_no_run(cli):
    done = cli("sweep", "show")
    assert (done.code, done.lines) == (
        1,
        ["aorta: triage_results: no such run: name its directory, or its matrix.json"],
    )
    done = cli("sweep", "show", ".")
    assert (done.code, done.lines) == (1, ["aorta: .: no run in it or below it: no matrix.json"])
