"""The options of ``aorta sweep run``, and how its line is parted from the command that is run."""

import os
import shlex
from collections.abc import Callable
from typing import Any, TypeVar

import click

from aorta.cli.errors import Command, Misuse
from aorta.cli.sweep_summary import FAIL_ON
from aorta.cli.words import Words
from aorta.sweep.run.store import DEFAULT_OUTPUT

#: What ``--resume`` without a value stands for.
LATEST = "\0latest"
#: Where a context keeps the words of the command.
COMMAND_WORDS = "aorta.command"

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class SweepCommand(Command):
    """Takes what stands behind ``--`` as it is; before it there are options only."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Part the line at the first ``--``."""
        if "--" in args:
            place = args.index("--")
            ctx.meta[COMMAND_WORDS] = tuple(args[place + 1 :])
            args = args[:place]
        return super().parse_args(ctx, args)


def no_words(_context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> None:
    """Refuse words that stand before ``--`` and are no options. Raises Misuse."""
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


_OPTIONS = (
    click.option("--recipe", metavar="FILE", callback=_no_option, help="The recipe, YAML or JSON."),
    click.option("--dry-run", is_flag=True, help="Check all that can be known, show the plan, run nothing."),
    click.option("--smoke", is_flag=True, help="One trial of each cell, of few steps."),
    click.option("--only", multiple=True, type=Words(), metavar="CELL[,CELL]", help="Run only these cells."),
    click.option("--skip", multiple=True, type=Words(), metavar="CELL[,CELL]", help="Leave these cells out."),
    click.option("--trials", type=click.IntRange(min=1), metavar="N", help="Trials of each cell."),
    click.option("--steps", type=click.IntRange(min=1), metavar="N", help="Steps of each trial."),
    click.option("--fail-fast", is_flag=True, help="End the run with the first trial that fails."),
    click.option("--interleave", is_flag=True, help="Trials round-robin over the cells, not cell by cell."),
    click.option("--ticket", metavar="TICKET", callback=_no_option, help="In place of the recipe's."),
    click.option(
        "--mitigations-file", multiple=True, metavar="FILE", help="JSON file of further definitions."
    ),
    click.option(
        "--env-passthrough-mode",
        type=click.Choice(("inherit", "file")),
        help="How a command gets the variables: file adds a file that AORTA_ENV_FILE names.",
    ),
    click.option(
        "--stop-after-events",
        type=click.IntRange(min=1),
        metavar="K",
        help="End a cell after K failing trials.",
    ),
    click.option(
        "--max-trials", type=click.IntRange(min=1), metavar="N", help="... and after N trials at the latest."
    ),
    click.option(
        "--disable-detector", multiple=True, metavar="TIER[:ID]", help="Do not look for it; may be repeated."
    ),
    click.option(
        "--resume",
        is_flag=False,
        flag_value=LATEST,
        metavar="[RUN]",
        help="Go on with a run; without a name with the latest of the recipe. No trial on disk runs again.",
    ),
    click.option(
        "--output",
        "--output-dir",
        "output",
        default=DEFAULT_OUTPUT,
        show_default=True,
        metavar="DIR",
        callback=_no_option,
        help="Where results go.",
    ),
    click.option(
        "--continue-after-crash",
        is_flag=True,
        help="Of several ranks: go on with fresh processes after a trial that lost one.",
    ),
    click.option(
        "--join-timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=120.0,
        show_default=True,
        metavar="S",
        help="Of several ranks: the longest wait for each other in the beginning, in seconds.",
    ),
    click.option("--junit", metavar="FILE", callback=_no_option, help="Write the outcome as JUnit XML too."),
    click.option(
        "--fail-on",
        type=click.Choice(FAIL_ON),
        help="Exit with status 1 when a trial failed (fail), or had no verdict either (error), or when a cell"
        " is worse than the baseline (worse).",
    ),
    click.option("-v", "--verbose", count=True, help="A line for each trial on standard error."),
)


def with_options(function: Decorated) -> Decorated:
    """Give a command all options of a sweep, in their order."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
