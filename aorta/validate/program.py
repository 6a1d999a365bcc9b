"""The gate as a program, for the command and for the script: files in, lines and an exit status out."""

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Callable, Sequence

from aorta.validate.client import meant
from aorta.validate.document import STDIN, Document, UnreadableError, name_of, read
from aorta.validate.judge import Read, Verdict, judge
from aorta.validate.options import Options
from aorta.validate.report import as_json, junit, line, write
from aorta.validate.value import plain

STDOUT = "-"

DESCRIPTION = "Check that a Buck2 client's snapshot and those of its workloads are evidence for one job."

EPILOGUE = (
    "Exit status: 0 when nothing is wrong (warnings are allowed), 1 when something is or a file cannot be"
    " read, 2 for a misuse."
)

HELP = {
    "require": "A library that the client's graph must name and the workload identify; repeatable.",
    "unisolated": "Accept a buck2_action that shows no isolation.",
    "strict": "Warnings fail too.",
    "json": "Print the verdict as JSON, and nothing else.",
    "junit": "Write the verdict as JUnit's XML, one test case a rule; '-' is the standard output.",
}


def misuse(
    files: Sequence[str], options: Options, *, json: bool = False, junit_file: str | None = None
) -> str:
    """Return what is wrong with a call, empty if nothing is."""
    if list(files).count(STDIN) > 1:
        return "'-' (the standard input) can be read once only"
    if not all(name.strip() for name in options.libraries):
        return "--require-library: an empty name"
    for names in options.libraries:
        if "," in names:
            several = [plain(name.strip(), 64) for name in names[:1000].split(",") if name.strip()]
            way_out = " ".join(f"--require-library {meant(name, ()) or name}" for name in several)
            return f"--require-library: one name per option{f': {way_out}' if several else ''}"
    if json and junit_file == STDOUT:
        return "--json and --junit -: the standard output holds one of them"
    return ""


def verdict_on(files: Sequence[str], options: Options) -> Verdict:
    """Return the verdict on files, the client's first."""
    names = [name_of(file) for file in files]
    return judge(names, [_read(file) for file in files], options)


def _read(file: str) -> Read:
    try:
        document: Document = read(file)
    except UnreadableError as error:
        return error
    return document


def run(
    files: Sequence[str],
    options: Options,
    out: Callable[[str], object],
    *,
    json: bool = False,
    junit_file: str | None = None,
) -> int:
    """Judge, print and return the exit status; ``out`` gets the text of the standard output.

    With a report on the standard output the line of the verdict is on the standard error.
    """
    verdict = verdict_on(files, options)
    status = 0 if verdict.passed else 1
    if junit_file is not None and junit_file != STDOUT:
        try:
            write(junit_file, junit(verdict))
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            said(f"ERROR: {name_of(junit_file)}: cannot be written: {why}")
            status = 1
    if json:
        out(as_json(verdict))
    else:
        for finding in verdict.findings:
            said(finding.line)
        if junit_file == STDOUT:
            out(junit(verdict))
            said(line(verdict))
        else:
            out(line(verdict) + "\n")
    return status


def said(text: str) -> None:
    """Write one line to the standard error; nobody reading it is no error."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{text}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a program of its own and return the exit status; 2 comes by SystemExit, as argparse does it."""
    # Short and large: what is collected would be next to nothing, and the search takes half of the time.
    gc.disable()
    parser = argparse.ArgumentParser(description=DESCRIPTION, epilog=EPILOGUE, allow_abbrev=False)
    parser.add_argument("client", metavar="CLIENT")
    parser.add_argument("workloads", metavar="WORKLOAD", nargs="+")
    parser.add_argument(
        "--require-library", metavar="NAME", action="append", default=[], help=HELP["require"]
    )
    parser.add_argument("--allow-unisolated-action", action="store_true", help=HELP["unisolated"])
    parser.add_argument("--strict", action="store_true", help=HELP["strict"])
    parser.add_argument("--json", action="store_true", help=HELP["json"])
    parser.add_argument("--junit", metavar="FILE", help=HELP["junit"])
    given = parser.parse_intermixed_args(arguments)
    files = [given.client, *given.workloads]
    options = Options(tuple(given.require_library), given.allow_unisolated_action, given.strict)
    if wrong := misuse(files, options, json=given.json, junit_file=given.junit):
        parser.error(wrong)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        return run(files, options, _print, json=given.json, junit_file=given.junit)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            said(f"aorta: cannot write standard output: {error.strerror or error}")
        _give_up(1)
        return 1
    finally:
        try:
            if sys.stderr is not None:
                sys.stderr.flush()
        except (OSError, ValueError):
            _give_up(2)


def _give_up(stream: int) -> None:
    """Write to nobody what a stream still has: the interpreter would try once more at its end, and fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def _print(text: str) -> None:
    if sys.stdout is None:
        raise OSError(9, os.strerror(9))
    sys.stdout.write(text)
    sys.stdout.flush()
