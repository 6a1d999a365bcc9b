"""``aorta sweep run``: run the cells of a recipe, and leave the evidence of each trial."""

import contextlib
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

from aorta.cli.errors import Command, Failure, Misuse, printing
from aorta.cli.sweep_ranks import job_of, on_all_ranks
from aorta.cli.sweep_summary import FAIL_ON
from aorta.cli.words import Words
from aorta.instrumentation.process import Stdout, Stopped, say
from aorta.instrumentation.write import told
from aorta.sweep.run.store import DEFAULT_OUTPUT

if TYPE_CHECKING:
    from aorta.sweep.definitions.registry import Registries
    from aorta.sweep.planning.checks import Problem
    from aorta.sweep.planning.plan import Plan
    from aorta.sweep.recipe.model import Recipe
    from aorta.sweep.run.asked import Asked
    from aorta.sweep.run.resume import Earlier
    from aorta.sweep.run.session import Done, Session, Team

#: What ``--resume`` without a value stands for.
_LATEST = "\0latest"
_META = "aorta.command"


class SweepCommand(Command):
    """Takes what stands behind ``--`` as it is; before it there are options only."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Part the line at the first ``--``."""
        if "--" in args:
            place = args.index("--")
            ctx.meta[_META] = tuple(args[place + 1 :])
            args = args[:place]
        return super().parse_args(ctx, args)


