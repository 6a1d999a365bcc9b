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

OLD = "1.17"

#: What ``--as`` knows.
VERSIONS = (OLD, "2.0")


@click.command(cls=Command, short_help="Show a snapshot, or one value of it.")
@click.argument("file")
@click.option("--field", metavar="PATH", help="Print one value as JSON, e.g. 'gpus[0].bdf'.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole document.")
@click.option("--summary", is_flag=True, help="Show what is unusual and an overview (the default).")
@click.option(
    "--as",
    "version",
    metavar="VERSION",
    help="Print the document as schema 1.17 (for readers of the 1.x line) or 2.0 (upgraded) has it.",
)
def show(file: str, field: str | None, version: str | None, *, as_json: bool, summary: bool) -> None:
    """Show the snapshot in FILE ('-' is standard input), or in FILE as the record of a sweep's trial.

    Documents of the 1.x line are shown as they are, unless --as names a version.
    """
    if (field is not None) + as_json + summary > 1:
        raise Misuse("--field, --json, --summary: only one of them at a time")
    if version not in (None, *VERSIONS):
        raise Misuse(f"--as: no version {version!r}; there are {' and '.join(VERSIONS)}")
    document = load(file) if version is None else converted(load(file, told=False), version, file)
    as_json = as_json or (version is not None and field is None and not summary)
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


def converted(document: dict[str, Any], version: str, file: str) -> dict[str, Any]:
    """Return a document as a version has it. Raises Failure for one that cannot be read that far."""
    from aorta.model.codec import Codec, DocumentError, version_of
    from aorta.model.downgrade import as_1_17
    from aorta.plugin.discovery import discover

    major, minor = version_of(document)
    if version == f"{major}.{minor}":
        return document
    models = {name: spec.model for name, spec in discover(outside=False).collectors.items()}
    codec = Codec(models)
    try:
        # Loading checks every value, and upgrades what is older.
        current = codec.dump(codec.load(document))
        return as_1_17(current) if version == OLD else current
    except DocumentError as error:
        raise Failure(f"{file}: {error}") from None
    except RecursionError:
        raise Failure(f"{file}: nested too deeply") from None


def load(file: str, *, told: bool = True) -> dict[str, Any]:
    """Return the document in a file; if ``told``, with a word on standard error on another version.

    Raises Failure for what is no snapshot, in one line.
    """
    from aorta.model.codec import DocumentError, parse_json, version_of
    from aorta.model.snapshot import SCHEMA_VERSION

    try:
        document = _snapshot(parse_json(_text(file)), file)
        major, minor = version_of(document)
    except DocumentError as error:
        raise Failure(f"{file}: {error}") from None
    ours = int(SCHEMA_VERSION.partition(".")[0])
    if major < 1:
        raise Failure(f"{file}: schema version {major}.{minor} was never in use")
    if major > ours:
        text = f"warning: {file} has schema version {major}.{minor}, newer than this aorta ({ours}.x)"
        say(f"aorta: {text}: what it says may be misread")
    elif major < ours and told:
        text = f"note: {file} has schema version {major}.{minor}; it is shown as it is"
        say(f"aorta: {text}")
    return document


def _snapshot(document: dict[str, Any], file: str) -> dict[str, Any]:
    """Return a document, or the snapshot in one that is the record of a sweep's trial."""
    from aorta.cli.trial_env import is_record, snapshot_in

    return snapshot_in(document, file) if is_record(document) else document


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
