"""``aorta sweep run``: run the cells of a recipe, and leave the evidence of each trial."""

import contextlib
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from aorta.cli.errors import Failure, Misuse, printing
from aorta.cli.sweep_earlier import differing_keys, latest, named_run, warn_of_a_crash
from aorta.cli.sweep_options import COMMAND_WORDS, LATEST, SweepCommand, no_words, with_options
from aorta.cli.sweep_ranks import is_first, job_of, on_all_ranks, told_by_all
from aorta.instrumentation.process import Stdout, Stopped, say
from aorta.instrumentation.write import told
from aorta.launch.tasks import starts_of
from aorta.model.frozen import evolve

if TYPE_CHECKING:
    from aorta.sweep.definitions.registry import Registries
    from aorta.sweep.planning.checks import Problem
    from aorta.sweep.planning.plan import Plan
    from aorta.sweep.ranks.team import Team
    from aorta.sweep.recipe.model import Recipe
    from aorta.sweep.run.asked import Asked
    from aorta.sweep.run.resume import Earlier
    from aorta.sweep.run.session import Done, Session


@click.command(cls=SweepCommand, short_help="Run a recipe's cells, trial by trial.")
@with_options
@click.argument("words", nargs=-1, metavar="[-- COMMAND ...]", callback=no_words, expose_value=False)
@click.pass_context
def run(context: click.Context, /, **asked: Any) -> None:
    """Run what a recipe says, and write a matrix of what failed under which change.

    A command to run goes behind --, and gets there word for word.
    """
    command = context.meta.get(COMMAND_WORDS)
    if command == ():
        raise Misuse("nothing stands behind --: write the command to run there, or leave -- out")
    _check(asked)
    _check_place()
    earlier = named_run(asked)
    with _refusing(asked["join_timeout"]):
        recipe = _recipe(asked, command, earlier)
        registries = _registries(asked, recipe)
        plan = _plan(recipe, registries)
        job = job_of(plan, os.environ)
        problems = _problems(plan, asked["output"] if job.rank == 0 else None)
    if asked["dry_run"]:
        from aorta.cli.sweep_dry_run_launch import port_problems

        context.exit(_dry_run(plan, [*port_problems(job, os.environ), *problems], asked["output"]))
    asked_for = _asked_for(plan, registries, asked, problems)
    if job.alone:
        _refuse(problems)
        context.exit(_go(asked, asked_for, earlier, None))
    context.exit(
        on_all_ranks(
            asked_for,
            job,
            _errors(problems),
            asked["join_timeout"],
            lambda team: _go(asked, asked_for, earlier, team),
        )
    )


def _go(asked: Mapping[str, Any], asked_for: "Asked", earlier: "Earlier | None", team: "Team | None") -> int:
    """Run what is missing, tell how it went, and return the exit status."""
    if asked["junit"] is not None:
        from aorta.cli.sweep_junit import check_junit

        check_junit(asked["junit"])
    starts = starts_of(os.environ) if team is None else team.starts
    with Stdout() as out:
        return _run(asked, asked_for, earlier or latest(asked, asked_for, starts), out, team)


def _check(asked: Mapping[str, Any]) -> None:
    if asked["recipe"] is None and asked["resume"] in (None, LATEST):
        raise Misuse("--recipe FILE says what to run; examples: recipes/README.md")


def _check_place() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise Failure(
            f"the working directory cannot be had ({error.strerror}), and trials run in it: go to another"
        ) from None


@contextlib.contextmanager
def _refusing(join_s: float) -> Iterator[None]:
    """Turn what is wrong with recipes, definitions and plans into one line each and exit status 2.

    All ranks of a job hear of it, for ``join_s`` seconds at most.
    """
    from aorta.sweep.errors import SweepError
    from aorta.sweep.recipe.problems import RecipeError

    try:
        yield
    except RecipeError as error:
        lines: Sequence[str] = str(error).splitlines()
    except SweepError as error:
        lines = error.problems
    else:
        return
    _refused(told_by_all(lines, os.environ, join_s))


def _refused(lines: Iterable[str]) -> NoReturn:
    for line in lines:
        say(f"aorta: {line}")
    raise click.exceptions.Exit(2)


def _recipe(asked: Mapping[str, Any], command: tuple[str, ...] | None, earlier: "Earlier | None") -> "Recipe":
    from aorta.sweep.recipe.load import load_recipe
    from aorta.sweep.recipe.options import Options, overlaid
    from aorta.sweep.run.store import RECIPE

    path = asked["recipe"]
    if path is None and earlier is not None:
        path = os.path.join(earlier.path, RECIPE)
    names = ("smoke", "trials", "steps", "ticket", "fail_fast", "interleave", "env_passthrough_mode")
    options = Options(
        **{name: asked[name] for name in (*names, "stop_after_events", "max_trials")},
        only=_flat(asked["only"]),
        skip=_flat(asked["skip"]),
        disable_detectors=tuple(asked["disable_detector"]),
        command=command or (),
    )
    recipe = load_recipe(path)
    if asked["recipe"] is None and earlier is not None:
        # What the run keeps is made of the recipe that it was begun with.
        source = earlier.matrix["recipe_source"]
        recipe = evolve(recipe, source=source["path"], sha256=source["sha256"])
    return overlaid(recipe, options)


