"""The text of a dry run: all that a run would do, in the order of a reader's questions."""

import pytest

from aorta.cli.sweep_dry_run import dry_run_text
from aorta.sweep.planning.checks import problems
from aorta.sweep.recipe.model import (
    Change,
    CustomPattern,
    EnvironmentRecipe,
    Match,
    Recipe,
    Retain,
    StopAfter,
)
from tests.sweep_plan.conftest import cell, command, plan_of, probe

PLAIN = {"PATH": "/usr/bin:/bin"}
SECRET = "hf_AbCdEfGh1234567890"


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def of(recipe, environ=PLAIN, sidecars=()):
        plan = plan_of(recipe, *sidecars)
        return dry_run_text(plan, environ, problems(plan, environ, "results"), "results")

    return of


def values(lines, name):
    """Return what stands behind a name."""
    return [line[len(name) :].strip() for line in lines.split("\n") if line.startswith(f"{name} ")]


def cell_of(lines, name):
    """Return the lines of a cell."""
    (found,) = [part for part in lines.split("\n\n") if part.split("\n")[0].split()[:2] == ["Cell", name]]
    return [line.strip() for line in found.split("\n")]


def test_a_command_in_two_axes(text):
    shown = text(
        probe(
            ticket="T 1",
            trials=5,
            timeout_per_trial=1800.0,
            disable_detectors=("tier4:nan_signature",),
            disable_detector_tiers=("tier3",),
            step_time_regex="step (\\d+) ms",
            custom_patterns=(
                CustomPattern(id="done", match=Match(regex="ALL DONE"), required_for_pass=True),
            ),
            env_passthrough_mode="file",
            source="recipes/x.yaml",
            sha256="ab" * 32,
            retain=Retain(on_pass="none"),
        )
    )
    expected = {
        "Recipe": "recipes/x.yaml",
        "Content": "sha256:" + "ab" * 32,
        "Ticket": "T 1",
        "Workload": "command",
        "Isolation": "each trial is a process of the command",
        "Results": "results/T_1/command/TIME/",
        "Trials": "20 in 4 cells",
        "Order": "sequential: one cell after another",
        "Baseline": "none-none",
        "Time limit": "1800 s a trial",
        "Command": "true",
        "Passed on": "variables: file",
        "Step times": "step (\\d+) ms",
        "Hang": "after 30 s of silence, from 60 s on; the trial is left alone",
        "Pattern": "custom:done (info, must be seen): ALL DONE",
        "Disabled": "tier3, tier4:nan_signature",
        "Kept": "none of pass, full of fail, full of error",
    }
    assert {name: values(shown, name) for name in expected} == {name: [one] for name, one in expected.items()}
    assert cell_of(shown, "xnack-amd_log_level_4") == [
        "Cell xnack-amd_log_level_4",
        "environment  local (aorta)",
        "mitigation   xnack (aorta)",
        "diagnostic   amd_log_level_4 (aorta)",
        "trials       5",
        "variables",
        "AMD_LOG_LEVEL  mitigation amd_log_level_4  = 4",
        "HSA_XNACK      mitigation xnack            = 1",
    ]
    assert cell_of(shown, "none-none")[0] == "Cell none-none  (baseline)"
    assert cell_of(shown, "none-none")[-1] == "variables    none is changed"
    assert shown.endswith("No problem was found.\nNothing was run or written.\n")


