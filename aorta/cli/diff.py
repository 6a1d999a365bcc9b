"""``aorta env diff``: what two snapshots say differently."""

import json
from typing import TYPE_CHECKING, Any

import click

from aorta.cli.errors import Command, Misuse, printing
from aorta.instrumentation.process import Stdout, say

if TYPE_CHECKING:
    from aorta.cli.diff_report import Read

#: Exit status under ``--exit-code`` when something differs.
DIFFERENT = 1


@click.command(cls=Command, short_help="Compare two snapshots: what differs, weightiest first.")
@click.argument("a")
@click.argument("b")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--exit-code", is_flag=True, help="Exit with status 1 when something differs.")
@click.option(
    "--section", "sections", metavar="S[,S]", multiple=True, help="Compare only these; may be repeated."
)
@click.option("--all", "everything", is_flag=True, help="List also what only one side knows.")
@click.pass_context
def diff(
    ctx: click.Context,
    a: str,
    b: str,
    sections: tuple[str, ...],
    *,
    as_json: bool,
    exit_code: bool,
    everything: bool,
) -> None:
    """Compare the snapshots in the files A and B ('-' is standard input, for one of them).

    What one side does not know is no difference. Documents of the 1.x line are upgraded first.
    """
    if a == b == "-":
        raise Misuse("standard input holds one snapshot: only one of A and B can be '-'")
    from aorta.cli import diff_report
    from aorta.cli.declared import knowledge
    from aorta.compare import compare
    from aorta.model.codec import Codec
    from aorta.plugin.discovery import discover

    registry = discover(outside=False)
    codec = Codec({name: spec.model for name, spec in registry.collectors.items()})
    sides = tuple(_read(file, codec) for file in (a, b))
    # What a plugin's fields are is known where it is installed or named; few documents have any.
    known = knowledge(discover() if any(_has_extensions(side) for side in sides) else registry)
    wanted = _wanted(sections, {*known.order, *(name for side in sides for name in _sections(side))})
    found = compare(sides[0].document, sides[1].document, known, wanted)
    with Stdout() as out, printing():
        if as_json:
            out.write(json.dumps(diff_report.as_json(sides, found), indent=2) + "\n")
        else:
            diff_report.show(sides, found, out, everything=everything)
    if exit_code and found.differences:
        ctx.exit(DIFFERENT)


def _read(file: str, codec: Any) -> "Read":
    """Return the document in a file; one of 1.x upgraded, one that cannot be loaded as it stands."""
    from aorta.cli.diff_report import Read
    from aorta.cli.show import load
    from aorta.model.codec import DocumentError, version_of

    document = load(file, told=False)
    major, minor = version_of(document)
    note = ""
    if major <= 2:
        try:
            loaded = codec.load(document)
            document = codec.dump(loaded) if major == 1 else document
        except (DocumentError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            note = f"not as schema {major}.{minor} has it, compared as it stands: {why}"
            say(f"aorta: note: {file}: {note}")
    return Read(file, document, f"{major}.{minor}", note)


def _has_extensions(side: "Read") -> bool:
    from aorta.compare.side import mapping

    return bool(mapping(side.document.get("extensions")))


def _sections(side: "Read") -> list[str]:
    from aorta.compare.side import Side

    return list(Side(side.document).sections())


def _wanted(given: tuple[str, ...], known: set[str]) -> set[str] | None:
    if not given:
        return None
    names = {name.strip() for text in given for name in text.split(",") if name.strip()}
    for name in sorted(names - known):
        raise Misuse(f"--section: no section {name!r} in these documents{_meant(name, known)}")
    if not names:
        raise Misuse("--section: names no section")
    return names


def _meant(name: str, known: set[str]) -> str:
    import difflib

    close = sorted(one for one in known if one.startswith(name)) or difflib.get_close_matches(
        name, sorted(known)
    )
    return f": did you mean {' or '.join(close[:3])}?" if close else ""
