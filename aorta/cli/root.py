"""The tree of commands. A command is named by its module, its help by a line here, so that help is quick."""

import importlib
from collections.abc import Mapping
from typing import Any

import click

import aorta
from aorta.cli.errors import Command, Misuse


class LazyGroup(Command, click.Group):
    """A group whose commands are imported when they are called.

    ``lazy`` maps a command's name to where it is (``module:attribute``) and to its line of help.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the table."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in self._lazy:
            return None
        module, _, name = self._lazy[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. Raises Misuse for none, with what may be meant."""
        if args and args[0] not in self._lazy and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], self._lazy, n=1)
            hint = f"did you mean {near[0]}?" if near else f"see {ctx.command_path} --help"
            raise Misuse(f"no command {args[0][:60]!r}: {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the names and their help without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._lazy.items()])


SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

env = LazyGroup(
    "env",
    help="Capture and read snapshots of what a process runs on.",
    context_settings=SETTINGS,
    lazy={
        "probe": ("aorta.cli.probe:probe", "Capture this machine into one JSON file."),
        "show": ("aorta.cli.show:show", "Show a snapshot, or one value of it."),
        "diff": ("aorta.cli.diff:diff", "Compare two snapshots: what differs, weightiest first."),
        "collectors": ("aorta.cli.collectors:collectors", "List what can be collected, and the plugins."),
        "record": ("aorta.cli.record:record", "Capture, and keep every access for a replay."),
    },
)

validate = LazyGroup(
    "validate",
    help="Gates: whether snapshots are the evidence that they are taken for.",
    context_settings=SETTINGS,
    lazy={
        "pair": ("aorta.cli.validate_pair:pair", "Check a Buck client snapshot and its workload snapshots."),
    },
)

sweep = LazyGroup(
    "sweep",
    help="Which knob changes a failure: trials in cells, and a matrix of them.",
    context_settings=SETTINGS,
    lazy={
        "run": ("aorta.cli.sweep_run:run", "Run a recipe's cells, trial by trial."),
        "show": ("aorta.cli.sweep_show:show", "Show a run's matrix, or the trials of a cell."),
        "list-mitigations": ("aorta.cli.sweep_lists:list_mitigations", "List the mitigations."),
        "list-environments": ("aorta.cli.sweep_lists:list_environments", "List the environments."),
        "list-workloads": (
            "aorta.cli.sweep_workloads:list_workloads",
            "List the workloads, and their configs.",
        ),
    },
)

schema = LazyGroup(
    "schema",
    help="The JSON Schema of the document.",
    context_settings=SETTINGS,
    lazy={"show": ("aorta.cli.schema:show", "Print the JSON Schema.")},
)

root = LazyGroup(
    "aorta",
    help="Trustworthy evidence about what a GPU job really ran on.",
    context_settings=SETTINGS,
    lazy={
        "env": ("aorta.cli.root:env", "Capture and read snapshots of what a process runs on."),
        "validate": (
            "aorta.cli.root:validate",
            "Gates: whether snapshots are the evidence that they are taken for.",
        ),
        "sweep": (
            "aorta.cli.root:sweep",
            "Which knob changes a failure: trials in cells, and a matrix of them.",
        ),
        "schema": ("aorta.cli.root:schema", "The JSON Schema of the document."),
        "standalone": ("aorta.cli.standalone:standalone", "Write aorta as a program of one file."),
    },
)
root = click.version_option(aorta.__version__, message="aorta %(version)s")(root)
