"""Trials of the workloads of ``subjects``, executed as a sweep does it."""

import os

import pytest

from aorta.sweep.definitions.registry import Environment
from aorta.sweep.files import TrialFiles
from aorta.sweep.planning.plan import Plan, PlannedCell
from aorta.sweep.recipe.model import Recipe
from aorta.sweep.spec import TrialSpec
from aorta.sweep.workload.trial import WorkloadRunner

SUBJECTS = "tests.workloads.subjects"


@pytest.fixture
def files(tmp_path):
    """The files of a trial."""
    (tmp_path / "cells").mkdir()
    return TrialFiles(stem=str(tmp_path / "cells" / "trial_000"))


@pytest.fixture
def execute(files, monkeypatch):
    """Return a function that executes one trial and returns its outcome."""
    monkeypatch.setenv("AORTA_WORKLOADS", f"subject={SUBJECTS}:Subject,strict={SUBJECTS}:Strict")

    def run(
        isolation="process",
        *,
        workload="subject",
        environ=None,
        environment=None,
        timeout=None,
        overlay=None,
        grace=1.0,
        steps=1,
        logs=True,
        **config,
    ):
        cell = PlannedCell(
            name="cell",
            mitigations=("none",),
            environment=environment or Environment(name="local"),
            steps=steps,
            workload_config=config,
        )
        recipe = Recipe(workload=workload, trial_timeout=timeout, save_logs=logs)
        plan = Plan(recipe=recipe, workload=workload, isolation=isolation, cells=(cell,), baseline="cell")
        runner = WorkloadRunner(plan, grace_s=grace)
        return runner.execute(
            TrialSpec(
                cell=cell,
                trial=0,
                files=files,
                environ=dict(os.environ) | (environ or {}),
                overlay=overlay or {},
            )
        )

    return run
