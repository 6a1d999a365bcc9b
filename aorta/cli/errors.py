"""Errors of the command line: one line each, and the exit status that tells them apart."""

import sys
from typing import IO, Any

import click


class Failure(click.ClickException):
    """The thing asked for failed: exit status 1."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the one line."""
        print(f"aorta: {' '.join(self.format_message().split())}", file=file or sys.stderr)


class Misuse(Failure):
    """Options or variables that contradict each other or make no sense: exit status 2."""

    exit_code = 2
