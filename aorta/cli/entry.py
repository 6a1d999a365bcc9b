"""Running the command line: every command is imported when it is called, every error is one line."""

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from aorta.instrumentation.process import be_program, raise_if_stopped, say

DEBUG = "AORTA_DEBUG"

#: Packages that only the command line needs.
NEEDED = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit status (by SystemExit, given arguments)."""
    be_program(run, arguments)


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit status; errors are printed, each in one line."""
    try:
        return _run(arguments)
    except BrokenPipeError:
        # Who reads our output has left; there is nobody to tell.
        return 1
    except ModuleNotFoundError as error:
        return _without(error)
    except Exception as error:
        return _internal(error)


def _without(error: ModuleNotFoundError) -> int:
    if error.name in NEEDED:
        text = f"the package {error.name} is not installed, which this command needs"
        say(f"aorta: {text}; to capture without it: python -m aorta.instrumentation._probe_main")
        return 1
    if (error.name or "").partition(".")[0] in sys.stdlib_module_names:
        say(f"aorta: this Python lacks {error.name} of the standard library (Debian's python3-minimal does)")
        return 1
    return _internal(error)


def _internal(error: Exception) -> int:
    raise_if_stopped()
    if os.environ.get(DEBUG):
        raise error
    say(f"aorta: internal error: {type(error).__name__}: {error} ({DEBUG}=1 shows where)")
    return 1


def _run(arguments: list[str]) -> int:
    import click

    from aorta.cli.errors import printing
    from aorta.cli.root import root

    try:
        if "_AORTA_COMPLETE" in os.environ:
            with printing():
                root.main(arguments, prog_name="aorta")
        # click's own main would turn a signal into its Abort.
        with root.make_context("aorta", arguments) as context:
            root.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            error.show()
        return error.exit_code
    return 0
