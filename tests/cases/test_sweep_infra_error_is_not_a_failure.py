"""Trials that never reached the work, or were ended from outside, are errors: neither passes nor failures."""

import os

import pytest

from aorta.sweep.command.execute import CommandRunner
from aorta.sweep.files import TrialFiles
from aorta.sweep.recipe.model import CustomPattern, Match, Recipe

CASE = "sweep-infra-error-is-not-a-failure"

STEPS = "for i in $(seq {}); do echo step $i took 3 ms; done; "
TRIALS = [
    (["aorta-no-such-launcher"], "error", "could not be executed"),
    (["sh", "-c", "echo 'RuntimeError: refused' >&2; exit 1"], "error", "did not reach a step"),
    (["sh", "-c", "sleep 60"], "error", "timed out after 0.3 s"),
    (["sh", "-c", "exit 0"], "error", "did not reach a step"),
    (["sh", "-c", STEPS.format(50) + "echo CORRUPTED"], "fail", "custom:event"),
    (["sh", "-c", STEPS.format(50)], "pass", None),
    (["sh", "-c", STEPS.format(12) + "kill -KILL $$"], "error", "SIGKILL"),
    # The same errors, told by what a program prints of them.
    (["sh", "-c", "echo 'torch.OutOfMemoryError: HIP out of memory.' >&2; exit 1"], "error", "out of memory"),
    (
        [
            "sh",
            "-c",
            "printf 'Traceback (most recent call last):\\n  File \"x\"\\nModuleNotFoundError: x\\n' >&2; exit 1",
        ],
        "error",
        "ModuleNotFoundError",
    ),
]


@pytest.mark.parametrize(("argv", "verdict", "why"), TRIALS)
def test_verdicts(tmp_path, argv, verdict, why):
    recipe = Recipe(
        mode="probe",
        timeout_per_trial=0.3 if "sleep 60" in argv else 30.0,
        step_time_regex=r"took (\d+) ms",
        custom_patterns=(CustomPattern(id="event", match=Match(regex="^CORRUPTED$")),),
    )
    files = TrialFiles(stem=str(tmp_path / "trial_000"))
    outcome = CommandRunner(recipe, argv).execute(files, {"PATH": os.environ["PATH"]})
    assert outcome.verdict == verdict
    assert outcome.reason is None if why is None else why in outcome.reason
    assert (outcome.iterations or 0) in {0, 12, 50}