def _flat(lists: tuple[list[str], ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for words in lists for word in words))


def _registries(asked: Mapping[str, Any], recipe: "Recipe") -> "Registries":
    from aorta.sweep.definitions.registry import registries

    found = registries(asked["mitigations_file"], recipe)
    if is_first(os.environ):
        for problem in found.problems:
            say(f"aorta: {problem}")
    return found


def _plan(recipe: "Recipe", registries: "Registries") -> "Plan":
    from aorta.sweep.planning.plan import make_plan

    return make_plan(recipe, registries)


def _problems(plan: "Plan", output: str | None) -> "list[Problem]":
    from aorta.sweep.planning.checks import problems

    return problems(plan, os.environ, output)


def _dry_run(plan: "Plan", problems: "list[Problem]", output: str) -> int:
    from aorta.cli.sweep_dry_run import dry_run_text
    from aorta.sweep.planning.checks import ERROR

    if is_first(os.environ):
        with printing():
            sys.stdout.write(dry_run_text(plan, os.environ, problems, output))
            sys.stdout.flush()
    return 2 if any(problem.severity == ERROR for problem in problems) else 0


def _errors(problems: "list[Problem]") -> list[str]:
    from aorta.sweep.planning.checks import WARNING

    return [problem.line() for problem in problems if problem.severity != WARNING]


def _refuse(problems: "list[Problem]") -> None:
    """End for what keeps a plan from running; tell the rest."""
    if errors := _errors(problems):
        _refused(errors)
    for problem in problems:
        say(f"aorta: warning: {problem.line()}")


def _asked_for(
    plan: "Plan", registries: "Registries", asked: Mapping[str, Any], problems: "list[Problem]"
) -> "Asked":
    from aorta.sweep.recipe.fingerprint import fingerprint
    from aorta.sweep.recipe.write import to_yaml
    from aorta.sweep.run.asked import Asked

    return Asked(
        plan=plan,
        resolved=lambda: to_yaml(plan.recipe, definitions=registries),
        fingerprint=fingerprint(plan.recipe, registries),
        output=asked["output"],
        argv=tuple(sys.argv),
        continue_after_crash=asked["continue_after_crash"],
        warnings=tuple(problem.line() for problem in problems),
    )


def _run(
    asked: Mapping[str, Any],
    asked_for: "Asked",
    earlier: "Earlier | None",
    out: Stdout,
    team: "Team | None",
) -> int:
    from aorta.sweep.run.resume import ResumeError, check_same, is_finished
    from aorta.sweep.run.store import StoreError

    try:
        if earlier is not None:
            check_same(earlier, asked_for.fingerprint, differing_keys(asked_for, earlier))
            if is_finished(earlier):
                say(f"aorta: {earlier.path} is complete: nothing is run")
                return _tell(asked, earlier.path, earlier.matrix, out)
            warn_of_a_crash(asked_for.plan, earlier)
        # What takes snapshots is loaded for a run that is not finished only.
        from aorta.sweep.run.session import Session

        session = Session(asked_for, earlier, team)
        done = _went(session, asked)
    except (StoreError, ResumeError) as error:
        raise Failure(str(error)) from None
    return _tell(asked, done.path, done.matrix, out)


def _went(session: "Session", asked: Mapping[str, Any]) -> "Done":
    from aorta.cli.sweep_progress import Shown

    shown = Shown(verbose=asked["verbose"] > 0, ranks=session.ranks)
    try:
        done = session.go(shown)
        if not done.matrix["complete"]:
            shown.close()
            _say_way_on(session.ranks, done.path)
        return done
    except (Stopped, OSError) as error:
        shown.close()
        if session.run is not None and session.run.begun:
            say(f"aorta: what is known stands in {session.run.path}")
            _say_way_on(session.ranks, session.run.path)
        if isinstance(error, OSError):
            raise Failure(told(error, error.filename or "the results")) from None
        raise
    finally:
        shown.close()


def _say_way_on(ranks: int, path: str) -> None:
    how = "go on with: aorta sweep run" if ranks == 1 else "go on by starting all ranks with"
    say(f"aorta: {how} --resume {shlex.quote(path)}")


def _tell(asked: Mapping[str, Any], path: str, matrix: Mapping[str, Any], out: Stdout) -> int:
    """Write what was asked for beside the run, print the end, and return the exit status."""
    from aorta.cli.sweep_junit import write_junit
    from aorta.cli.sweep_summary import end_summary, verdict_of_run

    try:
        if asked["junit"] is not None:
            write_junit(asked["junit"], matrix)
    finally:
        with printing():
            out.write(f"{end_summary(matrix)}\nWrote matrix to {_shown_path(path)}\n")
    return 0 if verdict_of_run(matrix, asked["fail_on"]) else 1


def _shown_path(path: str) -> str:
    """Return a path as a user would type it here."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
