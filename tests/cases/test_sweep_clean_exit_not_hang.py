"""A wrapped command that only waits for work elsewhere and exits 0 passes, with a note on the suspicion."""

import os

from aorta.sweep.command import hang
from aorta.sweep.command.execute import CommandRunner
from aorta.sweep.files import TrialFiles
from aorta.sweep.recipe.model import Recipe

CASE = "sweep-clean-exit-not-hang"


def outcome_of(tmp_path, script, **recipe):
    given = Recipe(mode="probe", hang_window_sec=0.2, hang_grace_period_at_start=0.0, **recipe)
    runner = CommandRunner(given, ["sh", "-c", script])
    return runner.execute(TrialFiles(stem=str(tmp_path / "trial_000")), {"PATH": os.environ["PATH"]})


def test_a_client_that_waits_for_its_container(tmp_path, monkeypatch):
    monkeypatch.setattr(hang, "_LOOK_S", 0.1)
    outcome = outcome_of(tmp_path, "sh -c 'sleep 0.9'; exit 0")
    assert (outcome.verdict, outcome.exit_code, outcome.timed_out) == ("pass", 0, False)
    assert [one.id for one in outcome.findings] == []
    (note,) = [one for one in outcome.notes if "hang" in one]
    assert "until the command ended by itself" in note


def test_the_same_wait_that_only_the_end_of_its_time_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(hang, "_LOOK_S", 0.1)
    outcome = outcome_of(tmp_path, "sh -c 'sleep 60'; exit 0", timeout_per_trial=0.9)
    assert (outcome.verdict, outcome.timed_out) == ("fail", True)
    assert "tier2:hang" in [one.id for one in outcome.findings]
