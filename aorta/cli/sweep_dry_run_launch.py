"""What a dry run tells of the job: how it was launched, and where its ranks and those of trials meet."""

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from aorta.launch.identity import BY_HAND, HAND, Identity, identity_of
from aorta.launch.ports import (
    MEETING,
    PORT_BASE,
    PORTS,
    base_of,
    listening,
    meeting_ports,
    told_base,
    trusts_agent,
)
from aorta.launch.tasks import LaunchError
from aorta.model.text import printable
from aorta.sweep.recipe.model import COMMAND

if TYPE_CHECKING:
    from aorta.sweep.planning.checks import Problem
    from aorta.sweep.planning.plan import Plan


def launch_rows(plan: "Plan", environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield a row for each; nothing where the workload runs in one process, or cannot be had."""
    from aorta.workloads.discovery import UnknownWorkloadError, find
    from aorta.workloads.protocol import SINGLE_PROCESS

    try:
        if plan.workload == COMMAND or (workload := find(plan.workload)).launch_mode == SINGLE_PROCESS:
            return
        identity = identity_of(environ)
        least = workload.min_world_size
        yield "Ranks", _ranks(identity, least)
        if not identity.alone:
            yield "Meeting", _meeting(environ, identity)
            yield "Trial ports", _trial_ports(environ, identity)
    except UnknownWorkloadError:
        return
    except LaunchError:
        # One of the problems tells it.
        yield "Ranks", "not known"


def port_problems(job: Identity, environ: Mapping[str, str]) -> "Iterator[Problem]":
    """Yield why rank 0 could not wait for the others at the port that its launcher chose, where it is to."""
    if job.alone or job.rank:
        return
    try:
        ports = meeting_ports(environ, job)
    except LaunchError:
        # It is told already.
        return
    if len(ports) > 1 or not ports[0]:
        # One of several that is free, or one of its own beside the agent's.
        return
    try:
        listening(ports[0], str(job.address)).close()
    except OSError as wrong:
        from aorta.sweep.planning.checks import ERROR, Problem

        why = f"MASTER_PORT is {ports[0]}, at which rank 0 cannot listen on {os.uname().nodename}"
        text = f"{why} ({wrong.strerror}): choose another MASTER_PORT for this job"
        yield Problem(severity=ERROR, text=text)


def _ranks(identity: Identity, least: int) -> str:
    needed = f"; the workload needs {least} or more" if least > 1 else ""
    if identity.alone:
        return f"1: no launcher started this{needed}"
    nodes = f" on {identity.nodes} nodes" if (identity.nodes or 1) > 1 else ""
    how = HAND if identity.launcher == BY_HAND else f"by {printable(identity.launcher)}"
    return f"{identity.size}{nodes}, started {how}{needed}"


def _meeting(environ: Mapping[str, str], identity: Identity) -> str:
    address = printable(str(identity.address))
    if trusts_agent(environ, identity):
        return f"on {address}, at a port told through the store of torchrun's agent at port {identity.port}"
    ports = meeting_ports(environ, identity)
    if len(ports) == 1:
        return f"on {address}, port {ports[0]} (MASTER_PORT)"
    return f"on {address}, the first free port from {ports[0]} to {ports[-1]}"


def _trial_ports(environ: Mapping[str, str], identity: Identity) -> str:
    base = base_of(environ, identity)
    if base is None:
        return "for each trial any free one of rank 0's host"
    why = PORT_BASE if told_base(environ) is not None else "made of the job's name"
    return f"{base} to {base + PORTS - MEETING - 1} ({why}), each used once"