def test_a_workload_in_cells(text, sidecar, monkeypatch):
    monkeypatch.setenv("AORTA_WORKLOADS", "either=tests.sweep_plan.workloads_for_plans:Either")
    recipe = Recipe(
        workload="either",
        trial_isolation="process",
        cells=(cell("a"), cell("b", "lean", environment="there", extra_env={"A": "b c"}, trials=2)),
        trials=4,
        steps=10,
        order="interleaved",
        stop_after=StopAfter(events=1, max_trials=4),
        workload_config={"degrees": 30},
        environments={"there": EnvironmentRecipe(env=Change(set={"A": "1"}))},
        fail_fast=True,
        save_logs=True,
        warmup_steps=2,
    )
    path = sidecar(mitigations={"lean": {"unset": ["GONE"], "prepend": {"PATH": "/x", "NEW": "/y"}}})
    shown = text(recipe, sidecars=(path,))
    expected = {
        "Recipe": "made of options",
        "Ticket": "none",
        "Workload": "either",
        "Isolation": "process: each trial in an interpreter of its own",
        "Results": "results/_no_ticket_/either/TIME/",
        "Trials": "at most 8 in 2 cells",
        "Order": "interleaved: a trial of each cell, then the next of each",
        "Stop after": "a cell ends after 1 trial with verdict fail, after 4 at the latest",
        "Fail fast": "the sweep ends with the first trial that fails",
        "Warm-up": "times of a trial's first 2 steps are not counted",
        "Time limit": "none: a trial that hangs holds up the sweep",
        "Logs": "kept",
        "Command": None,
    }
    assert {name: values(shown, name) for name in expected} == {
        name: [one] if one else [] for name, one in expected.items()
    }
    assert cell_of(shown, "b") == [
        "Cell b",
        "environment  there (recipe)",
        "mitigation   lean (sidecar:site.json)",
        "trials       at most 4, 10 steps each",
        'config       {"degrees": 30}',
        "variables",
        "A     cell extra_env   = b c",
        "GONE  mitigation lean  unset",
        "NEW   mitigation lean  = /y",
        "PATH  mitigation lean  = /x:/usr/bin:/bin",
    ]


def test_secrets_are_not_shown(text):
    shown = text(
        command(
            cell("a", extra_env={"HF_TOKEN": SECRET, "URL": "https://me:pass1234@host/"}),
            argv=(
                "true",
                "--token",
                SECRET,
                f"x={SECRET}",
                "https://me:pass1234@host/",
                "$OUTSIDE",
                "outside-key-99",
            ),
        ),
        {**PLAIN, "SITE_API_KEY": "outside-key-99"},
    )
    for secret in (SECRET, "pass1234", "outside-key-99"):
        assert secret not in shown
    assert "HF_TOKEN  cell extra_env  = [redacted]" in shown


def test_the_command_can_be_copied(text):
    import shlex

    argv = ("true", "a b", "it's", "", "$X", "*")
    assert [tuple(shlex.split(one)) for one in values(text(command(argv=argv)), "Command")] == [argv]


def test_nothing_steers_a_terminal_and_nothing_is_cut(text):
    long = "/x" * 400
    shown = text(command(cell("a", extra_env={"A": f"\x1b[31m{long}\nB"}), argv=("true", "\x1b[2J")))
    assert "\x1b" not in shown
    assert long in shown


def test_problems_come_last(text):
    shown = text(command(cell("a"), cell("b", extra_env={"RANK": "1"}), cell("c"), argv=("no-such-program",)))
    assert shown.endswith(
        "\n\nerror: the command no-such-program is not on the PATH that the trial has\n"
        "error: cell b: cell extra_env sets RANK, which the launcher alone may; take it out\n"
        "warning: cells a, c: run the same: all of their variables end alike, and nothing else differs\n"
        "This would not run: 2 errors.\n"
        "Nothing was run or written.\n"
    )


def detectable(text, *trials, **more):
    cells = [
        cell(f"c{number}", "none" if not number else "xnack", trials=one) for number, one in enumerate(trials)
    ]
    return values(text(command(*cells, **more)), "Detectable")


def test_the_smallest_effect(text):
    from aorta.sweep.matrix.statistics import smallest_effect

    assert detectable(text, 5) == []
    assert detectable(text, 2, 2) == [
        "nothing: trials as few as 2 a cell cannot tell a difference from chance"
    ]
    rate = smallest_effect(5, 5, 1)
    assert detectable(text, 5, 5) == [
        f"5 a cell: one that never fails from one that fails in {rate:.0%} of its trials"
    ]
    worse, better = smallest_effect(4, 20, 1), smallest_effect(20, 4, 1)
    assert detectable(text, 4, 20) == [
        f"4 of the baseline and 20 of a cell: a cell that never fails from a baseline that fails in {better:.0%}",
        f"4 of the baseline and 20 of a cell: a baseline that never fails from a cell that fails in {worse:.0%}",
    ]


def test_what_is_left_out_is_named(text):
    shown = text(command(cell("a"), cell("b", "xnack"), cell("c", "tf32_off"), only=("a", "b"), skip=("b",)))
    assert (values(shown, "Only"), values(shown, "Skipped")) == (["a, b"], ["b"])
    assert values(shown, "Trials") == ["1 in 1 cell"]