def _no_words(_context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> None:
    if words:
        word = words[0][:60]
        if words[0].lower().endswith((".yaml", ".yml", ".json")) and os.path.isfile(words[0]):
            raise Misuse(f"{word!r} is no option; a recipe is given as --recipe {shlex.quote(words[0])}")
        raise Misuse(f"{word!r} is no option; a command to run goes behind --, as in: -- {word}")


def _no_option(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse a value that looks like an option: an empty shell variable makes one of the next word."""
    if value is not None and (value == "" or value.startswith("--")):
        raise Misuse(f"{parameter.opts[0]} is given {value!r}: it needs a value of its own")
    return value


@click.command(cls=SweepCommand, short_help="Run a recipe's cells, trial by trial.")
@click.option("--recipe", metavar="FILE", callback=_no_option, help="The recipe, YAML or JSON.")
@click.option("--dry-run", is_flag=True, help="Check all that can be known, show the plan, run nothing.")
@click.option("--smoke", is_flag=True, help="One trial of each cell, of few steps.")
@click.option("--only", multiple=True, type=Words(), metavar="CELL[,CELL]", help="Run only these cells.")
@click.option("--skip", multiple=True, type=Words(), metavar="CELL[,CELL]", help="Leave these cells out.")
@click.option("--trials", type=click.IntRange(min=1), metavar="N", help="Trials of each cell.")
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="Steps of each trial.")
@click.option("--fail-fast", is_flag=True, help="End the run with the first trial that fails.")
@click.option("--interleave", is_flag=True, help="Trials round-robin over the cells, not cell by cell.")
@click.option("--ticket", metavar="TICKET", callback=_no_option, help="In place of the recipe's.")
@click.option("--mitigations-file", multiple=True, metavar="FILE", help="JSON file of further definitions.")
@click.option(
    "--env-passthrough-mode",
    type=click.Choice(("inherit", "file")),
    help="How a command gets the variables: file adds a file that AORTA_ENV_FILE names.",
)
@click.option(
    "--stop-after-events", type=click.IntRange(min=1), metavar="K", help="End a cell after K failing trials."
)
@click.option(
    "--max-trials", type=click.IntRange(min=1), metavar="N", help="... and after N trials at the latest."
)
@click.option(
    "--disable-detector", multiple=True, metavar="TIER[:ID]", help="Do not look for it; may be repeated."
)
@click.option(
    "--resume",
    is_flag=False,
    flag_value=_LATEST,
    metavar="[RUN]",
    help="Go on with a run; without a name with the latest of the recipe. No trial on disk runs again.",
)
@click.option(
    "--output",
    "--output-dir",
    "output",
    default=DEFAULT_OUTPUT,
    show_default=True,
    metavar="DIR",
    callback=_no_option,
    help="Where results go.",
)
@click.option(
    "--continue-after-crash",
    is_flag=True,
    help="Of several ranks: go on with fresh processes after a trial that lost one.",
)
@click.option("--junit", metavar="FILE", callback=_no_option, help="Write the outcome as JUnit XML too.")
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    help="Exit with status 1 when a trial failed (fail), or had no verdict either (error), or when a cell"
    " is worse than the baseline (worse).",
)
@click.option("-v", "--verbose", count=True, help="A line for each trial on standard error.")
@click.argument("words", nargs=-1, metavar="[-- COMMAND ...]", callback=_no_words, expose_value=False)
@click.pass_context
def run(context: click.Context, /, **asked: Any) -> None:
    """Run what a recipe says, and write a matrix of what failed under which change.

    A command to run goes behind --, and gets there word for word.
    """
    command = context.meta.get(_META)
    if command == ():
        raise Misuse("nothing stands behind --: write the command to run there, or leave -- out")
    _check(asked)
    _check_place()
    earlier = _named_run(asked)
    with _refusing():
        recipe = _recipe(asked, command, earlier)
        registries = _registries(asked, recipe)
        plan = _plan(recipe, registries)
        job = job_of(plan, os.environ)
        problems = _problems(plan, asked["output"] if job.rank == 0 else None)
    if asked["dry_run"]:
        context.exit(_dry_run(plan, problems, asked["output"], shown=job.rank == 0))
    asked_for = _asked_for(plan, registries, asked, problems)
    if job.alone:
        _refuse(problems)
        context.exit(_go(asked, asked_for, earlier, None))
    context.exit(
        on_all_ranks(asked_for, job, _errors(problems), lambda team: _go(asked, asked_for, earlier, team))
    )


def _go(asked: Mapping[str, Any], asked_for: "Asked", earlier: "Earlier | None", team: "Team | None") -> int:
    """Run what is missing, tell how it went, and return the exit status."""
    if asked["junit"] is not None:
        from aorta.cli.sweep_junit import check_junit

        check_junit(asked["junit"])
    with Stdout() as out:
        return _run(asked, asked_for, earlier or _latest(asked, asked_for), out, team)


def _check(asked: Mapping[str, Any]) -> None:
    if asked["recipe"] is None and asked["resume"] in (None, _LATEST):
        raise Misuse("--recipe FILE says what to run; examples: recipes/README.md")


def _check_place() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise Failure(
            f"the working directory cannot be had ({error.strerror}), and trials run in it: go to another"
        ) from None


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Turn what is wrong with recipes, definitions and plans into one line each and exit status 2."""
    from aorta.sweep.errors import SweepError
    from aorta.sweep.recipe.problems import RecipeError

    try:
        yield
    except RecipeError as error:
        _refused(str(error).splitlines())
    except SweepError as error:
        _refused(error.problems)


def _refused(lines: Iterable[str]) -> NoReturn:
    for line in lines:
        say(f"aorta: {line}")
    raise click.exceptions.Exit(2)


def _named_run(asked: Mapping[str, Any]) -> "Earlier | None":
    """Return the run that ``--resume RUN`` names."""
    if asked["resume"] in (None, _LATEST):
        return None
    from aorta.sweep.run.resume import ResumeError, check_place, earlier_run

    try:
        earlier = earlier_run(asked["resume"])
        if not earlier.complete:
            check_place(earlier)
        return earlier
    except ResumeError as error:
        raise Failure(str(error)) from None


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
    return overlaid(load_recipe(path), options)


def _flat(lists: tuple[list[str], ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for words in lists for word in words))


def _registries(asked: Mapping[str, Any], recipe: "Recipe") -> "Registries":
    from aorta.sweep.definitions.registry import registries

    found = registries(asked["mitigations_file"], recipe)
    for problem in found.problems:
        say(f"aorta: {problem}")
    return found


def _plan(recipe: "Recipe", registries: "Registries") -> "Plan":
    from aorta.sweep.planning.plan import make_plan

    return make_plan(recipe, registries)


def _problems(plan: "Plan", output: str | None) -> "list[Problem]":
    from aorta.sweep.planning.checks import problems

    return problems(plan, os.environ, output)


def _dry_run(plan: "Plan", problems: "list[Problem]", output: str, *, shown: bool) -> int:
    from aorta.cli.sweep_dry_run import dry_run_text
    from aorta.sweep.planning.checks import ERROR

    if shown:
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


def _latest(asked: Mapping[str, Any], asked_for: "Asked") -> "Earlier | None":
    """Return the run that ``--resume`` alone means, or the one of a job that was started again."""
    from aorta.sweep.run.resume import latest_run, restarted

    again = restarted(os.environ)
    if asked["resume"] is None and not again:
        return None
    plan = asked_for.plan
    found = latest_run(asked["output"], plan.recipe.ticket, plan.workload, asked_for.fingerprint)
    if found is None and not again:
        raise Failure(
            f"no run of this recipe and command, with the same cells and trials, under {asked['output']};"
            " without --resume a new one begins"
        )
    return found


def _differing(asked_for: "Asked", earlier: "Earlier") -> list[str]:
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
            check_same(earlier, asked_for.fingerprint, _differing(asked_for, earlier))
            if is_finished(earlier):
                say(f"aorta: {earlier.path} is complete: nothing is run")
                return _tell(asked, earlier.path, earlier.matrix, out)
            _warn_of_a_crash(asked_for.plan, earlier)
        # What takes snapshots is loaded for a run that is not finished only.
        from aorta.sweep.run.session import Session

        session = Session(asked_for, earlier, team)
        done = _went(session, asked)
    except (StoreError, ResumeError) as error:
        raise Failure(str(error)) from None
    return _tell(asked, done.path, done.matrix, out)


def _warn_of_a_crash(plan: "Plan", earlier: "Earlier") -> None:
    """Tell how a trial that crashes aorta itself, again and again, is kept apart."""
    from aorta.sweep.matrix.run_facts import RUNNING
    from aorta.sweep.recipe.model import IN_PROCESS

    if plan.isolation == IN_PROCESS and earlier.matrix["state"] == RUNNING:
        say(
            "aorta: warning: the run was cut off, and its trials run in aorta's own process: if one crashes"
            " it, begin a new run with trial_isolation: process"
        )


def _went(session: "Session", asked: Mapping[str, Any]) -> "Done":
    from aorta.cli.sweep_progress import Shown

    shown = Shown(verbose=asked["verbose"] > 0)
    try:
        return session.go(shown)
    except (Stopped, OSError) as error:
        shown.close()
        if session.run is not None and session.run.begun:
            path = session.run.path
            say(f"aorta: what is known stands in {path}")
            say(f"aorta: go on with: aorta sweep run --resume {shlex.quote(path)}")
        if isinstance(error, OSError):
            raise Failure(told(error, error.filename or "the results")) from None
        raise
    finally:
        shown.close()


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
