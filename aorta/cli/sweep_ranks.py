"""``aorta sweep run`` as one of several ranks: rank 0 does what a sweep does, the others do as it says."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from aorta.instrumentation.process import say

if TYPE_CHECKING:
    from aorta.launch.identity import Identity
    from aorta.sweep.planning.plan import Plan
    from aorta.sweep.ranks.team import Team
    from aorta.sweep.run.asked import Asked


def job_of(plan: "Plan", environ: Mapping[str, str]) -> "Identity":
    """Return which rank of the job this is, for workloads that run on several, and for unknown ones."""
    from aorta.launch.identity import Identity
    from aorta.sweep.recipe.model import COMMAND
    from aorta.workloads.discovery import UnknownWorkloadError, find
    from aorta.workloads.protocol import SINGLE_PROCESS

    with contextlib.suppress(UnknownWorkloadError):
        if plan.workload == COMMAND or find(plan.workload).launch_mode == SINGLE_PROCESS:
            return Identity()
    return _identity(environ)


def _identity(environ: Mapping[str, str]) -> "Identity":
    """Return the identity of this process.

    One whose variables contradict each other counts as the task that its launcher says, to tell the others.
    """
    from aorta.launch.identity import identity_of, identity_without_torch
    from aorta.launch.tasks import LaunchError

    try:
        return identity_of(environ)
    except LaunchError:
        return identity_without_torch(environ)


def told_by_all(problems: Sequence[str], environ: Mapping[str, str], join_s: float) -> Sequence[str]:
    """Return what keeps all ranks of this job from running, when this one has no plan for ``problems``.

    The others hear of it: they would wait for this one. In a process of its own it is the problems.
    """
    from aorta.launch.ports import meeting_ports
    from aorta.launch.tasks import LaunchError
    from aorta.sweep.ranks.hello import hello_of
    from aorta.sweep.ranks.meeting import RefusedError, follow, lead

    identity = _identity(environ)
    if identity.alone:
        return problems
    try:
        meeting_ports(environ, identity)
    except LaunchError:
        # The ranks cannot meet: each of them says its own.
        return problems
    own = hello_of(identity, {}, problems)
    try:
        (follow if identity.rank else lead)(identity, environ, own, join_s)
    except RefusedError as refused:
        return refused.problems
    return problems


def is_first(environ: Mapping[str, str]) -> bool:
    """Tell whether this task is to say what all of them would: it is the first one, or may be."""
    from aorta.launch.tasks import LaunchError, tasks_of

    try:
        return tasks_of(environ).rank == 0
    except LaunchError:
        return True


def on_all_ranks(
    asked: "Asked", job: "Identity", errors: Sequence[str], join_s: float, go: "Callable[[Team], int]"
) -> int:
    """Meet the other ranks in ``join_s`` seconds; return the exit status. ``go`` is what rank 0 does."""
    from aorta.launch.tasks import starts_of
    from aorta.sweep.ranks.facts import facts_of
    from aorta.sweep.ranks.follower import LostLeaderError
    from aorta.sweep.ranks.hello import hello_of
    from aorta.sweep.ranks.meeting import RefusedError
    from aorta.sweep.ranks.team import Team, join

    own = hello_of(job, facts_of(asked.plan, asked.fingerprint), errors, starts_of(os.environ))
    try:
        if job.rank:
            return join(asked.plan, job, os.environ, own, join_s)
        team = Team(asked.plan, job, os.environ, own, join_s)
    except RefusedError as refused:
        for line in refused.problems:
            say(f"aorta: {line}")
        return 2
    except LostLeaderError as lost:
        say(f"aorta: {own.named}: rank 0 was lost: {lost}")
        return 1
    for line in asked.warnings:
        say(f"aorta: warning: {line}")
    code = 1
    try:
        code = go(team)
    except click.exceptions.Exit as error:
        code = error.exit_code
        raise
    except click.ClickException as error:
        # The logs of all ranks are often one file, and the directory is missing or full on one host.
        say(f"aorta: {own.named}: {error.format_message()}")
        code = error.exit_code
        raise click.exceptions.Exit(code) from None
    finally:
        team.end(code)
    return code
