"""Errors of the command line: one line each, and the exit status that tells them apart."""

import contextlib
from collections.abc import Iterator
from typing import IO, Any

import click

from aorta.instrumentation.process import say
from aorta.instrumentation.write import told


class Failure(click.ClickException):
    """The thing asked for failed: exit status 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        """Print the one line."""
        say(f"aorta: {self.format_message()}")


class Misuse(Failure):
    """Options or variables that contradict each other or make no sense: exit status 2."""

    exit_code = 2


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Turn what goes wrong with the standard output into a Failure; a reader that left is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(told(error, "standard output")) from None


class Command(click.Command):
    """A command whose help is not lost unsaid; every command of aorta is one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; options such as ``--help`` print here."""
        with printing():
            return super().parse_args(ctx, args)
