"""Which run ``aorta sweep run --resume`` goes on with, and what is said of it."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from aorta.cli.errors import Failure
from aorta.cli.sweep_options import LATEST
from aorta.cli.sweep_ranks import told_by_all
from aorta.instrumentation.process import say

if TYPE_CHECKING:
    from aorta.sweep.planning.plan import Plan
    from aorta.sweep.run.asked import Asked
    from aorta.sweep.run.resume import Earlier


def named_run(asked: Mapping[str, Any]) -> "Earlier | None":
    """Return the run that ``--resume RUN`` names; where one of several ranks does not see it, all hear so."""
    if asked["resume"] in (None, LATEST):
        return None
    from aorta.sweep.run.resume import ResumeError, check_place, earlier_run

    try:
        earlier = earlier_run(asked["resume"])
        if not earlier.complete:
            check_place(earlier)
        return earlier
    except ResumeError as error:
        alone = [str(error)]
        lines = told_by_all(alone, os.environ, asked["join_timeout"])
    if lines == alone:
        raise Failure(alone[0])
    for line in lines:
        say(f"aorta: {line}")
    raise click.exceptions.Exit(2)


def latest(asked: Mapping[str, Any], asked_for: "Asked", starts: Mapping[str, int]) -> "Earlier | None":
    """Return the run that ``--resume`` alone means, or the one of this job before it was started again.

    ``starts`` are the jobs that this process is of, and how often each began again.
    """
    from aorta.sweep.run.resume import latest_run

    by_itself = asked["resume"] is None
    if by_itself and not any(starts.values()):
        return None
    plan = asked_for.plan
    found = latest_run(
        asked["output"],
        plan.recipe.ticket,
        plan.workload,
        lambda run: run.fingerprint == asked_for.fingerprint and not (by_itself and not run.is_of(starts)),
    )
    if found is None and not by_itself:
        raise Failure(
            f"no run of this recipe and command, with the same cells and trials, under {asked['output']};"
            " without --resume a new one begins"
        )
    return found


def differing_keys(asked_for: "Asked", earlier: "Earlier") -> list[str]:
    """Return the keys in which a run's recipe is another, as far as that can be told."""
    if earlier.fingerprint == asked_for.fingerprint:
        return []
    from aorta.sweep.definitions.registry import registries
    from aorta.sweep.recipe.fingerprint import differing
    from aorta.sweep.recipe.load import load_recipe
    from aorta.sweep.recipe.problems import RecipeError
    from aorta.sweep.run.store import RECIPE

    try:
        other = load_recipe(os.path.join(earlier.path, RECIPE))
    except RecipeError:
        return []
    return differing(asked_for.plan.recipe, other, registries((), other))


def warn_of_a_crash(plan: "Plan", earlier: "Earlier") -> None:
    """Tell how a trial that crashes aorta itself, again and again, is kept apart."""
    from aorta.sweep.matrix.run_facts import RUNNING
    from aorta.sweep.recipe.model import IN_PROCESS

    if plan.isolation == IN_PROCESS and earlier.matrix["state"] == RUNNING:
        say(
            "aorta: warning: the run was cut off, and its trials run in aorta's own process: if one crashes"
            " it, begin a new run with trial_isolation: process"
        )
