"""What is wrong with a plan before anything is written: the same for ``--dry-run`` and for a run."""

from collections.abc import Iterator, Mapping

from aorta.sweep.planning.checking.problem import ERROR as ERROR
from aorta.sweep.planning.checking.problem import HERE as HERE
from aorta.sweep.planning.checking.problem import SEVERITIES as SEVERITIES
from aorta.sweep.planning.checking.problem import WARNING as WARNING
from aorta.sweep.planning.checking.problem import Problem as Problem
from aorta.sweep.planning.plan import Plan
from aorta.sweep.recipe.model import COMMAND


def problems(plan: Plan, environ: Mapping[str, str], output: str | None) -> list[Problem]:
    """Return all that is wrong, errors first.

    ``environ`` is this process's, on which the layers of the cells lie; ``output`` the directory of
    results, null on a rank that writes none. Virtual environments are tried by starting their interpreters;
    nothing is written.
    """
    told = list(_told(plan, environ, output))
    return sorted(told, key=lambda one: SEVERITIES.index(one.severity))


def _told(plan: Plan, environ: Mapping[str, str], output: str | None) -> Iterator[Problem]:
    from aorta.sweep.planning.checking.alike import check_alike
    from aorta.sweep.planning.checking.baseline import check_baseline
    from aorta.sweep.planning.checking.environments import check_environments
    from aorta.sweep.planning.checking.identity import check_identity
    from aorta.sweep.planning.checking.modules import check_modules
    from aorta.sweep.planning.checking.output import check_output
    from aorta.sweep.planning.checking.problem import error
    from aorta.sweep.planning.checking.workload import check_config, check_launch

    workload = None
    if plan.workload == COMMAND:
        from aorta.sweep.planning.checking.command import check_command

        yield from check_command(plan, environ)
    else:
        from aorta.workloads.discovery import UnknownWorkloadError, find

        try:
            workload = find(plan.workload)
        except UnknownWorkloadError as unknown:
            yield error(str(unknown))
    yield from check_config(plan, workload)
    yield from check_launch(plan, environ, workload)
    yield from check_identity(plan)
    yield from check_environments(plan, environ, workload)
    yield from check_modules(plan, environ, workload)
    yield from _collectors(plan)
    if output is not None:
        yield from check_output(output)
    yield from check_baseline(plan)
    yield from check_alike(plan, environ)


def _collectors(plan: Plan) -> Iterator[Problem]:
    from aorta.model.text import listed
    from aorta.sweep.planning.checking.problem import error

    names = dict.fromkeys(plan.recipe.collect or ())
    running = {cell.name for cell in plan.cells}
    for cell in plan.recipe.cells:
        if cell.name in running:
            names.update(dict.fromkeys(cell.collect or ()))
    if names:
        yield error(
            f"collect: {listed(list(names))}: nothing is attached to trials yet: leave the key out, and put "
            "a profiler in front of your own command, behind --"
        )
