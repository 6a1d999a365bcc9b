"""``aorta env show``: what a snapshot says."""

import json
import os
import sys
from typing import Any

import click

from aorta.cli.errors import Command, Failure, Misuse, printing
from aorta.cli.field import value_at, why_null
from aorta.instrumentation.filekind import RECORDING, held_in
from aorta.instrumentation.process import Stdout, say


@click.command(cls=Command, short_help="Show a snapshot, or one value of it.")
@click.argument("file")
@click.option("--field", metavar="PATH", help="Print one value as JSON, e.g. 'gpus[0].bdf'.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole document.")
@click.option("--summary", is_flag=True, help="Show what is unusual and an overview (the default).")
def show(file: str, field: str | None, *, as_json: bool, summary: bool) -> None:
    """Show the snapshot in FILE ('-' is standard input).

    Documents of the 1.x line are shown as they are.
    """
    if (field is not None) + as_json + summary > 1:
        raise Misuse("--field, --json, --summary: only one of them at a time")
    document = load(file)
    with Stdout() as out, printing():
        if field is not None:
            value = value_at(document, field)
            out.write(json.dumps(value, indent=2) + "\n")
            why = why_null(document, field) if value is None else ""
            if why:
                say(f"aorta: {why}")
        elif as_json:
            out.write(json.dumps(document, indent=2) + "\n")
        else:
            from aorta.cli.render import show_summary

            show_summary(document, out)


def load(file: str) -> dict[str, Any]:
    """Return the document in a file; a word on standard error when another version wrote it.

    Raises Failure for what is no snapshot, in one line.
    """
    from aorta.model.codec import DocumentError, parse_json, version_of
    from aorta.model.snapshot import SCHEMA_VERSION

    try:
        document = parse_json(_text(file))
        major, minor = version_of(document)
    except DocumentError as error:
        raise Failure(f"{file}: {error}") from None
    ours = int(SCHEMA_VERSION.partition(".")[0])
    if major < 1:
        raise Failure(f"{file}: schema version {major}.{minor} was never in use")
    if major > ours:
        text = f"warning: {file} has schema version {major}.{minor}, newer than this aorta ({ours}.x)"
        say(f"aorta: {text}: what it says may be misread")
    elif major < ours:
        text = f"note: {file} has schema version {major}.{minor}; it is shown as it is"
        say(f"aorta: {text}")
    return document


def _text(file: str) -> str:
    try:
        if file == "-":
            if sys.stdin is None:
                raise OSError(9, os.strerror(9))
            data = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as stream:
                data = stream.read()
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror or error}") from None
    if held_in(data).kind == RECORDING:
        raise Failure(
            f"{file}: a recording, not a snapshot; look at it with: aorta env probe --replay {file} --summary"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Failure(f"{file}: not UTF-8 at byte {error.start}, so no snapshot") from None
